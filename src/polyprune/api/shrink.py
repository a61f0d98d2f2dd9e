"""`polyprune.shrink`: cut a model to what its gates keep."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from ..corpora.languages import find_languages
from ..errors import ConfigError
from ..loading.conversion import from_weights
from ..loading.reading import probes_for, scoring_text
from ..loading.stock import to_transformers
from ..model.fidelity import Fidelity
from ..model.files.gates_file import SHARED, load_gates, table_of
from ..model.footprint import footprint_of, weight_bytes
from ..model.history import PruningStep, history_of, write_history
from ..model.network.components import Gates, PerComponent, open_gates
from ..model.network.configuration_polyprune import PolypruneConfig
from ..model.network.gated_model import PolyprunePreTrainedModel
from ..model.surgery.certify import certify
from ..model.surgery.drop_layers import drop_layers
from ..model.surgery.shrink import shrink as cut_by_gates
from ..progress import Progress
from ..provenance.origin import complete_history
from ..provenance.writing import write_stock
from ..pruning.repair import put_back
from ..pruning.second_order.refit import RefitReport
from ..pruning.second_order.refit_text import LINES, refit_on
from ..pruning.selection.audit import Audit, audit
from ..pruning.shrinking import shrink_with_history, with_ranks
from ..reporting.tables.table import Table
from ..storage import atomic_folder, refuse_to_overwrite
from .comparing import bundled_lines, compared, held_out_lines
from .fidelity_table import describe_fidelity
from .inputs import ModelLike, model_name, resolve_corpus, resolve_model
from .requests.shrink import ShrinkRequest
from .result import ModelResult
from .sizes import describe_differences, describe_place, describe_request, size_table
from .verb import verb


@dataclass(frozen=True, slots=True, repr=False)
class ShrinkResult(ModelResult):
    """A smaller model, and how exactly it computes what the gated one does."""

    model: PolyprunePreTrainedModel
    """The smaller model, as polyprune has it."""
    stock: PreTrainedModel | None
    """The same as a model of plain transformers, if that was asked for."""
    audit: Audit
    """Its sizes beside those of the original; of the stock model where there is one."""
    differences: dict[str, float]
    """The largest |gated − shrunk| on a probe in each language."""
    dropped_layers: bool = False
    repair: RefitReport | None = None
    """What a refit did, where that was asked for."""
    fidelity: Fidelity | None = None
    """What is kept of the uncut model, by language; None where nothing was compared."""
    out: Path | None = None

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the folder of the model, or of the stock one, and return its path."""
        with atomic_folder(Path(folder), force=force) as new:
            if self.stock is None:
                self.model.save_pretrained(new, differences=self.differences)
            else:
                write_stock(new, self.stock, self.model.source, self.differences)
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return the sizes before and after, and the differences."""
        names = [
            *("parameters", "parameters_before", "bytes"),
            *("multiply_adds", "multiply_adds_before"),
        ]
        if self.audit.requested_sparsity is not None:
            names += ["requested_sparsity", "gate_sparsity", "encoder_sparsity"]
        sizes = asdict(self.audit)
        return {
            "out": None if self.out is None else str(self.out),
            "fidelity": None if self.fidelity is None else self.fidelity.as_dict(),
            **{name: sizes[name] for name in names},
            "largest_difference": max(self.differences.values()),
            "differences": self.differences,
            **({} if self.repair is None else {"repair": self.repair.as_dict()}),
        }

    def summary(self) -> Iterator[Table | str]:
        """Yield what was kept of the uncut model, sizes before and after, and how exact it is."""
        yield from describe_fidelity(self.fidelity)
        yield size_table(self.audit)
        if self.audit.requested_sparsity is not None:
            yield describe_request(self.audit)
        yield describe_differences(self.differences)
        if self.repair is not None:
            yield str(self.repair)
        yield from describe_place(self.out)
        if self.dropped_layers:
            yield "Dropped layers change what a model computes: this compares the kept ones."


@verb(ShrinkRequest, second="gates")
def shrink(model: ModelLike, request: ShrinkRequest, progress: Progress) -> Any:
    """Cut a model to what its gates keep: by gates, to a size of an elastic model, or by layers.

    `shrink(model, gates)`, with gates and nothing else, is the bare operation: it returns the
    smaller model itself, which computes what the gated one does, and measures nothing. With any
    option it returns a `ShrinkResult`.
    """
    if request.is_bare and not isinstance(model, str | Path | ModelResult):
        return cut_by_gates(model, request.gates)
    if request.out is not None:  # before anything is loaded, not only when it is written
        refuse_to_overwrite(Path(request.out), force=request.force)
    original = resolve_model(model)
    large, gates = _selected(original, model_name(model), request)
    result = _shrunk(original, large, gates, request, progress)
    result = replace(result, fidelity=_compared(original, result.model, request, progress))
    if request.out is None:
        return result
    return replace(result, out=result.save(request.out, force=request.force))


def _selected(
    original: PolyprunePreTrainedModel, name: str, request: ShrinkRequest
) -> tuple[PolyprunePreTrainedModel, Gates]:
    """Return the model to cut and its gates; raise if the request does not suit the model."""
    if request.gates is None and original.elastic is not None:
        if request.layers is not None:
            raise ConfigError("`layers` does not go with an elastic folder: take out a size first.")
        sparsity = None if request.sparsity is None else float(request.sparsity)
        return original, original.elastic.gates(sparsity, _names(request), request.combine)
    if request.sparsity is not None:
        raise ConfigError(f"{name} is not elastic: make smaller ones of it with polyprune prune.")
    if request.gates is None and request.layers is None and not request.stock:
        raise ConfigError("Nothing to cut: give `gates`, `layers` or `stock`.")
    if request.language and request.gates is None:
        row = f"`language={request.language!r}`"
        raise ConfigError(f"{row} picks a row of a gates file: give `gates` too.")
    return _gated(_keep_layers(original, request), request)


def _gated(
    model: PolyprunePreTrainedModel, request: ShrinkRequest
) -> tuple[PolyprunePreTrainedModel, Gates]:
    """Return a model whose ranks a request's gates are for, and one row of these gates."""
    if request.gates is None:
        return model, open_gates(model.shape)
    if isinstance(request.gates, PerComponent):
        gates, which = request.gates, "These gates have"
    else:
        path, which = Path(request.gates), f"{request.gates} has"
        model = with_ranks(model, table_of(path))
        gates = load_gates(path, model.shape, request.language)
    if len(gates.rank) > 1:
        raise ConfigError(f"{which} {len(gates.rank)} rows. Choose one with `language`.")
    return model, gates


