"""How faithful a smaller model is to the uncut one, by language: what was measured, as values.

Fidelity is the field's word for how far a student agrees with its teacher (Stanton et al., 2021).
It is not quality: who agrees with a wrong answer is faithful. It needs no labels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..estimates import Interval


@dataclass(frozen=True, slots=True)
class Measure:
    """One number about the smaller model, with its interval."""

    name: str
    """`agreement`, `cosine`, `neighbours`, `correlation`, `loss`, or the metric of a task."""
    value: Interval | None
    """None where there was nothing to measure. With `before`, the change since."""
    unit: str = ""
    """`%`, or nothing."""
    before: float | None = None
    """The uncut model's own, where it has one: a loss, or a score by labels."""

    def shown(self) -> tuple[str, str]:
        """Return the number, or the scores before and after, and the interval, as people read."""
        found, digits = self.value, 1 if self.unit else 3
        unit = f" {self.unit}" if self.unit else ""
        if found is None:
            return "–", "–"
        sign = "" if self.before is None else "+"
        known = found.low is not None and found.high is not None
        between = f"{found.low:{sign}.{digits}f} to {found.high:{sign}.{digits}f}" if known else "–"
        if self.before is None:
            return f"{found.mean:.{digits}f}{unit}", between
        after = self.before + found.mean
        return f"{self.before:.{digits}f} → {after:.{digits}f}{unit}", between

    def as_dict(self) -> dict[str, float | None]:
        """Return value, low and high end; or the score before, after, and the change."""
        found = self.value
        low, high = (None, None) if found is None else (found.low, found.high)
        mean = None if found is None else found.mean
        if self.before is None:
            return {"value": mean, "low": low, "high": high}
        after = None if mean is None else round(self.before + mean, 5)
        return {"before": self.before, "after": after, "change": mean, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class LanguageFidelity:
    """What was measured in one language, or in all of them together."""

    sentences: int
    measures: tuple[Measure, ...]
    """The one that languages are compared by first."""
    seen: bool = False
    """Whether the cut, or a training after it, read these sentences too."""

    @property
    def main(self) -> float:
        """What languages are compared by: larger is better."""
        found = self.measures[0].value if self.measures else None
        return float("inf") if found is None else found.mean

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name."""
        own = {each.name: each.as_dict() for each in self.measures}
        return {"sentences": self.sentences, "seen": self.seen, **own}


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What a smaller model kept of the uncut one, by language."""

    text: str
    """The name of the text that both read."""
    languages: dict[str, LanguageFidelity] = field(default_factory=dict)
    overall: LanguageFidelity = field(default_factory=lambda: LanguageFidelity(0, ()))
    """All sentences together."""

    @classmethod
    def of_scores(
        cls,
        metric: str,
        scores: Mapping[str, tuple[float, float]],
        text: str,
        sentences: Mapping[str, int],
    ) -> "Fidelity":
        """Scores by labels in percent, before and after, by language: these say what was lost."""

        def measures(before: float, after: float) -> tuple[Measure, ...]:
            return (Measure(metric, Interval(after - before), "%", before),)

        rows = {c: LanguageFidelity(sentences[c], measures(*pair)) for c, pair in scores.items()}
        mean = [sum(each) / len(scores) for each in zip(*scores.values(), strict=True)]
        together = LanguageFidelity(sum(sentences[c] for c in rows), measures(*mean))
        return cls(text, rows, together)

    @property
    def worst(self) -> str:
        """The language that kept least."""
        return min(self.languages, key=lambda code: self.languages[code].main)

    def about_text(self) -> str:
        """Say how many sentences there were, and whether they had been read before."""
        counts = sorted({each.sentences for each in self.languages.values()})
        many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        plural = "s" if counts[-1] != 1 else ""
        seen = [code for code, each in self.languages.items() if each.seen]
        read = "which the cut was not chosen on"
        if len(seen) == len(self.languages):
            read = "which the cut was chosen on, or trained on: others would show more loss"
        elif seen:
            read += f", except in {', '.join(seen)}"
        return f"On {many} sentence{plural} of each language from {self.text}, {read}."

    def as_dict(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "text": self.text,
            "worst": self.worst,
            "all": self.overall.as_dict(),
            "languages": {code: each.as_dict() for code, each in self.languages.items()},
        }
