"""The special tokens that a tokenizer puts around a text, and around a pair of texts."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PairTemplate:
    """The special tokens before, between and after two texts."""

    specials: tuple[list[int], list[int], list[int]]
    types: tuple[list[int], list[int], list[int]] | None
    """The token types of the special tokens; None if the tokenizer has none."""
    own_types: tuple[int, int] = (0, 1)
    """The token types of the first and of the second text."""

    @property
    def size(self) -> int:
        """The number of special tokens."""
        return sum(map(len, self.specials))

    def fill(self, one: list[int], other: list[int]) -> tuple[list[int], list[int] | None]:
        """Return the tokens of an input, and their types."""
        before, between, after = self.specials
        ids = [*before, *one, *between, *other, *after]
        if self.types is None:
            return ids, None
        first, second = self.own_types
        before, between, after = self.types
        return ids, [
            *before,
            *[first] * len(one),
            *between,
            *[second] * len(other),
            *after,
        ]


def pair_template(tokenizer: Any) -> PairTemplate:
    """Find a tokenizer's special tokens by encoding a pair of letters."""
    pair = tokenizer("a", "b", return_token_type_ids=True)
    sources = pair.sequence_ids()
    question, context = sources.index(0), sources.index(1)
    gaps = (
        slice(0, question),
        slice(question + sources.count(0), context),
        slice(context + sources.count(1), None),
    )
    before, between, after = (pair["input_ids"][gap] for gap in gaps)
    types = pair["token_type_ids"]
    if "token_type_ids" not in tokenizer.model_input_names or not any(types):
        return PairTemplate((before, between, after), None)
    kinds = types[gaps[0]], types[gaps[1]], types[gaps[2]]
    return PairTemplate((before, between, after), kinds, (types[question], types[context]))


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """The special tokens before and after one text."""

    before: list[int]
    after: list[int]
    type: int | None
    """The token type of all tokens; None if the tokenizer has none."""

    @property
    def size(self) -> int:
        """The number of special tokens."""
        return len(self.before) + len(self.after)

    def fill(self, text: list[int]) -> tuple[list[int], list[int] | None]:
        """Return the tokens of an input, and their types."""
        ids = [*self.before, *text, *self.after]
        return ids, None if self.type is None else [self.type] * len(ids)


def text_template(tokenizer: Any) -> TextTemplate:
    """Find a tokenizer's special tokens by encoding a letter."""
    one, pair = tokenizer("a"), pair_template(tokenizer)
    sources = one.sequence_ids()
    first = sources.index(0)
    after = first + sources.count(0)
    kind = None if pair.types is None else pair.own_types[0]
    return TextTemplate(one["input_ids"][:first], one["input_ids"][after:], kind)
