"""What numbers were measured on."""

import platform
from importlib.metadata import version
from pathlib import Path

import torch

CPUINFO = Path("/proc/cpuinfo")
PACKAGES = ("polyprune", "torch", "transformers", "tokenizers")


def machine() -> dict[str, str | int]:
    """The processor, and how many threads of it torch uses."""
    system = f"{platform.system()} {platform.machine()}"
    return {"cpu": processor(), "threads": torch.get_num_threads(), "system": system}


def versions() -> dict[str, str]:
    """Of Python and of what computes."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def processor() -> str:
    """What it calls itself; platform knows only its kind."""
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    names = [line for line in text.splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.processor()
