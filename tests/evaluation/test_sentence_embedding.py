import json

import pytest
import torch
import transformers

import polyprune
from polyprune.errors import ConfigError
from polyprune.evaluation import sentence_embedding as module
from polyprune.evaluation.sentence_embedding import EmbeddingConfig, embed
from support.models import batch, speaking_model, tiny_model

SENTENCES = [
    "the water is red",
    "a tree",
    "мы пьём воду и видим дерево",
    "n",
    "they walk along the long river",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return speaking_model(tmp_path_factory.mktemp("speaking") / "model")


@pytest.fixture(scope="module")
def reader(folder):
    return polyprune.load(folder, "hidden-states")


@pytest.fixture(scope="module")
def tokenizer(folder):
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_layers_output_is_the_hidden_state_of_transformers(layer, folder, reader):
    theirs = transformers.XLMRobertaModel.from_pretrained(folder, add_pooling_layer=False).eval()
    inputs = batch("xlm-roberta")
    inputs.pop("token_type_ids")
    with torch.no_grad():
        states = theirs(**inputs, output_hidden_states=True).hidden_states
        mask = inputs["attention_mask"].bool()
        ours = reader.eval().encoder.at_layer(inputs["input_ids"], mask, layer)
    torch.testing.assert_close(ours[mask], states[layer][mask], atol=1e-5, rtol=1e-5)


def test_so_it_is_in_every_family(family, tmp_path):
    theirs = tiny_model(family, "hidden-states", num_hidden_layers=3)
    theirs.save_pretrained(tmp_path)
    ours = polyprune.load(tmp_path, "hidden-states").eval()
    inputs = batch(family)
    inputs.pop("token_type_ids", None)
    mask = inputs["attention_mask"].bool()
    with torch.no_grad():
        states = theirs(**inputs, output_hidden_states=True).hidden_states
        for layer, state in enumerate(states):
            found = ours.encoder.at_layer(inputs["input_ids"], mask, layer)
            torch.testing.assert_close(found[mask], state[mask], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layer", [1, 2])
def test_a_sentence_is_the_mean_over_its_tokens_special_ones_too(layer, folder, reader, tokenizer):
    theirs = transformers.XLMRobertaModel.from_pretrained(folder, add_pooling_layer=False).eval()
    found = embed(reader, SENTENCES, tokenizer, EmbeddingConfig(layer))
    for sentence, vector in zip(SENTENCES, found, strict=True):
        inputs = tokenizer(sentence, return_tensors="pt", return_token_type_ids=False)
        assert inputs["input_ids"][0, [0, -1]].tolist() == [0, 2]
        with torch.no_grad():
            state = theirs(**inputs, output_hidden_states=True).hidden_states[layer]
        mean = torch.nn.functional.normalize(state[0].mean(0), dim=0)
        torch.testing.assert_close(vector, mean, atol=1e-5, rtol=1e-5)


def test_it_does_not_depend_on_the_batches(reader, tokenizer, monkeypatch):
    together = embed(reader, SENTENCES, tokenizer, EmbeddingConfig(2))
    monkeypatch.setitem(module.TOKENS, "cpu", 1)
    alone = embed(reader, SENTENCES, tokenizer, EmbeddingConfig(2))
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)
    backwards = embed(reader, SENTENCES[::-1], tokenizer, EmbeddingConfig(2))
    torch.testing.assert_close(backwards.flip(0), alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_a_model_stays_as_it_was_and_does_without_dropout(training, reader, tokenizer):
    reader.train(training)
    one, other = (embed(reader, SENTENCES, tokenizer, EmbeddingConfig(2)) for _ in range(2))
    assert reader.training is training
    assert torch.equal(one, other)
    reader.eval()


@pytest.mark.parametrize(
    ("layers", "middle"), [(12, 8), (6, 4), (1, 1), (2, 1), (3, 2), (4, 3), (24, 16)]
)
def test_the_middle_layer_is_the_eighth_of_twelve(layers, middle, tmp_path):
    tiny_model("xlm-roberta", "hidden-states", num_hidden_layers=layers).save_pretrained(tmp_path)
    assert EmbeddingConfig.of(polyprune.load(tmp_path)) == EmbeddingConfig(middle, "mean", "", 32)


def test_sentences_are_cut_to_what_the_model_can_read(reader, tokenizer):
    way = EmbeddingConfig.of(reader)
    assert way.longest == 32  # of 34 positions two are not used
    long, cut = "a" * 100, "a" * 30
    assert len(tokenizer(cut)["input_ids"]) == 32
    found = embed(reader, [long, cut], tokenizer, way)
    torch.testing.assert_close(found[0], found[1])


def test_models_that_can_read_more_are_given_512_tokens(tmp_path):
    tiny_model("xlm-roberta", max_position_embeddings=1026).save_pretrained(tmp_path)
    assert EmbeddingConfig.of(polyprune.load(tmp_path)).longest == 512


@pytest.fixture
def sentence_encoder(tmp_path):
    """A model that sentence-transformers has saved, with a prompt."""
    folder = speaking_model(tmp_path / "encoder")
    (folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    return polyprune.load(folder, "hidden-states")


def test_a_sentence_encoder_is_used_as_it_was_meant(sentence_encoder, tokenizer):
    way = EmbeddingConfig.of(sentence_encoder)
    assert way == EmbeddingConfig(2, "first", "query: ", 32)
    found = embed(sentence_encoder, SENTENCES[:2], tokenizer, way)
    for sentence, vector in zip(SENTENCES, found, strict=False):
        ids = tokenizer("query: " + sentence, return_tensors="pt")["input_ids"][:, :32]
        with torch.no_grad():
            first = sentence_encoder.eval()(ids).last_hidden_state[0, 0]
        expected = torch.nn.functional.normalize(first, dim=0)
        torch.testing.assert_close(vector, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_layer_that_is_named_is_taken_as_xtreme_does(layer, sentence_encoder, reader):
    assert EmbeddingConfig.of(sentence_encoder, layer) == EmbeddingConfig(layer, longest=32)
    assert EmbeddingConfig.of(reader, layer) == EmbeddingConfig(layer, longest=32)


@pytest.mark.parametrize("layer", [-1, 3])
def test_a_layer_that_there_is_not_is_an_error(layer, reader):
    with pytest.raises(ConfigError, match=f"no layer {layer}: this model has 2"):
        EmbeddingConfig.of(reader, layer)


@pytest.mark.parametrize(
    ("file", "content", "what"),
    [
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
    ],
)
def test_what_a_sentence_encoder_does_beyond_pooling_is_told(sentence_encoder, file, content, what):
    folder = sentence_encoder.source.folder
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(ConfigError, match=f"with {what}, which is not built in: give `layer`"):
        EmbeddingConfig.of(sentence_encoder)
    assert EmbeddingConfig.of(sentence_encoder, 2).pooling == "mean"
