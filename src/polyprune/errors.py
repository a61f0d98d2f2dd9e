"""The errors that users can cause; each message is one sentence that says what to do.

    PolypruneError
    ├── ConfigError       a setting that cannot be meant
    ├── CheckpointError   a model folder, gates file or scores file that is not right
    ├── DataError         a corpus or task file that is not right
    └── UnknownName       a model, language, task or family that does not exist

The command line prints them without a traceback and exits with status 2. Wrong arguments to a
Python function stay `ValueError`.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class PolypruneError(Exception):
    """An error that the user can fix."""


class ConfigError(PolypruneError, ValueError):
    """An invalid setting."""


class CheckpointError(PolypruneError):
    """A model folder, gates file or scores file that is missing, damaged or of another kind."""


class DataError(PolypruneError):
    """A corpus or task file that is missing, damaged or empty."""


class Spellings(dict[str, str]):
    """Alternative spellings, and the names they stand for."""


class UnknownName(PolypruneError):
    """A name that does not exist, with the nearest one that does.

    `known` are the names, or `Spellings` where users may write them in other ways too.
    """

    def __init__(self, kind: str, given: str, known: Iterable[str], see: str):
        names = known if isinstance(known, Spellings) else {name: name for name in known}
        # At less than 0.6 any two-letter code would be near another: `yo` is not a slip for `no`.
        nearest = get_close_matches(given.casefold(), names, n=1, cutoff=0.6)
        hint = f" Did you mean {names[nearest[0]]!r}?" if nearest else ""
        super().__init__(f"Unknown {kind} {given!r}.{hint} {see}")
