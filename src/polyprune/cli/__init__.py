"""The command line: one file a verb, which parses, calls the library and renders."""

import errno
import sys

import typer

from ..errors import PolypruneError
from . import check, ls, measure, shrink

app = typer.Typer(
    name="polyprune",
    help="Prune a multilingual encoder once; take out any size, for any language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with: polyprune measure e5-small",
)
app.add_typer(ls.app, name="ls")
for verb in (shrink.shrink, measure.measure, check.check):
    app.command(epilog=verb.__doc__ and verb.__doc__.partition("Example:")[2].strip())(verb)


def main() -> None:
    """Run a command: exit with 0 if done, 1 if failed, 2 if misused, in one sentence."""
    try:
        app()
    except PolypruneError as error:
        _stop(str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _stop("The disk is full. Nothing was changed: free some space and run the command again.")


def _stop(message: str) -> None:
    print(f"polyprune: {message}", file=sys.stderr)
    sys.exit(2)
