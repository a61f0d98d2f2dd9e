"""Random shapes, models and gates for property tests.

The strategies draw plain values; `build` and `cut` make models and gates of them. (beartype picks
the items it checks at random, which Hypothesis does not allow while drawing.)
"""

import torch
from hypothesis import strategies as st

from polyprune.model.network.components import Gates, open_gates
from polyprune.model.network.configuration_polyprune import PolypruneConfig
from polyprune.model.network.gated_model import PolyprunePreTrainedModel
from polyprune.model.network.modeling_polyprune import MODELS
from polyprune.model.network.shape import EncoderShape

KINDS = ("binary", "fractional", "open", "closed")


@st.composite
def configs(draw) -> dict:
    """The config of an encoder of any uneven shape, factorized or not, in any wiring."""
    layers = draw(st.integers(1, 3))
    width = draw(st.sampled_from([8, 12]))
    factorized = draw(st.booleans())
    return {
        "family": "xlm-roberta",
        "vocab_size": draw(st.sampled_from([12, 40])),  # 12: folding pays early
        "max_position_embeddings": 14,
        "type_vocab_size": draw(st.integers(0, 2)),
        "hidden_size": width,
        "head_width": draw(st.sampled_from([2, 4])),
        "heads": draw(st.lists(st.integers(0, 4), min_size=layers, max_size=layers)),
        "units": draw(st.lists(st.integers(0, 9), min_size=layers, max_size=layers)),
        "rank": draw(st.integers(1, width)) if factorized else width,
        "factorized": factorized,
        "pre_norm": draw(st.booleans()),
        "padded_positions": draw(st.booleans()),
        "layer_norm_eps": 1e-5,
        "hidden_act": draw(st.sampled_from(["gelu", "relu"])),
        "pad_token_id": 1,
        "initializer_range": 0.3,
    }


@st.composite
def specs(draw, name: str | None = None) -> tuple[str, dict, int]:
    """What a random model is made from; `build` makes it, outside of the drawing."""
    return name or draw(st.sampled_from(sorted(MODELS))), draw(configs()), draw(st.integers(0, 99))


def build(spec: tuple[str, dict, int]) -> PolyprunePreTrainedModel:
    """A random model in evaluation mode, its biases random too."""
    name, config, seed = spec
    torch.manual_seed(seed)
    model = MODELS[name](PolypruneConfig(**config)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 1:
                parameter += 0.3 * torch.randn_like(parameter)
    return model


cuts = st.tuples(
    st.lists(st.sampled_from(KINDS), min_size=7, max_size=7), st.integers(0, 99), st.integers(0, 99)
)
"""How to gate each sublayer of up to three layers and the rank; a seed; a rank to keep."""


def cut(shape: EncoderShape, how: tuple[list[str], int, int], rows: int = 1) -> Gates:
    """Gates of every kind: each sublayer may be kept, thinned, softened or emptied."""
    kinds, seed, kept = how
    torch.manual_seed(seed)
    remaining = iter(kinds)

    def some(ones: torch.Tensor) -> torch.Tensor:
        chosen = (torch.rand_like(ones) > 0.4).float()
        softened = chosen * torch.rand_like(ones)
        by_kind = {"open": ones, "closed": 0 * ones, "binary": chosen, "fractional": softened}
        return by_kind[next(remaining)]

    gates = open_gates(shape, rows).map(some)
    gates.rank[:, kept % shape.rank] = 1.0  # a model without words is refused
    return gates


def tokens_for(shape: EncoderShape, examples: int = 4) -> dict[str, torch.Tensor]:
    """Padded token ids of any shape's vocabulary."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(2, shape.vocab_size, (examples, 7), generator=generator)
    ids[1:, 5:] = 1
    return {"input_ids": ids, "attention_mask": ids.ne(1).long()}
