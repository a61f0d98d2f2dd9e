"""The command line: one file per verb, which parses, calls the library and renders."""

import errno
import sys
from typing import NoReturn

import typer

from ..errors import PolypruneError
from . import (
    check,
    demo,
    evaluate,
    export,
    finetune,
    ls,
    measure,
    prune,
    recover,
    report,
    score,
    shrink,
    study,
    train,
    watch,
)
from .command import for_terminal

app = typer.Typer(
    name="polyprune",
    help="Prune a multilingual encoder once; take out any size, for any language.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with: polyprune demo",
)
app.add_typer(ls.app, name="ls")
for verb in (
    score.score,
    prune.prune,
    recover.recover,
    train.train,
    shrink.shrink,
    export.export,
    finetune.finetune,
    evaluate.evaluate,
    study.study,
    report.report,
    watch.watch,
    measure.measure,
    check.check,
    demo.demo,
):
    described, _, example = (verb.__doc__ or "").partition("Example:")
    app.command(help=described.strip(), epilog=example.strip())(verb)


def main() -> None:
    """Run a command: exit with 0 if done, 1 if failed, 2 if misused, in one sentence."""
    try:
        app()
    except Exception as error:
        fail(error)


def fail(error: Exception) -> NoReturn:
    """Tell the user's mistakes in one sentence and exit with 2; anything else is ours: raise it."""
    if isinstance(error, PolypruneError):
        message = for_terminal(str(error))
    elif isinstance(error, OSError) and error.filename and not _is_full_disk(error):
        message = f"{error.filename}: {error.strerror}. Choose another place, or see who owns it."
    elif _is_full_disk(error):
        message = "The disk is full. Nothing was changed: free some space and run it again."
    else:
        raise error
    print(f"polyprune: {message}", file=sys.stderr)
    sys.exit(2)


def _is_full_disk(error: Exception) -> bool:
    """Whether a file could not be written in full; safetensors says so only in its message."""
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return getattr(error, "errno", None) in codes or any(
        f"(os error {code})" in str(error) for code in codes
    )
