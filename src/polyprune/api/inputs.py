"""What verbs accept: models by name or as objects, text as folders or as sentences."""

from collections.abc import Mapping
from pathlib import Path

from transformers.utils.logging import disable_progress_bar

from ..corpora.corpus import Corpus, open_corpus
from ..corpora.sentences import corpus_in_memory
from ..corpora.text import text_folder
from ..errors import ConfigError
from ..model.network.modeling_polyprune import PolyprunePreTrainedModel
from ..pruning.gates.elastic import load
from .requests.shared import TextLike
from .result import ModelResult

ModelLike = str | Path | PolyprunePreTrainedModel | ModelResult
"""A folder, a Hugging Face id or the name of a bundled model; a model; a result that is one."""


def resolve_model(model: ModelLike) -> PolyprunePreTrainedModel:
    """The model that is meant, loaded where only its name was given."""
    if isinstance(model, ModelResult):
        return model.model
    if isinstance(model, PolyprunePreTrainedModel):
        return model
    if not isinstance(model, str | Path):
        raise ConfigError(
            "A model is a name, a folder, or what polyprune.load() returns, not a "
            f"{type(model).__name__}. Save it with save_pretrained() and give the folder."
        )
    disable_progress_bar()  # transformers' own, a flash for every file
    return load(model)


def resolve_corpus(text: TextLike) -> Corpus:
    """The text that is meant: a folder, the bundled sample, or sentences by language."""
    if isinstance(text, Mapping):
        return corpus_in_memory(text)  # pyright: ignore[reportArgumentType]
    return open_corpus(text_folder(str(text)))
