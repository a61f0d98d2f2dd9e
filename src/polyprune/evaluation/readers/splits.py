"""The splits of a task's data."""

from typing import Literal, TypeAlias

Split: TypeAlias = Literal["train", "dev", "test", "translated"]
"""`translated` is the training data of a language for translate-train."""

SPLIT_LABELS: dict[Split, str] = {
    "train": "training data",
    "dev": "dev data",
    "test": "test data",
    "translated": "translated training data",
}