def _keep_layers(
    model: PolyprunePreTrainedModel, request: ShrinkRequest
) -> PolyprunePreTrainedModel:
    """Return the model with only the layers that a request names, if it names any."""
    if request.layers is None:
        return model
    layers = [int(layer) for layer in request.layers]
    try:
        return drop_layers(model, layers)
    except ValueError as error:
        raise ConfigError(f"`layers={','.join(map(str, layers))!r}`: {error}") from error


def _shrunk(
    original: PolyprunePreTrainedModel,
    large: PolyprunePreTrainedModel,
    gates: Gates,
    request: ShrinkRequest,
    progress: Progress,
) -> ShrinkResult:
    """Return the smaller model, compared with the gated one in every language."""
    languages = None if request.languages is None else list(request.languages)
    repair = None
    probes = probes_for(large, languages)
    step = PruningStep(languages=_gates_languages(original, request), command=request.command)
    try:
        small = shrink_with_history(large, gates, step)
    except ValueError as error:
        raise ConfigError(f"These gates cannot be cut: {error}") from error
    if request.repair is not None:
        text = scoring_text(large, resolve_corpus(request.repair), languages)
        repair = refit_on(text, large, progress).solve(small)
        large = put_back(large, small, gates)
        if repair.helped:
            history = history_of(small.config)
            *before, last = history.cuts
            cuts = (*before, replace(last, made_up="refit"))
            write_history(small.config, replace(history, cuts=cuts))
    stock = None
    if request.stock:
        complete_history(small)  # which the card is written from
        stock = to_transformers(small, pad=request.pad)
    sizes = audit(large, gates, sparsity=request.sparsity)  # pyright: ignore[reportArgumentType]
    config = small.config if stock is None else _stock_config(stock, small)
    return ShrinkResult(
        model=small,
        stock=stock,
        audit=_with_sizes(sizes, original, config),
        differences=certify(large, gates, small if stock is None else stock, probes),
        dropped_layers=small.shape.layers < original.shape.layers,
        repair=repair,
    )


def _compared(
    original: PolyprunePreTrainedModel,
    small: PolyprunePreTrainedModel,
    request: ShrinkRequest,
    progress: Progress,
) -> Fidelity | None:
    """What a smaller model kept of the one that was given, in the languages that it is for."""
    names = _gates_languages(original, request) or tuple(request.languages or ())
    given = request.repair if request.corpus is None else request.corpus
    if given is None:
        found = bundled_lines(original, names, request.compare)
    else:
        text = scoring_text(original, resolve_corpus(given), names or None)
        read = LINES if request.repair is not None and given == request.repair else 0
        held_out = held_out_lines(text, request.compare, read)
        found = None if held_out is None else (text, held_out)
    return None if found is None else compared(original, small, *found, progress=progress)


def _with_sizes(sizes: Audit, original: PolyprunePreTrainedModel, config: PolypruneConfig) -> Audit:
    """Return an audit of what is written, beside the model that was given, all its layers."""
    readout = original.readout_kind
    before, after = footprint_of(original.config, readout), footprint_of(config, readout)
    return replace(
        sizes,
        parameters=after.parameters,
        parameters_before=before.parameters,
        bytes=weight_bytes(config, after),
        bytes_before=weight_bytes(original.config, before),
        multiply_adds=after.multiply_adds,
        multiply_adds_before=before.multiply_adds,
    )


def _stock_config(stock: PreTrainedModel, small: PolyprunePreTrainedModel) -> PolypruneConfig:
    """Return what polyprune would read of a stock model, whose layers may have been padded."""
    shapes = {name: tensor.to("meta") for name, tensor in stock.state_dict().items()}
    return from_weights(stock.config, shapes, small.source.folder or Path("?")).config


def _names(request: ShrinkRequest) -> list[str] | None:
    """Return the languages that a size is taken out for; None for all."""
    if request.language is not None:
        return [request.language]
    return None if request.languages is None else list(request.languages)


def _gates_languages(original: PolyprunePreTrainedModel, request: ShrinkRequest) -> tuple[str, ...]:
    """Return the languages whose gates are cut by; none where all share them."""
    if request.gates is None and original.elastic is not None:
        rows, names = original.elastic.rows, _names(request)
        if rows == (SHARED,):
            return ()
        return rows if names is None else tuple(find_languages(names, rows, "this checkpoint"))
    return () if request.language is None else (request.language,)
