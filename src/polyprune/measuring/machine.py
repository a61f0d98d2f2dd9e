"""A description of the machine that numbers were measured on."""

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
"""Vector instructions: their usual names, and their flags in /proc/cpuinfo."""


def machine() -> dict[str, str | int]:
    """Describe the machine: processor, instructions, memory, threads, allowed cores, GPU."""
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
    """Return the processor's name."""
    return _cpuinfo("model name") or platform.processor()


def instructions() -> str:
    """Return the relevant vector instructions, such as `avx2 avx512 vnni`."""
    flags = set(_cpuinfo("flags").split())
    return " ".join(name for name, flag in INSTRUCTIONS.items() if flag in flags)


def allowed_cpus() -> str:
    """Return the numbers of the cores that this process may run on."""
    if not hasattr(os, "sched_getaffinity"):  # others than Linux do not say
        return f"all {os.cpu_count()}"
    return ",".join(map(str, sorted(os.sched_getaffinity(0))))


def memory_bytes() -> int:
    """Return the machine's memory; 0 if it is unknown."""
    text = MEMINFO.read_text(encoding="utf-8") if MEMINFO.exists() else ""
    found = [line.split()[1] for line in text.splitlines() if line.startswith("MemTotal:")]
    return int(found[0]) * 1024 if found else 0


def _cpuinfo(field: str) -> str:
    """Return a field of the first processor in /proc/cpuinfo."""
    text = CPUINFO.read_text(encoding="utf-8") if CPUINFO.exists() else ""
    lines = [line for line in text.splitlines() if line.startswith(field)]
    return lines[0].partition(":")[2].strip() if lines else ""
