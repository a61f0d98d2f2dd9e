"""A saved model simply reloads: in a new process, without polyprune, in sentence-transformers."""

import json
import os
import site
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from huggingface_hub import ModelCard
from safetensors.torch import load_file, save_file

import polyprune as pp
from polyprune.model.network.folder import read_certificate
from polyprune.training.session import checkpoint_activations
from support.models import AUTO, batch, tiny_model

INPUTS = batch("xlm-roberta")

RELOAD = """
import json, sys, torch, transformers
{first}
torch.set_num_threads(1)  # as in the tests, so that sums are taken in the same order
inputs = dict(torch.load(sys.argv[1], weights_only=True))
for auto, folder in json.loads(sys.argv[2]).items():
    model = getattr(transformers, auto).from_pretrained(folder, trust_remote_code={trust})
    with torch.no_grad():
        outputs = model(**inputs).to_tuple()
    torch.save(outputs, folder + "/outputs.pt")
    model.save_pretrained(folder + "/again")
print(type(model).__module__)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """One uneven, factorized model of each readout, saved, with its outputs."""
    root = tmp_path_factory.mktemp("saved")
    torch.save(INPUTS, root / "inputs.pt")
    models = {}
    for readout, auto in AUTO.items():
        tiny_model("xlm-roberta", readout).save_pretrained(root / "dense" / readout)
        model = pp.load(root / "dense" / readout)
        small = pp.shrink(model, uneven(model.shape))
        small.save_pretrained(root / readout)
        models[auto] = (root / readout, small)
    return root, models


def uneven(shape):
    gates = pp.open_gates(shape)
    gates.heads[0][:, 1:] = 0
    gates.heads[1].zero_()
    gates.units[0][:, ::3] = 0
    gates.units[1][:, 5:] = 0.5
    gates.rank[:, 7:] = 0
    return gates


def reload(root, models, *, first="", trust=False, python=(sys.executable,)):
    folders = json.dumps({auto: str(folder) for auto, (folder, _) in models.items()})
    script = RELOAD.format(first=first, trust=trust)
    run = subprocess.run(
        [*python, "-c", script, str(root / "inputs.pt"), folders],
        capture_output=True, text=True, env=os.environ | {"HF_HOME": str(root / "hf")},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    for folder, small in models.values():
        with torch.no_grad():
            expected = small(**INPUTS).to_tuple()
        outputs = torch.load(folder / "outputs.pt", weights_only=True)
        torch.testing.assert_close(outputs, expected, rtol=0, atol=0)
        (folder / "outputs.pt").unlink()
    return run.stdout.strip()


@pytest.mark.slow
def test_with_polyprune_imported_the_auto_classes_load_it(saved):
    module = reload(*saved, first="import polyprune")
    assert module == "polyprune.model.network.modeling_polyprune"


@pytest.mark.slow
def test_polyprune_may_be_imported_before_transformers(saved, tmp_path):
    script = (
        "import polyprune, sys; assert 'torch' not in sys.modules;"
        "import transformers; transformers.AutoConfig.from_pretrained(sys.argv[1])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, saved[0] / "masked-lm"], capture_output=True
    )
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def python_without_polyprune(tmp_path_factory):
    """An interpreter with all installed packages but polyprune and jaxtyping."""
    farm = tmp_path_factory.mktemp("packages")
    for entry in Path(site.getsitepackages()[0]).iterdir():
        absent = entry.name.startswith(("polyprune", "__editable__", "jaxtyping"))
        if not absent and entry.suffix != ".pth":
            (farm / entry.name).symlink_to(entry)
    (farm / "sitecustomize.py").write_text("")
    return ["env", f"PYTHONPATH={farm}", sys.executable, "-S"]


@pytest.fixture(scope="module")
def remote(saved, python_without_polyprune) -> str:
    """Where the code came from when all folders were loaded, and saved again, by their own."""
    return reload(*saved, trust=True, python=python_without_polyprune)


@pytest.mark.slow
def test_without_polyprune_remote_code_loads_it(remote, python_without_polyprune):
    for missing in ("polyprune", "jaxtyping"):
        run = subprocess.run(
            [*python_without_polyprune, "-c", f"import {missing}"], capture_output=True
        )
        assert b"ModuleNotFoundError" in run.stderr
    assert remote.startswith("transformers_modules.")


@pytest.mark.slow
def test_what_remote_code_saved_again_loads_with_polyprune(saved, remote):
    for folder, small in saved[1].values():
        again = pp.load(folder / "again")
        torch.testing.assert_close(
            again(**INPUTS).to_tuple(), small(**INPUTS).to_tuple(), rtol=0, atol=0
        )


def test_the_encoder_of_any_readout_loads_alone(saved):
    import transformers

    for folder, small in saved[1].values():
        encoder = transformers.AutoModel.from_pretrained(folder)
        expected = small.encoder(
            INPUTS["input_ids"], INPUTS["attention_mask"].bool(), INPUTS["token_type_ids"]
        )
        torch.testing.assert_close(encoder(**INPUTS).last_hidden_state, expected, rtol=0, atol=0)


def test_shards_and_dtype_work(saved, tmp_path):
    folder, small = saved[1]["AutoModelForMaskedLM"]
    small.save_pretrained(tmp_path / "shards", max_shard_size="4KB")
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 1
    torch.testing.assert_close(
        pp.load(tmp_path / "shards")(**INPUTS).logits, small(**INPUTS).logits, rtol=0, atol=0
    )
    import transformers

    half = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.bfloat16)
    assert half.dtype == torch.bfloat16 == half(**INPUTS).logits.dtype
    assert pp.load(folder, dtype=torch.float16).dtype == torch.float16


def test_one_file_replaces_the_shards_of_an_earlier_save(saved, tmp_path):
    _, small = saved[1]["AutoModel"]
    small.save_pretrained(tmp_path / "out", max_shard_size="4KB")
    small.save_pretrained(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").glob("*.safetensors*")] == [
        "model.safetensors"
    ]


def test_a_folder_without_a_tokenizer_has_everything_else(saved):
    folder, _ = saved[1]["AutoModel"]
    assert {"config.json", "model.safetensors", "certificate.json", "modeling_polyprune.py"} <= {
        path.name for path in folder.iterdir()
    }
    assert (folder / "model.safetensors").stat().st_mode == (folder / "config.json").stat().st_mode
    assert "model.safetensors" in read_certificate(folder)["sha256"]


def test_side_files_are_carried_along(tmp_path):
    tiny_model("bert", "hidden-states").save_pretrained(tmp_path / "dense")
    for name, text in {
        "tokenizer.json": "{}",
        "LICENSE": "MIT",
        "modules.json": '[{"path": ""}, {"path": "1_Pooling"}]',
        "1_Pooling/config.json": "{}",
        "pytorch_model.bin": "no",
        "notes.txt": "no",
    }.items():
        (tmp_path / "dense" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "dense" / name).write_text(text)
    pp.load(tmp_path / "dense").save_pretrained(tmp_path / "out")
    out = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*")}
    assert {"tokenizer.json", "LICENSE", "modules.json", "1_Pooling/config.json"} <= out
    assert not {"pytorch_model.bin", "notes.txt"} & out


def test_push_to_hub_uploads_the_whole_folder(saved, monkeypatch):
    """Everything up to the upload is transformers' own; the network is not part of the test."""
    _, small = saved[1]["AutoModel"]
    uploaded = []

    def upload(self, working_dir, *args, **kwargs):
        uploaded.extend(path.name for path in Path(working_dir).iterdir())

    card = ModelCard("---\nlicense: mit\n---\n# small")
    monkeypatch.setattr(
        "huggingface_hub.HfApi.create_repo", lambda *a, **k: SimpleNamespace(repo_id="me/small")
    )
    monkeypatch.setattr("transformers.utils.hub.create_and_tag_model_card", lambda *a, **k: card)
    monkeypatch.setattr(type(small), "_upload_modified_files", upload)
    small.push_to_hub("me/small")
    expected = {"config.json", "model.safetensors", "modeling_polyprune.py", "certificate.json"}
    assert expected <= set(uploaded)


