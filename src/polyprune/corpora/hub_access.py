"""Ask the Hugging Face hub for data sets, with errors that say what to do."""

from collections.abc import Callable
from typing import Any

from ..errors import ConfigError, DataError


def ask_hub(hub: str, question: Callable[[Any], Any], instead: str) -> Any:
    """Call `datasets`; turn its errors into one sentence that says what to give instead."""
    try:
        import datasets
    except ImportError as error:
        raise ConfigError(
            f"Reading the data set {hub} needs the package datasets: pip install datasets."
        ) from error
    try:
        return question(datasets)
    except (OSError, ValueError, LookupError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(
            f"The data set {hub} cannot be read: {reason}. Check its name and the connection, or "
            f"give {instead}."
        ) from error
