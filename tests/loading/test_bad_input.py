"""Whatever is wrong with a model is told in one sentence that says what to do."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

import polyprune as pp
from polyprune.errors import CheckpointError, PolypruneError, UnknownName
from polyprune.loading.checks import changed_since, problems
from polyprune.loading.finding import find
from support.models import tiny_model


@pytest.fixture
def folder(dense):
    return dense


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


def test_a_readout_may_be_called_what_transformers_calls_it(folder):
    assert pp.load(folder, "none").readout_kind.name == "hidden-states"
    assert pp.load(folder, "question-answering").readout_kind.name == "span"


def test_an_unknown_readout(folder):
    with pytest.raises(UnknownName, match=r"Did you mean 'masked-lm'\? There are: masked-lm"):
        pp.load(folder, "masked-ml")


def test_a_name_that_the_hub_does_not_give(monkeypatch):
    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr("polyprune.loading.finding.snapshot_download", offline)
    told = r"not a folder here, .*\(no network\).* sprout or e5-small"
    with pytest.raises(UnknownName, match=told):
        pp.load("xlm-roberta-bse")
    with pytest.raises(UnknownName, match=r"Unknown model 'e5-smal'\. Did you mean 'e5-small'\?"):
        pp.load("e5-smal")


def test_a_folder_without_a_model_does_not_hide_the_model_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "sprout").mkdir()
    monkeypatch.chdir(tmp_path)
    assert (find("sprout") / "config.json").is_file()


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


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model_type": None}, "Unknown model family 'None'"),
        ({"hidden_size": "abc"}, "is not right"),
        ({"pruned_heads": {"0": [9]}}, "lists head 9 of layer 0"),
        ({"pad_token_id": None}, "need a padding id"),
    ],
)
def test_configs_that_cannot_be_meant(folder, changes, why):
    edit_config(folder, **changes)
    with pytest.raises(PolypruneError, match=why):
        pp.load(folder)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"heads": [4]}, "1 layers of heads, but 2 of units"),
        ({"hidden_act": "foo"}, "has activation 'foo'"),
        ({"rank": 5}, "has rank 24, its width, not 5"),
        ({"vocab_size": "many"}, "is not right|do not load"),
    ],
)
def test_configs_of_ours_that_cannot_be_meant(small, changes, why):
    edit_config(small, **changes)
    with pytest.raises(CheckpointError, match=why):
        pp.load(small)


@pytest.mark.parametrize("text", ["[]", "3"])
def test_a_config_that_is_no_config(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(CheckpointError, match="is not a model's config"):
        pp.load(folder)


def test_an_index_that_indexes_nothing(folder):
    (folder / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(CheckpointError, match="does not say which tensor is in which file"):
        pp.load(folder)


def test_a_certificate_that_is_none_vouches_for_nothing(small):
    (small / "certificate.json").write_text("{")
    assert problems(small) == [
        f"certificate.json in {small} does not match certificate.json: changed or damaged since."
    ]


def test_check_compares_weights_and_config_of_transformers_too(folder):
    assert not problems(folder)
    edit_config(folder, intermediate_size=41)
    assert "has shape (40, 24)" in problems(folder)[0]


def test_check_does_not_mind_a_tokenizer_that_has_changed(small):
    (small / "tokenizer.json").write_text("old")
    pp.load(small).save_pretrained(small.parent / "again")
    (small.parent / "again" / "tokenizer.json").write_text("new")
    assert not problems(small.parent / "again")
    assert changed_since(small.parent / "again") == ["tokenizer.json"]


def test_labels_of_another_number(tmp_path):
    tiny_model("bert", "token-classification").save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="another number of labels"):
        pp.load(tmp_path, labels=9)


def test_a_start_that_does_not_exist(folder):
    with pytest.raises(ValueError, match="starts 'spectral' or 'identity', not 'svd'"):
        pp.factorize(pp.load(folder), "svd")
    with pytest.raises(ValueError, match="3 frequencies for 60 words"):
        pp.factorize(pp.load(folder), frequencies=torch.ones(3))


def test_saving_over_a_folder_keeps_it_when_the_weights_cannot_be_written(small, monkeypatch):
    model = pp.load(small)
    shutil.copytree(small, small.parent / "before")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polyprune.model.network.gated_model.write_certificate", full)
    with pytest.raises(OSError, match="No space left"):
        pp.drop_layers(model, [0]).save_pretrained(small)
    for path in (small.parent / "before").iterdir():
        assert (small / path.name).read_bytes() == path.read_bytes()
