"""Draw figures into files."""
