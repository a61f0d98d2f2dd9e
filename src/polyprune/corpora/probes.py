"""Two sentences in each of the fifteen XNLI languages, to compare two models on."""

import json
from collections.abc import Sequence
from importlib.resources import files

from .languages import language


def probe_texts(languages: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Return the probe sentences of these languages, as far as there are any, or of all."""
    texts: dict[str, list[str]] = json.loads(
        files("polyprune.corpora").joinpath("probes.json").read_text(encoding="utf-8")
    )
    if languages is None:
        return texts
    codes = [language(code).code for code in languages]
    return {code: texts[code] for code in codes if code in texts}
