"""The parts of a card that show numbers or code: what was cut and lost, how to load the model."""

import re
from collections import defaultdict

from ..model.files.row_names import SHARED
from ..model.history import ModelSize, PruningStep
from .card_facts import CardFacts, TaskComparison, base_of, language, megabytes
from .markdown import code, command, fenced, plain, table

NOTHING = "–"
NOT_YET = "**Not measured yet.**"
LEARNED = "gates that were trained with an L0 penalty"

MEASURED = defaultdict(
    lambda: "Scores of the model before its last cut, and of this one.",
    agreement="How often this model says what the model before its last cut said, right or wrong.",
    cosine="How near embeddings are to those of the model before its last cut, and how often the "
    "nearest other sentence is the same.",
    correlation="How outputs correlate with those of the model before its last cut.",
)
"""By the first measure."""

PAPER = """\
@inproceedings{li-etal-2022-probing,
  title = "Probing Structured Pruning on Multilingual Pre-trained Models: Settings, Algorithms, and Efficiency",
  author = "Li, Yanyang and Luo, Fuli and Xu, Runxin and Huang, Songfang and Huang, Fei and Wang, Liwei",
  booktitle = "Proceedings of the 60th Annual Meeting of the Association for Computational Linguistics",
  year = "2022",
}"""  # noqa: E501
CITATION = f"## Citation\n\nThe method is from\n\n{fenced(PAPER, 'bibtex')}"

HELLO = "Habari ya asubuhi!"
MASKED = "Habari ya {}!"

LOAD = """\
import torch
from transformers import {auto}, AutoTokenizer

folder = {folder}  # or its name on the Hugging Face hub
tokenizer = AutoTokenizer.from_pretrained(folder)
model = {auto}.from_pretrained(folder{trust}).eval()
"""
READ = """\
batch = tokenizer([{text}], return_tensors="pt")
with torch.inference_mode():
    output = model(**batch)
"""
SHOW = {
    "masked-lm": """\
here = batch["input_ids"][0] == tokenizer.mask_token_id
print(tokenizer.batch_decode(output.logits[0, here].topk(5).indices[0]))
""",
    "sentence-classification": """\
print(model.config.id2label[int(output.logits[0].argmax())])
""",
    "token-classification": """\
print([model.config.id2label[i] for i in output.logits[0].argmax(-1).tolist()])
""",
    "span": """\
first, last = int(output.start_logits[0].argmax()), int(output.end_logits[0].argmax())
print(tokenizer.decode(batch["input_ids"][0, first : last + 1]))
""",
    "hidden-states": """\
print(output.last_hidden_state.shape)
""",
}
"""By readout."""

WITHOUT_TOKENIZER = """\
import torch
from transformers import {auto}

folder = {folder}  # or its name on the Hugging Face hub
model = {auto}.from_pretrained(folder{trust}).eval()
with torch.inference_mode():
    output = model(torch.tensor([[5, 6, 7]]))  # without a tokenizer, numbers of tokens
print(output[0].shape)
"""
SENTENCES = """\
from sentence_transformers import SentenceTransformer

folder = {folder}  # or its name on the Hugging Face hub
model = SentenceTransformer(folder{trust})
print(model.encode([{text}]).shape)
"""
ELASTIC = """\
import polyprune as pp

model = pp.load({folder})
small = model.at({wanted})  # an ordinary, smaller model
print(f"{{small.num_parameters():,}} of {{model.num_parameters():,}} parameters")
small.save_pretrained("small")
"""


def what_was_cut(facts: CardFacts) -> str:
    """The sizes of the original beside those of this model, and its layers one by one."""
    before, size = facts.history.before, facts.size
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
    sparsity = facts.history.sparsity
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


def losses(facts: CardFacts) -> str:
    """The dense model beside this one, language by language."""
    head, kept = "## What each language lost", _kept(facts)
    if not facts.compared:
        how = "These measure it, and its speed, and put them here:"
        by_labels = f"By the labels of a task: {NOT_YET}" if kept else NOT_YET
        return "\n\n".join([head, *kept, f"{by_labels} {how}", _how(facts)])
    return "\n\n".join([head, *(_compared(facts, each) for each in facts.compared), *kept])


def _kept(facts: CardFacts) -> list[str]:
    """What is kept of the model before the last cut, as it was measured then; nothing if not."""
    found = facts.history.fidelity
    if found is None or not found.languages:
        return []
    head = ["language"]
    for measure in found.overall.measures:
        head += [plain(measure.name), "95 % interval"]
    rows = {language(facts, code): each for code, each in sorted(found.languages.items())}
    cells = [
        [name, *(cell for measure in each.measures for cell in measure.shown())]
        for name, each in (rows | {"**all**": found.overall}).items()
    ]
    worst = language(facts, found.worst)
    return [
        "### Without labels",
        f"{MEASURED[found.overall.measures[0].name]} {plain(found.about_text())} {worst} kept "
        "least.",
        table(head, cells),
    ]


