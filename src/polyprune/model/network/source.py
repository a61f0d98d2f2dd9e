"""Where a model came from: the folder that its tokenizer and other side files lie in.

What sentence-transformers wrote there says how a sentence encoder is meant to be used.
"""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "sentencepiece.bpe.model",
    "vocab.txt",
)
POOLING = "1_Pooling"
"""The folder of sentence-transformers' pooling."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """The folder of a model, and what lies in it beside the weights; None if there is none."""

    folder: Path | None = None

    @classmethod
    def at(cls, folder: str | Path | None) -> "ModelSource":
        """The source in a folder, wherever the working directory goes from here."""
        return cls(Path(folder).resolve() if folder else None)

    def __str__(self) -> str:
        return "This model" if self.folder is None else str(self.folder)

    @property
    def has_tokenizer(self) -> bool:
        """Whether files of a tokenizer lie there."""
        return any(self._path(name).is_file() for name in TOKENIZER_FILES)

    def tokenizer(self) -> Any:
        """The tokenizer that lies there, read anew; None where there is none that loads."""
        if not self.has_tokenizer:
            return None
        from transformers import AutoTokenizer

        try:
            return AutoTokenizer.from_pretrained(self.folder)
        except Exception as error:  # a tokenizer fails in as many ways as there are tokenizers
            logger.warning("The tokenizer in %s does not load (%s).", self.folder, error)
            return None

    @property
    def pools(self) -> bool:
        """Whether it is a sentence encoder, which says how tokens become a sentence's vector."""
        return self._path(POOLING).is_dir()

    @property
    def pooling(self) -> str:
        """`first` where the first token stands for the sentence (LaBSE, bge-m3), else `mean`."""
        config = self._read(f"{POOLING}/config.json")
        first = config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls"
        return "first" if first else "mean"

    @property
    def beyond_pooling(self) -> str | None:
        """What happens to a sentence beyond mean or first-token pooling: LaBSE's `Dense`."""
        modules = self._read("modules.json", list)
        kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
        pooling = self._read(f"{POOLING}/config.json")
        modes = [
            name for name, on in pooling.items() if name.startswith("pooling_mode_") and on is True
        ]
        known = {
            *("Transformer", "Pooling", "Normalize"),
            *("pooling_mode_mean_tokens", "pooling_mode_cls_token"),
        }
        return next((name for name in (*kinds, *modes) if name not in known), None)

    @property
    def prompt(self) -> str:
        """What a sentence should begin with, such as e5's `query: `; mostly nothing."""
        config = self._read("config_sentence_transformers.json")
        prompts = config.get("prompts")
        if not isinstance(prompts, dict):
            return ""
        return str(prompts.get(str(config.get("default_prompt_name") or "query")) or "")

    def _path(self, name: str) -> Path:
        return (self.folder or Path("?")) / name

    def _read(self, name: str, kind: type[Any] = dict) -> Any:
        try:
            config = json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return kind()  # no sentence-transformers model, or none that it could load
        return config if isinstance(config, kind) else kind()
