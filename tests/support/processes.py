"""What tests run in processes of their own."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.fsdp import fully_shard

import polyprune as pp
from polyprune.training.checkpoints import (
    WHOLE,
    Checkpoint,
    load_optimizer,
    read_checkpoint,
    save_checkpoint,
)
from polyprune.training.objectives import Objective
from polyprune.training.optimizer import make_optimizer
from polyprune.training.phases import Phase
from polyprune.training.run_sections import EngineConfig
from polyprune.training.training_module import TrainingModule
from support.runs import tiny_run, train

Launcher = Callable[[int], tuple[str, ...]]
"""Returns what to put between `python` and `-m polyprune` to have it in several processes."""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def torchrun(processes: int) -> tuple[str, ...]:
    """Processes launched by torch."""
    name = "torch.distributed.run"
    return "-m", name, "--nproc-per-node", str(processes), "--master-port", str(free_port())


def accelerate(processes: int, *kind: str) -> tuple[str, ...]:
    """Processes launched by Accelerate, where several are `--multi_gpu` on any device."""
    many = "--num_processes", str(processes), "--num_machines", "1"
    port = "--main_process_port", str(free_port())
    return "-m", "accelerate.commands.launch", *(kind or ("--multi_gpu",)), *many, *port


def work(start: Path, text: Path, out: Path) -> None:
    """A run as a process of its own."""
    torch.set_num_threads(1)
    saving = {"every": 7, "held_out_every": 50, "trackers": ["tensorboard"]}
    phases = [{"steps": 1500, "learning_rate": 0.002}]
    for _ in train(tiny_run(start, text, saving=saving, phases=phases), out):
        pass


def sharded(rank: int, folder: Path, out: Path, port: int) -> None:
    """Two steps, a checkpoint, and a third; then that step again, from the checkpoint."""
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    phase, engine = Phase(3), EngineConfig()
    ids = torch.randint(5, 60, (4, 9), generator=torch.Generator().manual_seed(rank))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}

    def begin(checkpoint: Checkpoint | None):
        system = TrainingModule(pp.load(folder), Objective(mlm=1.0)).eval()
        if checkpoint is not None:
            system.load_state_dict(checkpoint.tensors("system"))
        for layer in system.model.encoder.layers:
            fully_shard(layer)
        fully_shard(system)
        optimizer = make_optimizer(system, phase, engine)
        if checkpoint is not None:
            load_optimizer(checkpoint, system, optimizer)
        return system, optimizer

    def step(system, optimizer) -> float:
        loss = system(batch)["mlm"]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    system, optimizer = begin(None)
    first = [step(system, optimizer) for _ in range(2)]
    path = save_checkpoint(out, system, optimizer, {"step": 2, "best": None}, main=rank == 0)
    third = [step(system, optimizer), step(system, optimizer)]
    dist.barrier()
    again = begin(read_checkpoint(path))
    assert [step(*again), step(*again)] == third != first
    whole = get_model_state_dict(again[0], options=WHOLE)
    assert rank or whole["model.encoder.embedding.words.weight"].shape == (60, 24)
    dist.barrier()
    dist.destroy_process_group()
    # All that is tested is done. Python's own end is no part of it: a thread of torch that still
    # lets go of a tensor then waits for an interpreter that is gone, and the process aborts.
    os._exit(0)
