"""The names of a study's files, shared by those who write them and those who watch.

A cell's folder is `OUT/cells/<address>/`. A worker writes `STARTED` as it starts a cell and
`RECORD` as the cell ends, so that a watcher can tell from their times which cells are running.
"""

CELLS = "cells"
"""The folder of all cells in a study's folder."""

PLAN = "plan.json"
"""The list of all cells, in `CELLS`."""

RECORD = "cell.json"
"""How a cell ended, and its result."""

STARTED = "place.txt"
"""The paths that a cell was started with, which its run records."""

WORK = "run"
"""The folder in which a cell is worked on; a model is in its `model`."""
