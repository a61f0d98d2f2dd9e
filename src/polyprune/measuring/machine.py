"""What numbers were measured on."""

import os
import platform
from pathlib import Path

import torch

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")

INSTRUCTIONS = {
    "avx2": "avx2",
    "avx512": "avx512f",
    "vnni": "avx512_vnni",
    "avx-vnni": "avx_vnni",
    "bf16": "avx512_bf16",
    "amx": "amx_tile",
}
"""What makes products fast, as people call it and as /proc/cpuinfo does."""


def machine() -> dict[str, str | int]:
    """The processor and what it can do, memory, threads and where they may run; a GPU if any."""
    found: dict[str, str | int] = {
        "cpu": processor(),
        "instructions": instructions(),
        "memory_bytes": memory_bytes(),
        "threads": torch.get_num_threads(),
        "allowed_cpus": allowed_cpus(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if torch.cuda.is_available():
        found["gpu"] = torch.cuda.get_device_name()
    return found


def processor() -> str:
    """What it calls itself; platform knows only its kind."""
    return _cpuinfo("model name") or platform.processor()


def instructions() -> str:
    """Those of its vector instructions that matter here, such as `avx2 avx512 vnni`."""
    flags = set(_cpuinfo("flags").split())
    return " ".join(name for name, flag in INSTRUCTIONS.items() if flag in flags)


def allowed_cpus() -> str:
    """The numbers of the processors that this process may run on."""
    if not hasattr(os, "sched_getaffinity"):  # others than Linux do not say
        return f"all {os.cpu_count()}"
    return ",".join(map(str, sorted(os.sched_getaffinity(0))))


def memory_bytes() -> int:
    """Of the whole machine; 0 where it does not say."""
    text = MEMINFO.read_text(encoding="utf-8") if MEMINFO.exists() else ""
    found = [line.split()[1] for line in text.splitlines() if line.startswith("MemTotal:")]
    return int(found[0]) * 1024 if found else 0


def _cpuinfo(field: str) -> str:
    """Of its first processor."""
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    lines = [line for line in text.splitlines() if line.startswith(field)]
    return lines[0].partition(":")[2].strip() if lines else ""