@pytest.mark.parametrize("already_cut", [True, False], ids=["cut weights", "full weights"])
def test_old_pruned_heads_are_honoured(already_cut, tmp_path):
    """transformers 4 cut these heads out of the weights; 5 keeps the list, and the heads."""
    theirs = tiny_model("xlm-roberta", "hidden-states", num_attention_heads=4)
    theirs.save_pretrained(tmp_path)
    dense = pp.load(tmp_path)
    gates = pp.open_gates(dense.shape)
    gates.heads[0][:, [1, 2]] = 0
    gates.heads[1][:, 0] = 0
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"pruned_heads": {"0": [1, 2], "1": [0]}})
    )
    if already_cut:
        weights = load_file(tmp_path / "model.safetensors")
        for layer, kept in ((0, [0, 3]), (1, [1, 2, 3])):
            rows = torch.cat([torch.arange(6) + 6 * head for head in kept])
            prefix = f"encoder.layer.{layer}.attention"
            for name in ("query", "key", "value"):
                for parameter in ("weight", "bias"):
                    key = f"{prefix}.self.{name}.{parameter}"
                    weights[key] = weights[key][rows].contiguous()
            key = f"{prefix}.output.dense.weight"
            weights[key] = weights[key][:, rows].contiguous()
        save_file(weights, tmp_path / "model.safetensors")
    model = pp.load(tmp_path)
    assert model.shape.heads == (2, 3)
    torch.testing.assert_close(
        model(**INPUTS).last_hidden_state, dense(**INPUTS, gates=gates).last_hidden_state
    )


def test_gradient_checkpointing_gives_the_same_gradients(saved):
    folder, _ = saved[1]["AutoModelForMaskedLM"]
    gradients = []
    for checkpointing in (False, True):
        model = pp.load(folder).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        for layer in model.encoder.layers:
            layer.attention.dropout = 0.0
        if checkpointing:
            checkpoint_activations(model)
        gates = pp.open_gates(model.shape).map(torch.Tensor.requires_grad_)
        model(**INPUTS, gates=gates, labels=INPUTS["input_ids"]).loss.backward()
        gradients.append([*(p.grad for p in model.parameters()), *(g.grad for g in gates.leaves())])
    torch.testing.assert_close(*gradients)
