"""Text of a Hugging Face data set, streamed from the Hub or from a folder of its own files."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from ..errors import ConfigError
from .hub_access import ask_hub
from .languages import UnknownName, language, languages
from .positions import SourcePosition
from .text_sources import LONGEST, Documents


@dataclass(frozen=True, slots=True)
class HubText:
    """One language of a Hugging Face data set with one configuration per language, such as CC-100.

    An example is a line, as in CC-100, where a blank one separates documents, or a few lines.
    """

    paired: ClassVar[bool] = False
    hub: str
    """The data set's name, or the path of a folder."""
    code: str
    """The language's code; its configuration may be spelled differently."""

    @property
    def size(self) -> int:
        """Bytes of CC-100's file, or as far as the data set knows its own."""
        if "cc100" in self.hub.rpartition("/")[2].casefold().replace("-", ""):
            return language(self.code).bytes
        info = _load(self.hub, self._configuration()).info
        split = (info.splits or {}).get("train")
        return getattr(split, "num_bytes", None) or info.download_size or 1

    @property
    def name(self) -> str:
        """The data set and its configuration."""
        return f"{self.hub}/{self._configuration()}"

    def documents(self, start: SourcePosition | None = None) -> Documents:
        """Yield the documents from a position on, each with the position of the next."""
        # The place is kept in the object, and every lane has its own.
        examples = deepcopy(_load(self.hub, self._configuration()))
        number = 0
        if start:
            number = start["document"]
            examples.load_state_dict(start["state"])
        lines: list[str] = []
        for example in examples:
            new = [line for line in (example["text"] or "").split("\n") if line.strip()]
            lines += new
            # Only between examples, of which `datasets` knows the place.
            if lines and (not new or len(lines) >= LONGEST):
                number += 1
                yield tuple(lines), {"state": examples.state_dict(), "document": number}
                lines = []
        if lines:
            yield tuple(lines), {"state": examples.state_dict(), "document": number + 1}

    def _configuration(self) -> str:
        return language_configurations(self.hub)[self.code]


@cache
def language_configurations(hub: str) -> dict[str, str]:
    """The name of each language's configuration in a data set, by the language's code."""
    names = _ask_for_text(hub, lambda datasets: datasets.get_dataset_config_names(hub))
    found: dict[str, str] = {}
    for name in names:
        try:
            found.setdefault(language(name).code, name)
        except UnknownName:
            continue
    if not found:
        raise ConfigError(
            f"The data set {hub} has no configuration that is named after a language, but "
            f"{', '.join(names)}. Choose one with a configuration per language, such as CC-100, or "
            "save its text as a folder of files such as sw.txt."
        )
    return {code: found[code] for code in languages() if code in found}


@cache
def _load(hub: str, configuration: str) -> Any:
    """The examples of a configuration, none of them read yet."""
    examples = _ask_for_text(
        hub,
        lambda datasets: datasets.load_dataset(hub, configuration, split="train", streaming=True),
    )
    if examples.column_names is None:
        examples = _ask_for_text(hub, lambda _: examples._resolve_features())
    if "text" not in examples.column_names:
        raise ConfigError(
            f"The data set {hub}/{configuration} has no column `text`, but "
            f"{', '.join(examples.column_names)}. Choose a data set of plain text."
        )
    return examples.select_columns(["text"])


def _ask_for_text(hub: str, question: Callable[[Any], Any]) -> Any:
    return ask_hub(hub, question, "a folder with files such as sw.txt")
