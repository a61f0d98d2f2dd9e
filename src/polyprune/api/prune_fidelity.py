"""What a pruned model kept of the uncut one, on text that it was not chosen on."""

from dataclasses import replace

from ..progress import Progress
from ..pruning.second_order.refit_text import LINES
from .comparing import bundled_lines, compared, held_out_lines
from .inputs import resolve_scoring_text
from .prune_result import PruneResult
from .requests.prune import PruneRequest


def compare_pruned(result: PruneResult, request: PruneRequest, progress: Progress) -> PruneResult:
    """Return the result with what it kept of the model that was pruned."""
    uncut = result.original
    assert uncut is not None
    if request.compare == 0:
        return result
    if request.corpus is None:
        found = bundled_lines(uncut, result.languages, request.compare)
    else:
        text = resolve_scoring_text(uncut, request)
        if request.language is not None:
            text = replace(text, languages=[request.language])
        # Pairs reach as far as single lines, or further: what is behind them was not read.
        pivot = request.parallel if request.parallel in text.corpus.known() else None
        read = lines_read(result, request, str(text.corpus.folder))
        held_out = held_out_lines(text, request.compare, read, pivot)
        found = None if held_out is None else (text, held_out)
    if found is None:
        return result
    return replace(result, fidelity=compared(uncut, result.model, *found, request.device, progress))


def lines_read(result: PruneResult, request: PruneRequest, corpus: str = "") -> int:
    """How many lines of each language, from the first on, a cut was chosen on."""
    sheet = result.ranker.sheet
    if sheet is None or not result.ranker.criterion.needs_text:
        return 0
    if request.scores is not None:
        return max(sheet.about.examples, default=0) if sheet.about.corpus == corpus else 0
    scored = request.chosen_rounds * request.chosen_sentences
    return scored if result.repair is None else max(scored, LINES)
