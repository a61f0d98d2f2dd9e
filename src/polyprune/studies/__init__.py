"""Studies: systems × sizes × tasks × regimes × seeds, as a grid that can be interrupted."""
