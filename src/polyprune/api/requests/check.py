"""What `polyprune.check` is asked for."""

from dataclasses import dataclass

from ..request import Request


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """Nothing but the path."""
