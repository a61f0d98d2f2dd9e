"""What numbers were measured on."""

import platform
from pathlib import Path

import torch

CPUINFO = Path("/proc/cpuinfo")


def machine() -> dict[str, str | int]:
    """The processor, and how many threads of it torch uses."""
    system = f"{platform.system()} {platform.machine()}"
    python = platform.python_version()
    threads = torch.get_num_threads()
    return {"cpu": processor(), "threads": threads, "system": system, "python": python}


def processor() -> str:
    """What it calls itself; platform knows only its kind."""
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    names = [line for line in text.splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.processor()
