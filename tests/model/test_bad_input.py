"""Whatever is wrong with a model is told in one sentence that says what to do."""

import json
import shutil

import pytest
import torch
from conftest import tiny_model
from safetensors.torch import load_file, save_file

import polyprune as pp
from polyprune.errors import CheckpointError, ConfigError, PolypruneError, UnknownName
from polyprune.storage import whole_file, whole_folder


@pytest.fixture
def folder(tmp_path):
    """A dense transformers folder."""
    tiny_model("xlm-roberta").save_pretrained(tmp_path / "dense")
    return tmp_path / "dense"


@pytest.fixture
def small(folder):
    """A folder that polyprune saved."""
    pp.load(folder).save_pretrained(folder.parent / "small")
    return folder.parent / "small"


def edit_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(CheckpointError, match="There is no folder"):
        pp.load(tmp_path / "nowhere")


def test_a_folder_without_config(tmp_path):
    with pytest.raises(CheckpointError, match=r"has no config\.json\. A model folder is what"):
        pp.load(tmp_path)


def test_a_config_that_is_not_json(folder):
    (folder / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match="is not valid JSON"):
        pp.load(folder)


def test_an_unsupported_family_names_the_nearest_and_all_others(folder):
    edit_config(folder, model_type="xlm-roberta-xxl")
    with pytest.raises(
        UnknownName, match=r"Did you mean 'xlm-roberta-xl'\? Supported: xlm-roberta, "
    ):
        pp.load(folder)


def test_a_family_that_is_like_no_other(folder):
    edit_config(folder, model_type="t5")
    with pytest.raises(UnknownName, match=r"Unknown model family 't5'\. Supported: xlm-roberta"):
        pp.load(folder)


def test_a_decoder(folder):
    edit_config(folder, is_decoder=True)
    with pytest.raises(CheckpointError, match="polyprune prunes encoders"):
        pp.load(folder)


def test_relative_positions(tmp_path):
    tiny_model("bert").save_pretrained(tmp_path)
    edit_config(tmp_path, position_embedding_type="relative_key")
    with pytest.raises(CheckpointError, match="has relative_key positions"):
        pp.load(tmp_path)


def test_an_unknown_activation(folder):
    edit_config(folder, hidden_act="mish")
    with pytest.raises(CheckpointError, match="has activation 'mish'; known are gelu"):
        pp.load(folder)


@pytest.mark.parametrize("size", [4, 200, 20_000], ids=["no header", "half a header", "half"])
def test_truncated_weights(folder, size):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:size])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged or truncated"):
        pp.load(folder)


def test_truncated_weights_of_our_own_without_verification(small):
    weights = small / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:20_000])
    with pytest.raises(CheckpointError, match="do not load"):
        pp.load(small, verify=False)


def test_tampered_weights_are_named(small):
    weights = small / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(
        CheckpointError, match=r"model\.safetensors in .* does not match certificate"
    ):
        pp.load(small)
    assert pp.load(small, verify=False).shape.layers == 2


def test_missing_weights(folder):
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"lacks model\.safetensors"):
        pp.load(folder)


def test_a_missing_shard_is_named(tmp_path):
    tiny_model("xlm-roberta").save_pretrained(tmp_path, max_shard_size="4KB")
    first = sorted(tmp_path.glob("model-*.safetensors"))[0]
    first.unlink()
    with pytest.raises(CheckpointError, match=f"lacks .*{first.name}"):
        pp.load(tmp_path)


def test_a_pickle_is_refused_and_the_way_out_shown(folder):
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(
        CheckpointError, match=r"only a pickle \(pytorch_model\.bin\).*save_pretrained"
    ):
        pp.load(folder)


