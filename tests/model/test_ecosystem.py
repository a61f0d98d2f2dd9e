"""Saved models among other tools: pipelines, Trainer, new tasks, grown tokenizers, odd folders."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import polyprune as pp
from polyprune.errors import CheckpointError
from polyprune.loading.hub import read_shape
from polyprune.model.footprint import footprint_of, weight_bytes
from polyprune.model.network.readouts import READOUTS
from support.models import AUTO, batch, tiny_model

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
WORDS = [
    f"▁{word}"
    for word in [
        "the",
        "river",
        "is",
        "wide",
        "and",
        "old",
        "bridge",
        "closed",
        "we",
        "cross",
        "it",
    ]
]


def write_tokenizer(folder: Path) -> None:
    """An XLM-R tokenizer whose config, like many on the hub, does not name its class."""
    pieces = [*SPECIAL, "▁", *WORDS]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 30}')


def pruned(folder: Path, readout: str = "masked-lm", family: str = "xlm-roberta", **config):
    """A dense folder with a tokenizer, and what is left of it after a cut."""
    tiny_model(family, readout, **config).save_pretrained(folder / "dense")
    write_tokenizer(folder / "dense")
    model = pp.load(folder / "dense")
    gates = pp.open_gates(model.shape)
    gates.heads[0][:, 1:] = 0
    gates.units[1][:, ::2] = 0
    pp.shrink(model, gates).save_pretrained(folder / "small")
    return folder / "small"


def test_the_tokenizer_is_of_the_same_class_as_before(tmp_path):
    small = pruned(tmp_path)
    before, after = (
        transformers.AutoTokenizer.from_pretrained(folder) for folder in (tmp_path / "dense", small)
    )
    assert type(after) is type(before)
    assert after.mask_token == "<mask>"


@pytest.mark.parametrize(
    ("task", "readout"),
    [
        ("fill-mask", "masked-lm"),
        ("text-classification", "sentence-classification"),
        ("token-classification", "token-classification"),
        ("feature-extraction", "hidden-states"),
    ],
)
def test_pipelines_run(task, readout, tmp_path):
    run = transformers.pipeline(task, model=str(pruned(tmp_path, readout)), device="cpu")
    text = "the river is <mask>" if task == "fill-mask" else "the river is wide"
    assert run(text)


@pytest.mark.parametrize("wanted", sorted(READOUTS))
def test_a_pruned_folder_can_be_trained_for_any_other_task(wanted, readout, tmp_path, caplog):
    """With a fresh readout of the family's kind: never with the weights of another readout."""
    small = pruned(tmp_path, readout)
    torch.manual_seed(1)
    model = getattr(transformers, AUTO[wanted]).from_pretrained(small)
    assert model(**batch("xlm-roberta"))[0].isfinite().all()
    if wanted == "sentence-classification":
        assert model.readout.activation is torch.tanh
    if wanted not in (readout, "hidden-states"):
        old = torch.cat([p.flatten() for p in (pp.load(small).readout or model).parameters()])
        fresh = {p for p in model.readout.parameters() if p.ndim == 2}
        assert fresh
        assert not any(torch.isin(p.flatten(), old).all() for p in fresh)


def test_a_trainer_takes_a_step_and_saves(tmp_path):
    small = pruned(tmp_path, "sentence-classification")
    examples = [{"input_ids": [0, 6, 7, 2], "labels": i % 3} for i in range(8)]
    before = pp.load(small).readout.output.weight.detach().clone()
    arguments = transformers.TrainingArguments(
        tmp_path / "run", max_steps=2, per_device_train_batch_size=4, report_to=[], use_cpu=True,
        disable_tqdm=True,
    )  # fmt: skip
    model = transformers.AutoModelForSequenceClassification.from_pretrained(small)
    trainer = transformers.Trainer(model, arguments, train_dataset=examples)
    trainer.train()
    trainer.save_model(str(tmp_path / "trained"))
    after = pp.load(tmp_path / "trained")
    assert not torch.equal(after.readout.output.weight, before)
    assert (tmp_path / "trained" / "tokenizer.json").is_file()


def test_dropout_is_where_transformers_has_it(family, readout, tmp_path, monkeypatch):
    """In training mode, with every dropout made a known factor, outputs are still equal."""
    monkeypatch.setattr(
        torch.nn.functional, "dropout",
        lambda x, p=0.5, training=True, inplace=False: x * (1 - p) if training else x,
    )  # fmt: skip
    silent = {"distilbert": {"attention_dropout": 0.0, "dropout": 0.3, "qa_dropout": 0.4}}.get(
        family, {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.3}
    )
    theirs = tiny_model(family, readout, **silent)
    theirs.save_pretrained(tmp_path)
    inputs = batch(family)
    mask = inputs["attention_mask"].bool()
    with torch.no_grad():
        expected, got = (
            model.train()(**inputs).to_tuple() for model in (theirs, pp.load(tmp_path))
        )
    for a, b in zip(got, expected, strict=True):
        if a.shape[:2] == mask.shape:
            a, b = a[mask], b[mask]
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_whatever_else_the_config_said_is_carried_along(tmp_path):
    small = pruned(
        tmp_path, "sentence-classification", classifier_dropout=0.25, finetuning_task="xnli",
        id2label={0: "entails", 1: "neutral", 2: "contradicts"}, problem_type="regression",
    )  # fmt: skip
    plain = pp.to_transformers(pp.load(tmp_path / "dense"))
    for config in (transformers.AutoConfig.from_pretrained(small), plain.config):
        assert config.finetuning_task == "xnli"
        assert config.id2label[2] == "contradicts"
        assert config.problem_type == "regression"
        assert config.classifier_dropout == 0.25
    assert pp.load(small).readout.dropout.p == 0.25


