"""The card of a model folder, `README.md`: what the hub reads, and what people read."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ..model.history import CARD, LICENSE, read_metadata
from ..storage import final_name
from .card_facts import CardFacts, facts_of
from .card_text import body
from .markdown import line

BEGIN = "<!-- polyprune writes this part, and writes it again; add yours above or below it -->"
END = "<!-- end of the part that polyprune writes -->"
FRONT = re.compile(r"\A---\r?\n.*?\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)

PIPELINES = {
    "masked-lm": "fill-mask",
    "sentence-classification": "text-classification",
    "token-classification": "token-classification",
    "span": "question-answering",
    "hidden-states": "feature-extraction",
}
"""What the hub calls the task of a readout."""
TAGS = ["polyprune", "pruning", "multilingual"]


def card(facts: CardFacts) -> str:
    """The whole text of a card."""
    return _joined(metadata(facts), f"{BEGIN}\n\n{body(facts)}\n\n{END}\n")


def metadata(facts: CardFacts) -> dict[str, Any]:
    """What the hub reads: checked by its own classes, in which nothing can break out of YAML.

    The relation to the original is told only where weights were trained: the hub has no word for
    pruning alone (it knows finetune, adapter, merge and quantized).
    """
    story = facts.story
    sentences = facts.modules and facts.readout == "hidden-states"
    results = _results(facts)
    licensed = {name: line(text) for name, text in story.license.items()}
    data = ModelCardData(
        language=hub_languages(story.cut_for or story.languages) or "multilingual",
        license=licensed.get("license"),
        license_name=licensed.get("license_name"),
        license_link=licensed.get("license_link"),
        library_name="sentence-transformers" if sentences else "transformers",
        pipeline_tag="sentence-similarity" if sentences else PIPELINES[facts.readout],
        tags=list(TAGS),
        base_model=list(story.base_model) or None,
        model_name=line(facts.name) if results else None,
        eval_results=results or None,
    )
    found = data.to_dict()
    if story.base_model and story.trainings:
        found["base_model_relation"] = "finetune"
    return found


def hub_languages(codes: tuple[str, ...]) -> list[str]:
    """Languages as the hub knows them: ISO codes, without script or spelling (`zh`, `bn`)."""
    bases = (re.split("[-_]", code)[0] for code in codes)
    return list(dict.fromkeys(code for code in bases if re.fullmatch("[a-z]{2,3}", code)))


def describe(folder: Path, differences: Mapping[str, float] | None) -> Callable[[Path], None]:
    """What writes the card into a new folder that has everything else, and will be `folder`.

    There may be a card already: what a person wrote stays, all of it where polyprune had no part
    in it.
    """

    def write(new: Path) -> None:
        facts = replace(facts_of(new, final_name(folder)), differences=dict(differences or {}))
        text = written_into(folder, card(facts))
        if text is not None:
            (new / CARD).write_text(text, encoding="utf-8")

    return write


def written_into(folder: Path, new: str) -> str | None:
    """A new card together with what a person wrote into a folder's; None to leave that alone."""
    path = folder / CARD
    if not path.is_file():
        return new
    known = path.read_text(encoding="utf-8", errors="replace")
    return renewed(known, new, read_metadata(path)) if BEGIN in known else None


def renewed(known: str, new: str, said: Mapping[str, Any]) -> str:
    """A new card in place of polyprune's part of a known one; `said` is its metadata.

    Of the metadata, what polyprune does not write stays, and so do a licence and more tags.
    """
    ours = ModelCard(new).data.to_dict()
    kept = {name: value for name, value in said.items() if name != "model-index"}
    tags = kept.get("tags")
    more = [str(tag) for tag in tags] if isinstance(tags, list) else []
    licensed = {name: kept[name] for name in LICENSE if name in kept}
    merged = {**kept, **ours, **licensed, "tags": list(dict.fromkeys([*TAGS, *more]))}
    above, _, rest = FRONT.sub("", known).partition(BEGIN)
    below = rest.partition(f"\n{END}")[2]
    part = FRONT.sub("", new).strip("\n")
    return _joined(merged, f"{above.lstrip()}{part}{below or chr(10)}")


def _joined(data: Mapping[str, Any], text: str) -> str:
    return f"---\n{ModelCardData(**data).to_yaml()}\n---\n\n{text}"


def _results(facts: CardFacts) -> list[EvalResult]:
    """The mean over languages of every task that this model was asked."""
    return [
        EvalResult(
            task_type=PIPELINES[facts.readout],
            dataset_type=line(each.task),
            dataset_name=line(each.title),
            metric_type=line(each.metric),
            metric_value=round(each.mean[1], 2),
            metric_name=f"{line(each.metric)}, mean over languages",
        )
        for each in facts.compared
        if each.mean[1] is not None
    ]
