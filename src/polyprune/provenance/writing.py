"""Write the folder of a model for plain transformers."""

from collections.abc import Mapping
from pathlib import Path

from transformers import PreTrainedModel

from ..model.network.folder import add_side_files, write_certificate
from ..model.network.source import ModelSource
from .card import write_card


def write_stock(
    folder: Path, model: PreTrainedModel, source: ModelSource, differences: Mapping[str, float]
) -> None:
    """Write a model of plain transformers: with side files of its source, card and certificate."""
    model.save_pretrained(folder)
    add_side_files(folder, source.folder)
    write_card(folder, folder, differences)
    write_certificate(folder, differences)
