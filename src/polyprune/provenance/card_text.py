"""What a card tells people, section by section; whatever is not known, it says is not known."""

from ..model.files.gates_file import SHARED
from ..model.history import ModelSize, PruningStep
from .card_facts import CardFacts
from .card_measured import certificate, losses, speed
from .card_snippet import snippet
from .card_words import base_of, is_cut, layers, megabytes, millions, named, precision, several
from .markdown import code, fenced, line, plain, table

PAPER = """\
@inproceedings{li-etal-2022-probing,
  title = "Probing Structured Pruning on Multilingual Pre-trained Models: Settings, Algorithms, and Efficiency",
  author = "Li, Yanyang and Luo, Fuli and Xu, Runxin and Huang, Songfang and Huang, Fei and Wang, Liwei",
  booktitle = "Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics",
  year = "2022",
}"""  # noqa: E501

USES = {
    "masked-lm": "To be fine-tuned for a task, or to fill in words",
    "sentence-classification": "To label sentences, or pairs of them, as the original did",
    "token-classification": "To label words, as the original did",
    "span": "To find answers in a text, as the original did",
    "hidden-states": "To compare sentences by their embeddings, or to be fine-tuned for a task",
}
"""By readout."""


def body(facts: CardFacts) -> str:
    """The card below its metadata; of a whole model, without what was cut and lost."""
    cut = is_cut(facts) or bool(facts.gating)
    parts = [
        f"# {title(facts)}",
        _summary(facts),
        _use(facts),
        *((_cut(facts), _languages(facts), losses(facts), speed(facts)) if cut else ()),
        certificate(facts),
        _limits(facts),
        _made(facts),
        f"## Citation\n\nThe method is from\n\n{fenced(PAPER, 'bibtex')}",
    ]
    return "\n\n".join(part for part in parts if part)


def title(facts: CardFacts) -> str:
    """The original's name, and what became of it."""
    name = plain(base_of(facts).rpartition("/")[2])
    if facts.gating == "dynamic":
        return f"{name}, in every size"
    if facts.gating:
        return f"{name}, a subnetwork for each language"
    sparsity = facts.story.sparsity
    if sparsity:
        return f"{name}, {100 * sparsity:.0f} % cut"
    return f"{name}, pruned" if is_cut(facts) else name


def _summary(facts: CardFacts) -> str:
    before, size, base = facts.story.before, facts.size, named(facts)
    shape = f"{facts.family}, {layers(size)}, {millions(size.parameters)} parameters"
    if facts.gating:
        sizes = "every size" if facts.gating == "dynamic" else "one size per language"
        return (
            f"{base} ({shape}), whole, together with gates of {sizes} for {_rows(facts)}. "
            "[polyprune](#how-it-was-made) takes a smaller model out of it in a moment."
        )
    if not is_cut(facts) or before is None:
        return f"{base}: {shape}, {megabytes(size.bytes)}, in polyprune's format."
    was = f"{facts.family}, {layers(before)}, {millions(before.parameters)} parameters"
    after = "" if not facts.story.trainings else " What is left was then trained again."
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


def _cut(facts: CardFacts) -> str:
    before, size = facts.story.before, facts.size
    if facts.gating or before is None:
        return ""
    rows = [
        ["parameters", f"{before.parameters:,}", f"{size.parameters:,}"],
        ["weights", megabytes(before.bytes), megabytes(size.bytes)],
        ["layers", str(len(before.heads)), str(len(size.heads))],
        ["attention heads", f"{sum(before.heads):,}", f"{sum(size.heads):,}"],
        ["feed-forward units", f"{sum(before.units):,}", f"{sum(size.units):,}"],
        ["rank of the word table", f"{before.rank:,}", f"{size.rank:,}"],
    ]
    parts = ["## What was cut", table(["", "before", "this model"], rows)]
    sparsity = facts.story.sparsity
    if sparsity and len(before.heads) == len(size.heads):
        parts.append(
            f"Sparsity {100 * sparsity:.1f} %: so much of what can be cut is gone, each component "
            "weighed as in Appendix B of the paper (a head by its four matrices, a unit by its two "
            "vectors, a rank by one)."
        )
    if len(before.heads) == len(size.heads):
        parts.append(_by_layer(before, size))
    return "\n\n".join(parts)


