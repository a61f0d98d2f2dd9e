"""The lines that load a model and let it read something, as its card shows them."""

import re

from ..loading.conversion import AUTO_CLASS
from ..model.files.gates_file import SHARED
from .card_facts import CardFacts

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


def snippet(facts: CardFacts) -> str:
    """Python that runs as it is where the folder lies."""
    folder, readout = literal(facts.name), facts.readout
    if facts.gating:
        return ELASTIC.format(folder=folder, wanted=_wanted(facts))
    trust = ", trust_remote_code=True" if facts.own_code else ""
    auto = AUTO_CLASS[readout]
    if facts.modules and readout == "hidden-states":
        text = literal(facts.prompt + HELLO)
        return SENTENCES.format(folder=folder, trust=trust, text=text)
    if not facts.tokenizer:
        return WITHOUT_TOKENIZER.format(auto=auto, folder=folder, trust=trust)
    text = literal(HELLO)
    if readout == "masked-lm":
        text = f"f{literal(MASKED.format('{tokenizer.mask_token}'))}"
    elif readout == "span":
        text = f"[{literal('Who came?')}, {literal('Asha came.')}]"
    return (LOAD + READ).format(auto=auto, folder=folder, trust=trust, text=text) + SHOW[readout]


def literal(text: str) -> str:
    """Text as Python writes it, whatever is in it."""
    return f'"{text}"' if re.fullmatch(r"[^\W_][\w .,:!?{}/-]*", text, re.ASCII) else ascii(text)


def _wanted(facts: CardFacts) -> str:
    """Which of its sizes: half, for the first of its languages."""
    words = ["sparsity=0.5"] if facts.gating == "dynamic" else []
    if facts.rows and facts.rows[0] != SHARED:
        words.append(f"language={literal(facts.rows[0])}")
    return ", ".join(words)
