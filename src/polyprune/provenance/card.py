"""The card of a model folder, `README.md`: what the hub reads, and what people read."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCard, ModelCardData

from ..model.files.row_names import SHARED
from ..model.network.folder import CARD
from ..storage import final_name
from .card_facts import (
    CardFacts,
    base_of,
    facts_of,
    is_cut,
    layers,
    megabytes,
    millions,
    named,
    precision,
    several,
)
from .card_sections import CITATION, certificate, cut_sentence, losses, snippet, speed, what_was_cut
from .markdown import code, fenced, line, plain
from .origin import LICENSE, read_metadata

BEGIN = "<!-- polyprune writes this part, and writes it again; add yours above or below it -->"
END = "<!-- end of the part that polyprune writes -->"
FRONT = re.compile(r"\A---\r?\n.*?\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)

TAGS = ["polyprune", "pruning", "multilingual"]

USES = {
    "masked-lm": "To be fine-tuned for a task, or to fill in words",
    "sentence-classification": "To label sentences, or pairs of them, as the original did",
    "token-classification": "To label words, as the original did",
    "span": "To find answers in a text, as the original did",
    "hidden-states": "To compare sentences by their embeddings, or to be fine-tuned for a task",
}
"""By readout."""


def card(facts: CardFacts) -> str:
    """The whole text of a card."""
    return _joined(metadata(facts), f"{BEGIN}\n\n{body(facts)}\n\n{END}\n")


def metadata(facts: CardFacts) -> dict[str, Any]:
    """What the hub reads: checked by its own classes, in which nothing can break out of YAML.

    The relation to the original is told only where weights were trained: the hub has no word for
    pruning alone (it knows finetune, adapter, merge and quantized).
    """
    history = facts.history
    sentences = facts.modules and facts.readout.embeds
    results = _results(facts)
    licensed = {name: line(text) for name, text in history.license.items()}
    data = ModelCardData(
        language=hub_languages(history.cut_for or history.languages) or "multilingual",
        license=licensed.get("license"),
        license_name=licensed.get("license_name"),
        license_link=licensed.get("license_link"),
        library_name="sentence-transformers" if sentences else "transformers",
        pipeline_tag="sentence-similarity" if sentences else facts.readout.pipeline,
        tags=list(TAGS),
        base_model=list(history.base_model) or None,
        model_name=line(facts.name) if results else None,
        eval_results=results or None,
    )
    found = data.to_dict()
    if history.base_model and history.trainings:
        found["base_model_relation"] = "finetune"
    return found


def hub_languages(codes: tuple[str, ...]) -> list[str]:
    """Languages as the hub knows them: ISO codes, without script or spelling (`zh`, `bn`)."""
    bases = (re.split("[-_]", code)[0] for code in codes)
    return list(dict.fromkeys(code for code in bases if re.fullmatch("[a-z]{2,3}", code)))


def write_card(new: Path, folder: Path, differences: Mapping[str, float] | None) -> None:
    """Write the card of a new folder that has everything else, and will be `folder`.

    There may be a card already: what a person wrote stays, all of it where polyprune had no part
    in it.
    """
    facts = replace(facts_of(new, final_name(folder)), differences=dict(differences or {}))
    text = written_into(folder, card(facts))
    if text is not None:
        (new / CARD).write_text(text, encoding="utf-8")


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
            task_type=facts.readout.pipeline,
            dataset_type=line(each.task),
            dataset_name=line(each.title),
            metric_type=line(each.metric),
            metric_value=round(each.mean[1], 2),
            metric_name=f"{line(each.metric)}, mean over languages",
        )
        for each in facts.compared
        if each.mean[1] is not None
    ]


def body(facts: CardFacts) -> str:
    """The card below its metadata; of a whole model, without what was cut and lost."""
    cut = is_cut(facts) or bool(facts.gating)
    parts = [
        f"# {title(facts)}",
        _summary(facts),
        _use(facts),
        *((what_was_cut(facts), _languages(facts), losses(facts), speed(facts)) if cut else ()),
        certificate(facts),
        _limits(facts),
        _made(facts),
        CITATION,
    ]
    return "\n\n".join(part for part in parts if part)


def title(facts: CardFacts) -> str:
    """The original's name, and what became of it."""
    name = plain(base_of(facts).rpartition("/")[2])
    if facts.holds_every_size:
        return f"{name}, in every size"
    if facts.gating:
        return f"{name}, a subnetwork for each language"
    sparsity = facts.history.sparsity
    if sparsity:
        return f"{name}, {100 * sparsity:.0f} % cut"
    return f"{name}, pruned" if is_cut(facts) else name