def _by_layer(before: ModelSize, size: ModelSize) -> str:
    every = zip(before.heads, size.heads, before.units, size.units, strict=True)
    rows = [[str(i), f"{h} → {k}", f"{u:,} → {v:,}"] for i, (h, k, u, v) in enumerate(every, 1)]
    return table(["layer", "heads", "units"], rows)


def _languages(facts: CardFacts) -> str:
    cut = facts.story.cut_for
    if cut:
        told = f"Pruned for {several(facts, cut)}."
        scored = _scored(facts)
        return f"## Languages\n\n{told}{' ' + scored if scored else ''}"
    if facts.story.languages:
        listed = several(facts, facts.story.languages)
        return f"## Languages\n\nThose of the original: {listed}. No text decided what was cut."
    return "## Languages\n\nThose of the original. No text decided what was cut."


def _scored(facts: CardFacts) -> str:
    """What components were ranked by."""
    found = next((cut for cut in facts.story.cuts if cut.corpus or cut.sentences), None)
    if found is None:
        return ""
    low, high = found.sentences or (0, 0)
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    text = f"{many} sentences of each" if found.sentences else "sentences"
    source = f" from {code(found.corpus)}" if found.corpus else ""
    loss = f", by gradients of the {plain(found.loss)} loss" if found.loss else ""
    return f"What matters was measured on {text}{source}{loss}."


def _limits(facts: CardFacts) -> str:
    cut = facts.story.cut_for
    for_whom = "in the languages above" if cut else "in the languages of the original"
    others = "Nobody looked at languages when it was cut: any of them may have lost much."
    if cut:
        others = "Other languages were not looked at when it was cut, and may have lost much more."
    lost = [f"{others} Languages with little text tend to lose most."]
    points = [
        f"{USES[facts.readout]}, {for_whom}.",
        *(lost if is_cut(facts) or facts.gating else ()),
        "How well it fills in words or finds translations is not how well it does your task: "
        "measure that, in your languages, before relying on it.",
        f"What is wrong or unfair in {named(facts)} is still in here, and pruning can make it "
        "worse for what is rare. Read the original's card too.",
    ]
    listed = "\n".join(f"- {point}" for point in points)
    return f"## Intended use and limits\n\n{listed}"


def _made(facts: CardFacts) -> str:
    steps = [step for each in facts.story.cuts if (step := _step(each))]
    for each in facts.story.trainings:
        on = f" on {code(each.on)}" if each.on else ""
        teacher = f", {code(each.teacher)} as its teacher" if each.teacher else ""
        steps.append(f"Trained for {each.steps:,} steps{on}{teacher}.")
    listed = "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1))
    commands = [line(each.command) for each in facts.story.cuts if each.command]
    parts = [f"From {_original(facts)}, by polyprune."]
    parts += [listed] if listed else []
    parts += [fenced("\n".join(commands), "sh")] if commands else []
    return "\n\n".join(["## How it was made", *parts])


LEARNED = "gates that were trained with an L0 penalty"


def _step(cut: PruningStep) -> str:
    """One cut, or one ranking, in a sentence."""
    by = {
        "gradient": f"gate gradients, by the rule {code(cut.rule)}",
        "magnitude": "the size of their weights",
        "random": "chance",
        "learned": LEARNED,
        "l0": LEARNED,  # as it was called before
    }.get(cut.method, code(cut.method) if cut.method else "")
    ranked = f"Components were ranked by {by}" if by else ""
    setting = {
        "shared": ", the same for all languages",
        "non-shared": ", for each language by itself",
    }.get(cut.setting, "")
    if cut.sparsity is None:
        return f"{ranked}{setting}." if ranked else "Gates were added."
    if not ranked and not cut.sparsity:
        return ""
    size = f"cut to a sparsity of {100 * cut.sparsity:.1f} %"
    return f"{ranked}{setting}, and {size}." if ranked else f"{size.capitalize()}."


def _original(facts: CardFacts) -> str:
    """With a link, where the hub has it."""
    names = facts.story.base_model
    if names == (facts.story.base,):
        return f"[{plain(names[0])}](https://huggingface.co/{names[0]})"
    return named(facts)


def _rows(facts: CardFacts) -> str:
    if not facts.rows or facts.rows == (SHARED,):
        return "all languages alike"
    return several(facts, facts.rows)
