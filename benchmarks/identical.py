"""Whether two commits compute the same, to the bit: scores, gates, pruned weights, training.

    python benchmarks/identical.py --before b512c07

Runs the same commands of sprout with the code of that commit and with the code that is here, one
thread each, and compares a hash of every tensor that they wrote. Takes about ten minutes.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from safetensors import safe_open

SCORES = "prune sprout --scores scores.safetensors"
COMMANDS = (
    "score sprout --corpus sample --sentences 40 --out scores.safetensors",
    "score sprout --corpus sample --sentences 20 --per token --out token.safetensors",
    f"{SCORES} --sparsity 0.5 --gates half-gates.safetensors --out half",
    f"{SCORES} --rule paper --sparsity 0.7 --exact --out exact",
    f"{SCORES} --parameters 3M --out parameters",
    f"{SCORES} --sparsity 0.5 --setting non-shared --language sw --out sw",
    f"{SCORES} --setting non-shared --out elastic",
    "prune sprout --scores token.safetensors --rule michel --sparsity 0.3 --out michel",
    "prune sprout --method magnitude --sparsity 0.5 --out magnitude",
    "prune sprout --method random --seed 3 --sparsity 0.5 --out random",
    "shrink elastic --sparsity 0.6 --languages sw,ur --out sw-ur",
    "prune sprout --corpus sample --sentences 20 --sparsity 0.5 --recover 20 --out recovered",
    "train {root}/configs/miniature/l0-non-shared.toml --steps 40 --out l0",
    "train {root}/configs/miniature/l0-non-shared-ds.toml --steps 20 --out l0-ds",
    "train {root}/configs/miniature/grad-shared.toml --steps 20 --out grad",
    "demo --data-only --out tasks",
    "finetune half --task xnli --data tasks --limit 64 --epochs 1 --out half-xnli",
    "finetune elastic --task pos --data tasks --limit 64 --epochs 1 --out elastic-pos",
)


def run_all(root: Path, work: Path) -> None:
    """Carry out every command in `work` with the code in `root`."""
    work.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"}
    for line in COMMANDS:
        words = line.format(root=root).split()
        print(f"{work.name}: polyprune {line}", file=sys.stderr, flush=True)
        subprocess.run(
            [sys.executable, "-m", "polyprune", *words],
            cwd=work,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )


def hashes(work: Path) -> dict[str, str]:
    """A hash of every tensor in the safetensors files of models, scores and gates."""
    found = {}
    for path in sorted(work.rglob("*.safetensors")):
        if any(part.startswith("checkpoint") for part in path.relative_to(work).parts):
            continue
        with safe_open(path, framework="pt") as file:
            for name in sorted(file.keys()):
                tensor = file.get_tensor(name).contiguous()
                data = tensor.flatten().view(-1).numpy().tobytes()
                key = f"{path.relative_to(work)}:{name}"
                found[key] = hashlib.sha256(data).hexdigest()
    return found


def main() -> None:
    """Run both, compare, say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default="b512c07", help="the commit to compare with")
    parser.add_argument("--work", type=Path, help="where to keep the results; else a new folder")
    asked = parser.parse_args()
    here = Path(__file__).resolve().parents[1]
    work = asked.work or Path(tempfile.mkdtemp(prefix="identical-"))
    before = work / "code"
    if not before.exists():
        command = ["git", "worktree", "add", "-f", "--detach", str(before), asked.before]
        subprocess.run(command, cwd=here, check=True)
    for name, root in (("before", before), ("after", here)):
        if not (work / f"{name}.json").exists():
            run_all(root, work / name)
            (work / f"{name}.json").write_text(json.dumps(hashes(work / name), indent=1))
    old, new = (json.loads((work / f"{name}.json").read_text()) for name in ("before", "after"))
    differ = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    for key in differ:
        print(f"differs: {key}")
    print(f"{len(old)} tensors before, {len(new)} after, {len(differ)} differ.")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