def test_a_tensor_that_is_not_there(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["roberta.encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"lacks 1 tensors, first encoder\.layers\.1"):
        pp.load(folder)


def test_weights_of_another_config(folder):
    edit_config(folder, vocab_size=61)
    with pytest.raises(CheckpointError, match=r"has shape \(60, 24\), which does not fit"):
        pp.load(folder)


def test_our_own_weights_of_another_config(small):
    edit_config(small, vocab_size=61)
    with pytest.raises(CheckpointError, match="do not load"):
        pp.load(small)


def test_a_config_of_ours_that_contradicts_itself(small):
    edit_config(small, units=[40])
    with pytest.raises(PolypruneError, match="2 layers of heads, but 1 of units"):
        pp.load(small)


def test_an_untied_masked_lm(folder):
    weights = load_file(folder / "model.safetensors")
    weights["lm_head.decoder.weight"] = torch.randn(60, 24)
    save_file(weights, folder / "model.safetensors")
    edit_config(folder, tie_word_embeddings=False)
    with pytest.raises(CheckpointError, match="has an output table of its own"):
        pp.load(folder)
    assert pp.load(folder, "hidden-states").readout is None


def test_an_unknown_readout(folder):
    with pytest.raises(UnknownName, match=r"Did you mean 'masked-lm'\? There are: masked-lm"):
        pp.load(folder, "masked-ml")


def test_a_name_that_the_hub_does_not_give(monkeypatch):
    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("polyprune.model.hub.snapshot_download", offline)
    with pytest.raises(UnknownName, match=r"not a folder here, .*\(no network\).* or e5-small"):
        pp.load("xlm-roberta-bse")
    with pytest.raises(UnknownName, match=r"Unknown model 'e5-smal'\. Did you mean 'e5-small'\?"):
        pp.load("e5-smal")


def test_too_long_a_sequence(folder):
    with pytest.raises(
        ValueError, match="40 tokens in a sequence, but this encoder has positions for 32"
    ):
        pp.load(folder)(torch.full((1, 40), 5))


def test_a_readout_the_checkpoint_lacks_starts_afresh_and_says_so(folder, caplog):
    model = pp.load(folder, "sentence-classification", labels=3)
    assert "starts from random weights" in caplog.text
    assert model(torch.tensor([[0, 5, 2]])).logits.shape == (1, 3)
    assert all(torch.isfinite(p).all() for p in model.parameters())


def test_a_pooler_is_kept_under_a_fresh_classifier(tmp_path):
    theirs = tiny_model("bert", "hidden-states")
    theirs.save_pretrained(tmp_path)
    model = pp.load(tmp_path, "sentence-classification")
    assert torch.equal(model.readout.dense.weight, theirs.pooler.dense.weight)


# ---- gates files ---------------------------------------------------------------------------


def test_gates_survive_their_file(folder, tmp_path):
    gates = pp.open_gates(pp.load(folder).shape, rows=2).map(torch.rand_like)
    pp.save_gates(tmp_path / "gates", gates, ["sw", "ur"])
    again = pp.load_gates(tmp_path / "gates", pp.load(folder).shape)
    assert all(torch.equal(a, b) for a, b in zip(again.leaves(), gates.leaves(), strict=True))
    ur = pp.load_gates(tmp_path / "gates", pp.load(folder).shape, "ur")
    assert torch.equal(ur.rank, gates.rank[1:])


def test_rows_and_names_must_agree(folder, tmp_path):
    with pytest.raises(ValueError, match=r"1 names \(shared\) for 2 rows"):
        pp.save_gates(tmp_path / "gates", pp.open_gates(pp.load(folder).shape, rows=2))


def test_gates_of_another_model(folder, tmp_path):
    shape = pp.load(folder).shape
    pp.save_gates(tmp_path / "gates", pp.open_gates(shape))
    other = pp.drop_layers(pp.load(folder), [0]).shape
    with pytest.raises(CheckpointError, match="was made for another model"):
        pp.load_gates(tmp_path / "gates", other)


def test_no_gates_file(folder, tmp_path):
    with pytest.raises(CheckpointError, match="There is no gates file"):
        pp.load_gates(tmp_path / "gates", pp.load(folder).shape)


def test_weights_are_not_gates(folder):
    with pytest.raises(CheckpointError, match="but not one of gates"):
        pp.load_gates(folder / "model.safetensors", pp.load(folder).shape)


def test_a_damaged_gates_file(folder, tmp_path):
    (tmp_path / "gates").write_bytes(b"gates")
    with pytest.raises(CheckpointError, match="is damaged or no safetensors file"):
        pp.load_gates(tmp_path / "gates", pp.load(folder).shape)


# ---- files that appear whole or not at all ---------------------------------------------------


class Interrupted(Exception):
    pass


def interrupted():
    return pytest.raises(Interrupted)


def test_an_interrupted_folder_leaves_the_old_one(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("old")
    with interrupted(), whole_folder(tmp_path / "out", force=True) as new:
        (new / "half").write_text("half")
        raise Interrupted
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "config.json"]


def test_a_folder_of_something_else_is_not_replaced(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "summer.jpg").write_text("sun")
    with (
        pytest.raises(ConfigError, match="is a folder of something else"),
        whole_folder(tmp_path / "photos", force=True),
    ):
        pass
    assert (tmp_path / "photos" / "summer.jpg").exists()


def test_force_replaces_the_whole_folder(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("old")
    with whole_folder(tmp_path / "out", force=True) as new:
        (new / "new").write_text("new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["new", "out"]


def test_a_file_is_not_overwritten_unless_forced(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(ConfigError, match="exists already"), whole_file(tmp_path / "file"):
        pass
    with interrupted(), whole_file(tmp_path / "file", force=True) as new:
        new.write_text("half")
        raise Interrupted
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]


def test_saving_over_a_folder_keeps_it_when_the_weights_cannot_be_written(small, monkeypatch):
    model = pp.load(small)
    shutil.copytree(small, small.parent / "before")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polyprune.model.folder.write_certificate", full)
    with pytest.raises(OSError, match="No space left"):
        pp.drop_layers(model, [0]).save_pretrained(small)
    for path in (small.parent / "before").iterdir():
        assert (small / path.name).read_bytes() == path.read_bytes()
