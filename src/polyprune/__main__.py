"""`python -m polyprune` is `polyprune`."""

from .cli import main

main()
