"""The real size: XLM-R base's shape and vocabulary, random weights, real text."""

import json
import re
import shutil
import subprocess
import sys

import pytest
import torch
from transformers import AutoModelForMaskedLM, XLMRobertaConfig, XLMRobertaForMaskedLM

import polyprune as pp
from support.paths import SHARED

TEXT = SHARED / "data" / "corpus"
TOKENIZER = SHARED / "data" / "xlmr-tokenizer" / "tokenizer.json"

# The most memory that the command ever held; getrusage would count its parent's too.
RUN = (
    "import sys\nfrom pathlib import Path\nfrom polyprune.cli import main\n"
    "try:\n    main()\nfinally:\n"
    "    print(Path('/proc/self/status').read_text(), file=sys.stderr)"
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    if not TOKENIZER.is_file():
        pytest.skip(f"needs real text and XLM-R's tokenizer in {SHARED.name}/data")
    folder = tmp_path_factory.mktemp("base")
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=250_002, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5
    )
    XLMRobertaForMaskedLM(config).save_pretrained(folder / "dense")
    shutil.copy(TOKENIZER, folder / "dense")
    named = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
    settings = {f"{role}_token": token for role, token in named.items()}
    settings |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
    (folder / "dense" / "tokenizer_config.json").write_text(json.dumps(settings))
    yield folder
    shutil.rmtree(folder)  # gigabytes


def run(*arguments) -> tuple[dict, float]:
    """The answer of a command, and the most memory that it held, in GB."""
    command = [sys.executable, "-c", RUN, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", done.stderr)[1]) * 1024 / 1e9
    return json.loads(done.stdout), peak


@pytest.mark.slow
def test_xlm_r_base_is_scored_and_pruned_to_the_parameter(base):
    scores = base / "scores.safetensors"
    about, peak = run(
        "score", base / "dense", "--corpus", TEXT, "--languages", "en,sw,ru,zh",
        "--sentences", 4, "--out", scores,
    )  # fmt: skip
    assert about["languages"] == ["en", "sw", "ru", "zh-Hans"]
    assert about["examples"] == [4] * 4
    assert peak < 6
    sizes = []
    for sparsity in (0.1, 0.5, 0.9):
        out = base / f"pruned-{sparsity}"
        answer, peak = run(
            "prune", base / "dense", "--scores", scores, "--sparsity", sparsity, "--out", out
        )
        assert peak < 6
        assert sparsity <= answer["gate_sparsity"] + 1e-9 < sparsity + 256 / 111_360
        assert answer["largest_difference"] < 1e-3
        small = AutoModelForMaskedLM.from_pretrained(out)
        assert small.num_parameters() == answer["parameters"]
        assert pp.footprint(small.shape).multiply_adds == answer["multiply_adds"]
        assert (out / "model.safetensors").stat().st_size >= answer["bytes"]
        sizes.append(answer["parameters"])
        shutil.rmtree(out)
    assert sizes == sorted(sizes, reverse=True)
