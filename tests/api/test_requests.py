"""A verb takes its options as keywords or as one request, and says what it does not know."""

import inspect
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass
from typing import Annotated

import pytest

from polyprune.api.request import Option, Request
from polyprune.api.verb import verb
from polyprune.cli.command import for_terminal
from polyprune.errors import ConfigError, UnknownName
from polyprune.progress import SILENT
from polyprune.quantities import parse_sparsity


@dataclass(frozen=True, kw_only=True)
class CutRequest(Request):
    corpus: Annotated[str, Option("What is read.")]
    sparsity: Annotated[float | str | None, Option("How much goes.", parse=parse_sparsity)] = None
    min_heads: Annotated[int, Option("What stays.", least=0, formerly="least_heads")] = 0

    def refusals(self) -> Iterator[tuple[bool, str]]:
        yield self.corpus == "nothing", "`corpus=nothing` cannot be read; see `min_heads`."


@verb(CutRequest)
def cut(model, request, progress):
    """Cut a model."""
    return model, request, progress


def test_keywords_and_a_request_say_the_same():
    asked = CutRequest(corpus="text", sparsity="50%")
    assert cut("m", corpus="text", sparsity=0.5) == cut("m", asked) == cut("m", request=asked)
    assert cut("m", asked, progress=False) == ("m", asked, SILENT)
    assert asked.sparsity == 0.5


def test_keywords_change_a_request():
    asked = CutRequest(corpus="text", sparsity=0.5)
    assert cut("m", asked, min_heads=2)[1] == CutRequest(corpus="text", sparsity=0.5, min_heads=2)
    assert asked.min_heads == 0
    with pytest.raises(FrozenInstanceError):
        asked.min_heads = 3


def test_an_unknown_option_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownName, match=r"'sparsty'\. Did you mean 'sparsity'"):
        cut("m", corpus="text", sparsty=0.5)


def test_what_is_missing_too_small_or_cannot_be_meant_is_refused():
    with pytest.raises(ConfigError, match="Give `corpus`"):
        cut("m")
    with pytest.raises(ConfigError, match="`min_heads` is 0 or more, not -1"):
        cut("m", corpus="text", min_heads=-1)
    with pytest.raises(ConfigError, match="cannot be read"):
        cut("m", corpus="nothing")
    with pytest.raises(TypeError, match="takes model, a CutRequest"):
        cut("m", "text")


def test_a_former_name_is_understood_with_a_warning():
    with pytest.warns(FutureWarning, match="`least_heads` is now `min_heads`"):
        assert cut("m", corpus="text", least_heads=2)[1].min_heads == 2


def test_help_shows_every_option_with_its_default():
    shown = inspect.signature(cut)
    assert list(shown.parameters) == [
        "model", "request", "corpus", "sparsity", "min_heads", "progress"
    ]  # fmt: skip
    assert shown.parameters["min_heads"].default == 0
    assert shown.parameters["corpus"].default is inspect.Parameter.empty
    assert "Cut a model." in cut.__doc__
    assert "min_heads: What stays." in cut.__doc__


def test_messages_name_options_as_they_are_typed():
    with pytest.raises(ConfigError) as refused:
        cut("m", corpus="nothing")
    assert for_terminal(str(refused.value)) == "--corpus nothing cannot be read; see --min-heads."
