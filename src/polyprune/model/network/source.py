"""How a sentence encoder is meant to be used: what sentence-transformers wrote beside it."""

import json
from pathlib import Path
from typing import Any


def pooling_of(folder: str | Path | None) -> str:
    """`first` where the first token stands for the sentence (LaBSE, bge-m3), else `mean`."""
    config = _read(Path(folder or "?") / "1_Pooling" / "config.json")
    first = config.get("pooling_mode_cls_token") or config.get("pooling_mode") == "cls"
    return "first" if first else "mean"


def prompt_of(folder: str | Path | None) -> str:
    """What a sentence should begin with, such as e5's `query: `; mostly nothing."""
    config = _read(Path(folder or "?") / "config_sentence_transformers.json")
    prompts = config.get("prompts")
    if not isinstance(prompts, dict):
        return ""
    return str(prompts.get(str(config.get("default_prompt_name") or "query")) or "")


def beyond_pooling(folder: str | Path | None) -> str | None:
    """What happens to a sentence beyond mean or first-token pooling, such as LaBSE's `Dense`."""
    folder = Path(folder or "?")
    modules = _read(folder / "modules.json", list)
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules]
    pooling = _read(folder / "1_Pooling" / "config.json")
    modes = [
        name for name, on in pooling.items() if name.startswith("pooling_mode_") and on is True
    ]
    known = {
        *("Transformer", "Pooling", "Normalize"),
        *("pooling_mode_mean_tokens", "pooling_mode_cls_token"),
    }
    return next((name for name in (*kinds, *modes) if name not in known), None)


def _read(path: Path, kind: type[Any] = dict) -> Any:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return kind()  # no sentence-transformers model, or none that it could load
    return config if isinstance(config, kind) else kind()