def test_other_libraries_find_the_numbers_they_ask_for(tmp_path):
    config = transformers.AutoConfig.from_pretrained(pruned(tmp_path))
    assert (config.num_hidden_layers, config.num_attention_heads) == (2, 4)
    assert (config.hidden_size, config.intermediate_size) == (24, 40)


def test_a_grown_tokenizer_is_not_overwritten(tmp_path):
    small = pruned(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(small)
    tokenizer.add_tokens(["▁ferry"])
    model = pp.load(small)
    model.resize_token_embeddings(len(tokenizer))
    tokenizer.save_pretrained(tmp_path / "out")
    model.save_pretrained(tmp_path / "out")
    assert len(transformers.AutoTokenizer.from_pretrained(tmp_path / "out")) == len(tokenizer)


@pytest.mark.parametrize("size", [70, 50])
def test_the_vocabulary_can_be_resized(size, readout, tmp_path):
    model = pp.load(pruned(tmp_path, readout))
    inputs = {name: x % 50 for name, x in batch("xlm-roberta").items()}
    before = model(**inputs)[0]
    model.resize_token_embeddings(size)
    model.save_pretrained(tmp_path / "resized")
    again = pp.load(tmp_path / "resized")
    assert again.shape.vocab_size == size
    after = again(**inputs)[0]
    if readout == "masked-lm":
        after, before = after[..., :50], before[..., :50]
    torch.testing.assert_close(after, before)


def test_another_variant_leaves_the_weights_that_are_there(tmp_path):
    small = pruned(tmp_path)
    pp.load(small).save_pretrained(small, variant="fp16")
    assert {"model.safetensors", "model.fp16.safetensors"} <= {p.name for p in small.iterdir()}


def test_a_new_working_directory_does_not_lose_the_tokenizer(tmp_path, monkeypatch):
    pruned(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    for folder in ("dense", "small"):
        monkeypatch.chdir(tmp_path)
        model = pp.load(folder)
        monkeypatch.chdir(tmp_path / "elsewhere")
        model.save_pretrained(folder)
        assert (tmp_path / "elsewhere" / folder / "tokenizer.json").is_file()


def test_modules_outside_of_the_folder_are_not_copied(tmp_path):
    small = pruned(tmp_path, "hidden-states")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("key")
    (small / "modules.json").write_text('[{"path": ""}, {"path": "../secret"}]')
    pp.load(small).save_pretrained(tmp_path / "out" / "deep")
    assert not list((tmp_path / "out").rglob("key"))


def test_pushing_keeps_what_was_said_of_the_repository(tmp_path, monkeypatch):
    model = pp.load(pruned(tmp_path))
    asked = []
    monkeypatch.setattr(
        "huggingface_hub.HfApi.create_repo",
        lambda self, repo, **said: asked.append((repo, said)) or SimpleNamespace(repo_id=repo),
    )
    card = SimpleNamespace(save=lambda path: None)
    monkeypatch.setattr("transformers.utils.hub.create_and_tag_model_card", lambda *a, **k: card)
    monkeypatch.setattr(type(model), "_upload_modified_files", lambda *a, **k: None)
    model.save_pretrained(tmp_path / "mine", push_to_hub=True, private=True, repo_id="me/mine")
    assert asked[0][0] == "me/mine"
    assert asked[0][1]["private"] is True


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_bytes_are_those_of_the_file(dtype, tmp_path):
    tiny_model("xlm-roberta").to(dtype).save_pretrained(tmp_path / "dense")
    pp.load(tmp_path / "dense").save_pretrained(tmp_path / "own")
    for folder in ("dense", "own"):
        config, readout = read_shape(tmp_path / folder)
        size = weight_bytes(config, footprint_of(config, readout))
        file = (tmp_path / folder / "model.safetensors").stat().st_size
        assert size < file < size + 20_000  # its header


def test_gates_follow_the_model_to_its_device(tmp_path):
    model = pp.load(pruned(tmp_path)).to("meta")
    ids = torch.ones(1, 4, dtype=torch.long, device="meta")
    assert model(ids, gates=pp.open_gates(model.shape)).logits.device.type == "meta"


@pytest.mark.parametrize("name", ["XLMRobertaForMultipleChoice", "BertForNextSentencePrediction"])
def test_a_readout_we_do_not_know_is_not_dropped_in_silence(name, tmp_path):
    small = pruned(tmp_path, "hidden-states")
    config = json.loads((tmp_path / "dense" / "config.json").read_text())
    (tmp_path / "dense" / "config.json").write_text(json.dumps(config | {"architectures": [name]}))
    with pytest.raises(
        CheckpointError, match=f"A {name} has a readout that polyprune does not know"
    ):
        pp.load(tmp_path / "dense")
    assert pp.load(tmp_path / "dense", readout="hidden-states").shape.layers == 2
    assert small.is_dir()
