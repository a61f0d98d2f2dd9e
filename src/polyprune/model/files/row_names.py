"""The names of the rows of gates: those of languages, or one for all of them."""

SHARED = "shared"
"""The name of the only row when all languages share their gates."""
