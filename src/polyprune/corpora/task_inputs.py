"""What a fine-tuned model reads: a text, or two of them with a tab between, a line each."""

from collections.abc import Sequence
from typing import Any, NamedTuple

BETWEEN = "\t"


class TaskInput(NamedTuple):
    """The tokens of an input, and their types where the tokenizer has any."""

    ids: list[int]
    types: list[int] | None = None


def encode_inputs(lines: Sequence[str], tokenizer: Any, longest: int) -> list[TaskInput]:
    """Encode each line as the text, or the pair of texts, that it is."""
    typed = "token_type_ids" in tokenizer.model_input_names
    found: dict[int, TaskInput] = {}
    for pairs in (False, True):
        some = [i for i, line in enumerate(lines) if (BETWEEN in line) == pairs]
        if not some:
            continue
        texts = zip(*(lines[i].split(BETWEEN, 1) for i in some), strict=True)
        encoded = tokenizer(
            *map(list, texts),
            truncation=True,
            max_length=longest,
            return_attention_mask=False,
            return_token_type_ids=typed,
            verbose=False,
        )
        types = encoded["token_type_ids"] if typed else [None] * len(some)
        found |= dict(zip(some, map(TaskInput, encoded["input_ids"], types), strict=True))
    return [found[i] for i in range(len(lines))]
