"""What models in memory are called in tables and messages."""

from ..errors import PolypruneError
from ..model.history import history_of
from ..model.network.gated_model import PolyprunePreTrainedModel
from .hub import read_shape


def name_in_memory(model: PolyprunePreTrainedModel) -> str:
    """The folder that a model was loaded from, and what was done to it since: sprout, 50% cut."""
    folder = model.source.folder
    if folder is None:
        return "the model"
    done = history_of(model.config)
    try:
        before = history_of(read_shape(folder)[0])
    except (OSError, PolypruneError):  # a folder that has gone
        return folder.name
    steps = []
    cuts = done.cuts[len(before.cuts) :]
    if cuts:
        sparsity = cuts[-1].sparsity
        steps.append("every size" if sparsity is None else f"{sparsity:.0%} cut")
    if len(done.trainings) > len(before.trainings):
        steps.append("trained")
    return ", ".join([folder.name, *steps]) if steps else str(folder)
