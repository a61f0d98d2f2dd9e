"""`polyprune.score`: how much every component matters, in every language."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..progress import Progress
from ..pruning.criteria.criterion import rule_named
from ..pruning.criteria.scores_file import ScoreSheet, save_scores
from ..pruning.criteria.scoring import Scoring
from ..pruning.criteria.scoring import score as score_components
from ..reporting.tables.table import Table
from ..storage import refuse_to_overwrite
from .inputs import ModelLike, resolve_model, resolve_scoring_text
from .requests.prune import PruneRequest
from .requests.score import ScoreRequest
from .result import Result, make_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class ScoreResult(Result):
    """How much every head, unit and rank of a model matters, one row per language."""

    sheet: ScoreSheet
    """The scores, which serve any budget and any set of their languages."""
    out: Path | None = None
    covariances: bool = False
    """Whether a file gets the covariances too."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that were scored."""
        return self.sheet.about.languages

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write a scores file."""
        save_scores(Path(path), self.sheet, covariances=self.covariances, force=force)
        return Path(path)

    def as_dict(self) -> dict[str, Any]:
        """How the scores came about."""
        return {"out": None if self.out is None else str(self.out), **asdict(self.sheet.about)}

    def summary(self) -> Iterator[Table | str]:
        """What was read, and what of it mattered most, language by language."""
        about, scores = self.sheet.about, self.sheet.gradients.absolute
        rows = []
        for i, code in enumerate(about.languages):
            heads = [float(h[i].sum()) for h in scores.heads]
            units = [float(u[i].sum()) for u in scores.units]
            parts = (sum(heads), sum(units), float(scores.rank[i].sum()))
            layers = [h + u for h, u in zip(heads, units, strict=True)]
            shares = (f"{part / sum(parts):.0%}" for part in parts)
            rows.append([code, about.examples[i], *shares, layers.index(max(layers))])
        yield make_table(
            ["language", "examples", "heads", "units", "rank", "most in\nlayer"],
            rows,
            title=f"importance by kind ({about.loss} loss, per {about.per})",
        )
        if self.out is not None:
            yield f"Written to {self.out}."


@verb(ScoreRequest)
def score(model: ModelLike, request: ScoreRequest, progress: Progress) -> ScoreResult:
    """Score every head, unit and rank of a model, language by language, on text.

    One set of scores serves any budget and any set of its languages:
    `polyprune.prune(model, scores=polyprune.score(model, corpus="text"), sparsity=0.5)`.
    """
    if request.out is not None:  # before anything is loaded, not only when it is written
        refuse_to_overwrite(Path(request.out), force=request.force, kind="file")
    curves = request.rule is not None and rule_named(request.rule).needs_curves
    if request.covariances and not curves:
        raise ConfigError("`covariances` are for `rule='second-order'`: give that too.")
    scoring = Scoring(
        sentences=request.sentences,
        loss=request.loss,
        per=request.per,
        parallel=request.parallel,
        table=request.table or "spectral",
        seed=request.seed,
        device=request.device,
        curves=curves,
    )
    sheet = take_scores(model, request, scoring, progress)
    result = ScoreResult(sheet, covariances=request.covariances)
    if request.out is None:
        return result
    return replace(result, out=result.save(request.out, force=request.force))


def take_scores(
    model: ModelLike,
    request: ScoreRequest | PruneRequest,
    scoring: Scoring,
    progress: Progress,
    uncut: PolyprunePreTrainedModel | None = None,
) -> ScoreSheet:
    """Score a model on the text of a request; `uncut` is it with ranks, where that is at hand."""
    loaded = resolve_model(model)
    text = resolve_scoring_text(loaded, request)
    return score_components(loaded, text, scoring, progress, uncut)