def _summary(facts: CardFacts) -> str:
    before, size, base = facts.history.before, facts.size, named(facts)
    shape = f"{facts.family}, {layers(size)}, {millions(size.parameters)} parameters"
    if facts.gating:
        sizes = "every size" if facts.holds_every_size else "one size per language"
        return (
            f"{base} ({shape}), whole, together with gates of {sizes} for {_rows(facts)}. "
            "[polyprune](#how-it-was-made) takes a smaller model out of it in a moment."
        )
    if not is_cut(facts) or before is None:
        return f"{base}: {shape}, {megabytes(size.bytes)}, in polyprune's format."
    was = f"{facts.family}, {layers(before)}, {millions(before.parameters)} parameters"
    after = "" if not facts.history.trainings else " What is left was then trained again."
    return (
        f"{base} ({was}) without the attention heads, feed-forward units and embedding ranks that "
        f"matter least: **{millions(size.parameters)} parameters, {megabytes(size.bytes)}**"
        f"{precision(facts)}. What was cut is gone from the weights; nothing is masked.{after}"
    )


def _use(facts: CardFacts) -> str:
    how = "Plain transformers loads it; nothing else is needed."
    if facts.gating:
        how = "With polyprune installed. Plain transformers loads the whole model, without gates."
    elif facts.own_code:
        how = (
            "The classes travel in this folder, which is what `trust_remote_code=True` is for. "
            "With polyprune installed, `import polyprune` first and leave it out."
        )
    return f"## How to use it\n\n{fenced(snippet(facts), 'python')}\n\n{how}"


def _languages(facts: CardFacts) -> str:
    cut = facts.history.cut_for
    if cut:
        told = f"Pruned for {several(facts, cut)}."
        scored = _scored(facts)
        return f"## Languages\n\n{told}{' ' + scored if scored else ''}"
    if facts.history.languages:
        listed = several(facts, facts.history.languages)
        return f"## Languages\n\nThose of the original: {listed}. No text decided what was cut."
    return "## Languages\n\nThose of the original. No text decided what was cut."


def _scored(facts: CardFacts) -> str:
    """What components were ranked by."""
    found = next((cut for cut in facts.history.cuts if cut.corpus or cut.sentences), None)
    if found is None:
        return ""
    low, high = found.sentences or (0, 0)
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    text = f"{many} sentences of each" if found.sentences else "sentences"
    source = f" from {code(found.corpus)}" if found.corpus else ""
    loss = f", by gradients of the {plain(found.loss)} loss" if found.loss else ""
    return f"What matters was measured on {text}{source}{loss}."


def _limits(facts: CardFacts) -> str:
    cut = facts.history.cut_for
    for_whom = "in the languages above" if cut else "in the languages of the original"
    others = "Nobody looked at languages when it was cut: any of them may have lost much."
    if cut:
        others = "Other languages were not looked at when it was cut, and may have lost much more."
    lost = [f"{others} Languages with little text tend to lose most."]
    points = [
        f"{USES[facts.readout.name]}, {for_whom}.",
        *(lost if is_cut(facts) or facts.gating else ()),
        "How well it fills in words or finds translations is not how well it does your task: "
        "measure that, in your languages, before relying on it.",
        f"What is wrong or unfair in {named(facts)} is still in here, and pruning can make it "
        "worse for what is rare. Read the original's card too.",
    ]
    listed = "\n".join(f"- {point}" for point in points)
    return f"## Intended use and limits\n\n{listed}"


def _made(facts: CardFacts) -> str:
    steps = [step for each in facts.history.cuts if (step := cut_sentence(each))]
    for each in facts.history.trainings:
        on = f" on {code(each.on)}" if each.on else ""
        teacher = f", {code(each.teacher)} as its teacher" if each.teacher else ""
        loss = "" if each.held_out is None else f"; its held-out loss is {each.held_out:.3f}"
        steps.append(f"Trained for {each.steps:,} steps{on}{teacher}{loss}.")
    listed = "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1))
    commands = [line(each.command) for each in facts.history.cuts if each.command]
    parts = [f"From {_original(facts)}, by polyprune."]
    parts += [listed] if listed else []
    parts += [fenced("\n".join(commands), "sh")] if commands else []
    return "\n\n".join(["## How it was made", *parts])


def _original(facts: CardFacts) -> str:
    """With a link, where the hub has it."""
    names = facts.history.base_model
    if names == (facts.history.base,):
        return f"[{plain(names[0])}](https://huggingface.co/{names[0]})"
    return named(facts)


def _rows(facts: CardFacts) -> str:
    if not facts.rows or facts.rows == (SHARED,):
        return "all languages alike"
    return several(facts, facts.rows)
