"""What verbs accept: models by name or as objects, text as folders or as sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from weakref import finalize

from transformers.utils.logging import disable_progress_bar

from ..corpora.batching import Batching
from ..corpora.corpus import Corpus, open_corpus
from ..corpora.sentences import corpus_in_memory, is_sentences, write_sentences
from ..corpora.text import text_folder
from ..errors import ConfigError
from ..loading.finding import NAMED
from ..loading.hub import load
from ..loading.model_names import name_in_memory
from ..loading.reading import Reading, scoring_text
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..pruning.criteria.scoring import ReadyBatches, ScoringText
from .requests.prune import PruneRequest
from .requests.score import ScoreRequest
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
    quiet_loading()
    return load(model)


def quiet_loading() -> None:
    """Do without transformers' own progress bar, a flash for every file."""
    disable_progress_bar()


@contextmanager
def model_folder(model: ModelLike) -> Iterator[str]:
    """The folder or name of a model; one in memory is written to a folder that is gone afterwards.

    For what runs models in processes of their own, or goes on with them later.
    """
    if isinstance(model, str | Path):
        yield str(model)
        return
    with TemporaryDirectory(prefix="polyprune-") as folder:
        place = Path(folder) / "model"
        resolve_model(model).save_pretrained(place)
        yield str(place)


def named_models(models: Any) -> dict[str, ModelLike]:
    """Models by name: one, several, or a mapping; equal names are numbered."""
    if isinstance(models, Mapping):
        return dict(models)
    several = models if isinstance(models, list | tuple) else [models]
    named: dict[str, ModelLike] = {}
    counts: Counter[str] = Counter()
    for model in several:
        name = model_name(model)
        counts[name] += 1
        named[name if counts[name] == 1 else f"{name} ({counts[name]})"] = model
    return named


def model_name(model: ModelLike) -> str:
    """What a model is called: its path or id, or those that it was loaded from."""
    if isinstance(model, str | Path):
        return str(model)
    return name_in_memory(resolve_model(model))


class TemporaryFolder:
    """A folder that is removed when nothing refers to this any more."""

    def __init__(self):
        self.path = Path(mkdtemp(prefix="polyprune-"))
        finalize(self, rmtree, self.path, ignore_errors=True)


def work_folder(out: str | Path | None) -> tuple[Path, TemporaryFolder | None]:
    """Where to work: in `out`, or in a temporary folder that lives as long as its handle."""
    if out is not None:
        return Path(out), None
    temporary = TemporaryFolder()
    return temporary.path / "work", temporary


def bundled_text(model: ModelLike) -> str | None:
    """Return the text that suits a model where none is given: the sample, for bundled models."""
    return "sample" if isinstance(model, str) and model in NAMED else None


def resolve_corpus(text: TextLike) -> Corpus:
    """The text that is meant: a folder, the bundled sample, or sentences by language."""
    if not isinstance(text, Mapping):
        return open_corpus(text_folder(str(text)))
    if not is_sentences(text):
        raise ConfigError("Batches are for scoring alone: give sentences, or a folder of text.")
    return corpus_in_memory(text)  # pyright: ignore[reportArgumentType]


def check_text(text: TextLike, languages: Sequence[str] | str | None) -> None:
    """Raise if a folder of text is not there, or lacks one of these languages."""
    if not isinstance(text, Mapping):
        resolve_corpus(text).codes(languages)  # pyright: ignore[reportArgumentType]


def text_source(text: TextLike, work: Path) -> str:
    """Where training reads text: sentences in memory are written to a folder beside its own."""
    if not isinstance(text, Mapping):
        return str(text)
    write_sentences(resolve_corpus(text), work / "text")
    return str(work / "text")


def resolve_scoring_text(
    model: PolyprunePreTrainedModel,
    request: ScoreRequest | PruneRequest,
) -> ScoringText:
    """The text of a request, in batches that a model can be scored on; or its ready batches."""
    text = request.corpus
    assert text is not None
    if isinstance(text, Mapping) and not is_sentences(text):
        names: dict[str, list[str]] = {name: [] for name in text}
        corpus = replace(corpus_in_memory(names), folder=Path("batches in memory"))
        ready = dict(zip(corpus.known(), text.values(), strict=True))
        batching = Batching(None, request.batch_size)
        return ReadyBatches(corpus, batching, request.languages, ready)  # pyright: ignore[reportArgumentType]
    reading = Reading(request.batch_size, request.tokens, request.prefix)
    languages = request.languages
    return scoring_text(model, resolve_corpus(text), languages, request.loss, reading)
