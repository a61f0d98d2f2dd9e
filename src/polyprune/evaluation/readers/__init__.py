"""XTREME's data: as its download script leaves it, as it was published, or as a data set."""
