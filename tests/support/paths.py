"""Folders that tests read."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


SHARED = REPOSITORY.parent / "shared"


VECTORS = REPOSITORY / "tests" / "vectors"
