"""All figures that can be drawn of what is there."""

from .figures.figure import Figure
from .figures.languages import distances, held_out_loss
from .figures.layers import component_sparsity, layer_sparsity, layers_by_sparsity
from .figures.quality import by_sparsity, loss_by_corpus_size, quality_by_speed
from .figures.visibility import drop_empty_panels
from .results import Results


def figures(results: Results) -> list[Figure]:
    """Those of the paper and quality against speed, without panels that would be empty."""
    found = [
        loss_by_corpus_size(results),
        layer_sparsity(results),
        by_sparsity(results),
        component_sparsity(results),
        layers_by_sparsity(results),
        *distances(results),
        held_out_loss(results),
        quality_by_speed(results),
    ]
    return [figure for each in found if each and (figure := drop_empty_panels(each))]
