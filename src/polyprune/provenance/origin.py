"""The original of a model: its name on the hub, and the licence and languages of its own card."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from huggingface_hub import metadata_load
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id

from ..model.history import history_of, write_history
from ..model.network.folder import CARD
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..storage import cache_folder

HUB_IDS = {"e5-small": "intfloat/multilingual-e5-small"}
"""What models made on this machine are called on the hub."""
LICENSE = ("license", "license_name", "license_link")


def complete_history(model: PolyprunePreTrainedModel) -> None:
    """Write into a model's history what its source says of the original, unless that is known."""
    history, folder = history_of(model.config), model.source.folder
    if history.before is None or history.base or folder is None:
        return
    said, known = read_metadata(folder / CARD), hub_id(folder)
    base = [known] if known else _words(said.get("base_model"))
    write_history(
        model.config,
        replace(
            history,
            base=known or folder.name,
            base_model=tuple(name for name in base if is_hub_id(name)),
            license={name: str(said[name]) for name in LICENSE if isinstance(said.get(name), str)},
            languages=tuple(_words(said.get("language"))),
        ),
    )


def read_metadata(card: Path) -> Mapping[str, Any]:
    """What a card tells the hub; nothing where there is none, or none that can be read."""
    try:
        return metadata_load(card) or {}
    except Exception:  # no card, or whatever YAML and the hub do not like about it
        return {}


def hub_id(folder: Path) -> str | None:
    """The name on the hub of what lies in a folder, as far as the folder's own name shows it."""
    if folder.parent == cache_folder():
        return HUB_IDS.get(folder.name)
    cached = next((part for part in folder.parts if part.startswith("models--")), None)
    name = None if cached is None else cached.removeprefix("models--").replace("--", "/", 1)
    return name if name and is_hub_id(name) else None


def is_hub_id(name: str) -> bool:
    """Whether something could be the name of a model on the hub."""
    try:
        validate_repo_id(name)
    except HFValidationError:
        return False
    return True


def _words(said: Any) -> list[str]:
    """One or several, as YAML may have it."""
    several = said if isinstance(said, list) else [said]
    return [each for each in several if isinstance(each, str)]
