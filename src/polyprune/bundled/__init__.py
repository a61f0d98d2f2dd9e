"""Data that comes with the package, so that it runs without a network."""
