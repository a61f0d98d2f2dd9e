"""What numbers were measured on."""

import torch

from polyprune.measuring import machine as module
from polyprune.measuring.machine import machine


def test_the_machine_is_written_down(tmp_path, monkeypatch):
    (tmp_path / "cpuinfo").write_text(
        "processor\t: 0\nmodel name\t: Some Chip 9000\nflags\t\t: fpu avx2 avx512f avx512_vnni\n"
    )
    (tmp_path / "meminfo").write_text("MemTotal:       2048 kB\nMemFree: 1 kB\n")
    monkeypatch.setattr(module, "CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(module, "MEMINFO", tmp_path / "meminfo")
    found = machine()
    assert found["cpu"] == "Some Chip 9000"
    assert found["instructions"] == "avx2 avx512 vnni"
    assert found["memory_bytes"] == 2048 * 1024
    assert found["threads"] == torch.get_num_threads()
    assert found["torch"] == torch.__version__
    assert found["allowed_cpus"]


def test_a_machine_that_says_nothing_is_written_down_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CPUINFO", tmp_path / "nowhere")
    monkeypatch.setattr(module, "MEMINFO", tmp_path / "nowhere")
    assert machine()["instructions"] == ""
    assert machine()["memory_bytes"] == 0