def _how(facts: CardFacts) -> str:
    """Commands that measure all of it and fill the card: with a part alone the rest would go."""
    task = "TASK" if facts.readout.has_task else "tatoeba"
    asked = command("polyprune", "evaluate", base_of(facts), facts.name, "--task", task)
    timed = command("polyprune", "measure", base_of(facts), facts.name, "--speed", "--json")
    told = command("polyprune", "report", "scores.json", "speed.json", "--card", facts.name)
    lines = f"{asked} --data XTREME --json > scores.json\n{timed} > speed.json\n{told}"
    return fenced(lines, "sh")


def _compared(facts: CardFacts, each: TaskComparison) -> str:
    rows = [[language(facts, c), *_three(*pair)] for c, pair in sorted(each.languages.items())]
    rows.append(["**mean**", *_three(*each.mean)])
    head = ["language", "dense", "this model", "difference"]
    return f"### {plain(each.title)}\n\n{plain(each.metric)}, in percent\n\n{table(head, rows)}"


def _three(dense: float | None, own: float | None) -> list[str]:
    shown = [NOTHING if value is None else f"{value:.1f}" for value in (dense, own)]
    lost = None if dense is None or own is None else own - dense
    return [*shown, NOTHING if lost is None else f"{lost:+.1f}"]


def speed(facts: CardFacts) -> str:
    """How many times as fast as the original."""
    found = facts.speed
    if found is None:
        how = f"These measure it on your machine, and put it here:\n\n{_how(facts)}"
        above = "What measures the losses above measures it too, on your machine."
        return f"## Speed\n\n{NOT_YET} {how if facts.compared else above}"
    known = found.low is not None and found.high is not None
    between = f" (95 % interval {found.low:.2f} to {found.high:.2f})" if known else ""
    where = f" on {plain(found.where)}" if found.where else ""
    return (
        f"## Speed\n\n**{found.faster:.2f} times as fast** as the original{between}{where}, both "
        "measured in turns. On other machines it is another number."
    )


def certificate(facts: CardFacts) -> str:
    """How exactly this is what was cut, and what `polyprune check` looks at."""
    check = code(command("polyprune", "check", facts.name))
    hashes = (
        f"{check} compares every file with its hash in `certificate.json`, and the weights with "
        "`config.json`."
    )
    if not facts.differences:
        return f"## Certificate\n\n{hashes}"
    worst = max(facts.differences, key=lambda name: facts.differences[name])
    compared = (
        "The original and this folder with all gates open"
        if facts.gating
        else "The original with these gates and the model that was cut"
    )
    rows = [[language(facts, c), f"{d:.1e}"] for c, d in sorted(facts.differences.items())]
    return (
        f"## Certificate\n\n{compared} read the same sentences when this was written. Their "
        f"outputs differ by at most {facts.differences[worst]:.1e} ({language(facts, worst)}): "
        "this checks the computation, not the quality.\n\n"
        "<details><summary>Largest difference in each language</summary>\n\n"
        f"{table(['language', 'difference'], rows)}\n\n</details>\n\n{hashes}"
    )


def snippet(facts: CardFacts) -> str:
    """Python that runs as it is where the folder lies."""
    folder, readout = literal(facts.name), facts.readout
    if facts.gating:
        return ELASTIC.format(folder=folder, wanted=_wanted(facts))
    trust = ", trust_remote_code=True" if facts.own_code else ""
    auto = readout.auto_class
    if facts.modules and readout.embeds:
        text = literal(facts.prompt + HELLO)
        return SENTENCES.format(folder=folder, trust=trust, text=text)
    if not facts.tokenizer:
        return WITHOUT_TOKENIZER.format(auto=auto, folder=folder, trust=trust)
    filled = {"auto": auto, "folder": folder, "trust": trust, "text": _text(facts)}
    return (LOAD + READ).format(**filled) + SHOW[readout.name]


def _text(facts: CardFacts) -> str:
    """What the model reads, as Python has it."""
    if facts.readout.predicts_words:
        return f"f{literal(MASKED.format('{tokenizer.mask_token}'))}"
    if facts.readout.finds_spans:
        return f"[{literal('Who came?')}, {literal('Asha came.')}]"
    return literal(HELLO)


def literal(text: str) -> str:
    """Text as Python writes it, whatever is in it."""
    return f'"{text}"' if re.fullmatch(r"[^\W_][\w .,:!?{}/-]*", text, re.ASCII) else ascii(text)


def _wanted(facts: CardFacts) -> str:
    """Which of its sizes: half, for the first of its languages."""
    words = ["sparsity=0.5"] if facts.holds_every_size else []
    if facts.rows and facts.rows[0] != SHARED:
        words.append(f"language={literal(facts.rows[0])}")
    return ", ".join(words)


def cut_sentence(cut: PruningStep) -> str:
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
    if cut.rounds > 1:
        size += f" in {cut.rounds} rounds, each after scores of what was left"
    sentence = f"{ranked}{setting}, and {size}." if ranked else f"{size.capitalize()}."
    made_up = f" What is left makes up for what went: {cut.made_up}, no training."
    return sentence + (made_up if cut.made_up else "")
