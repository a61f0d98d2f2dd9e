"""The real multilingual-e5-small, made once: its weights, its tokenizer, its embeddings."""

import hashlib
import json
import struct
from base64 import b64decode
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer, BertModel, XLMRobertaConfig, XLMRobertaModel

from polyprune.loading import e5
from support.e5_file import dequantize_slowly

pytestmark = pytest.mark.slow  # the real model, made and asked

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
SCRIPTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Быстрая лиса прыгает через ленивую собаку.",
    "الثعلب السريع يقفز فوق الكلب الكسول",
    "तेज़ लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "素早い狐が怠け者の犬を飛び越える",
    "빠른 여우가 게으른 개를 뛰어넘는다",
    "จิ้งจอกกระโดดข้ามสุนัข",
]


@pytest.fixture(scope="session")
def folder(e5_folder: Path) -> Path:
    return e5_folder


@pytest.fixture(scope="session")
def loaded(folder: Path) -> tuple[BertModel, dict]:
    return BertModel.from_pretrained(folder, add_pooling_layer=False, output_loading_info=True)


@pytest.fixture(scope="session")
def bert(loaded: tuple[BertModel, dict]) -> BertModel:
    return loaded[0].eval()


@pytest.fixture(scope="session")
def tokenizer(folder: Path):
    return AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def original() -> Tokenizer:
    path = SHARED / "xlmr-tokenizer" / "tokenizer.json"
    if not path.exists():
        pytest.skip(f"needs XLM-R's tokenizer in {path}")
    return Tokenizer.from_file(str(path))


@torch.inference_mode()
def embed(bert: BertModel, tokenizer, texts: list[str]) -> torch.Tensor:
    means = []
    for start in range(0, len(texts), 20):
        batch = tokenizer(texts[start : start + 20], padding=True, return_tensors="pt")
        mask = batch["attention_mask"].unsqueeze(-1)
        means.append((bert(**batch).last_hidden_state * mask).sum(1) / mask.sum(1))
    return torch.nn.functional.normalize(torch.cat(means), dim=-1)


def test_all_weights_of_a_bert_are_there_and_no_others(loaded: tuple[BertModel, dict]) -> None:
    bert, report = loaded
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert sum(weight.numel() for weight in bert.parameters()) == 117_505_920
    assert all(weight.isfinite().all() for weight in bert.parameters())
    assert (bert.config.num_hidden_layers, bert.config.hidden_size) == (12, 384)
    assert bert.config.layer_norm_eps == 1e-12


@pytest.mark.parametrize(
    ("in_file", "in_bert", "columns", "row"),
    [
        ("emb.word", "embeddings.word_embeddings.weight", 384, 0),
        ("emb.word", "embeddings.word_embeddings.weight", 384, 250_036),
        ("l0.q.w", "encoder.layer.0.attention.self.query.weight", 384, 7),
        ("l11.fi.w", "encoder.layer.11.intermediate.dense.weight", 384, 1535),
        ("l11.fo.w", "encoder.layer.11.output.dense.weight", 1536, 383),
    ],
)
def test_rows_are_what_the_blocks_in_the_file_say(
    folder: Path, in_file: str, in_bert: str, columns: int, row: int
) -> None:
    data = e5.packaged_file().read_bytes()
    entry = data.index(struct.pack("<H", len(in_file)) + in_file.encode()) + 2 + len(in_file)
    _, _, offset, _ = struct.unpack_from("<BIQQ", data, entry)
    start = offset + row * columns // 32 * 18
    expected = dequantize_slowly(data[start : start + columns // 32 * 18])
    weights = load_file(folder / "model.safetensors")[in_bert]
    assert weights.shape[1] == columns
    assert weights[row].tolist() == expected


@pytest.mark.parametrize("text", SCRIPTS)
def test_text_survives_the_tokenizer_in_any_script(tokenizer, text: str) -> None:
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.unk_token_id not in ids
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_special_tokens_are_where_xlm_r_has_them(tokenizer) -> None:
    assert tokenizer.convert_tokens_to_ids(list(e5.SPECIALS)) == [0, 1, 2, 3, 250_001]
    assert (tokenizer.pad_token_id, tokenizer.mask_token_id) == (1, 250_001)
    assert (tokenizer.cls_token, tokenizer.sep_token) == ("<s>", "</s>")
    assert tokenizer("a", "b")["input_ids"] == [0, 10, 2, 2, 876, 2]
    assert len(tokenizer("a " * 1000, truncation=True)["input_ids"]) == 512


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "Full width"),
        ("ﬁne ½", "fine 1⁄2"),
        ("cafe\u0301", "café"),
        ("a\u200db", "a b"),  # the zero-width joiner, a space when XLM-R was trained
        ("  two   spaces", "two spaces"),
        ("㋿", "㋿"),  # of 2019, too late to become 令和
    ],
)
def test_text_is_normalized_as_when_xlm_r_was_trained(tokenizer, written: str, read: str) -> None:
    assert tokenizer(written)["input_ids"] == tokenizer(read)["input_ids"]


def test_normalization_is_byte_for_byte_that_of_xlm_r(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    charsmap = b64decode(tokenizer["normalizer"]["normalizers"][0]["precompiled_charsmap"])
    assert hashlib.sha256(charsmap).hexdigest() == (
        "0942789e0111452f1cc446f70036e26d24458c3c7858c53cc12ca4d87531279b"
    )


def test_ids_are_those_of_xlm_r_in_31_languages(tokenizer, original: Tokenizer) -> None:
    paths = sorted((SHARED / "corpus").glob("??.txt"))
    if not paths:
        pytest.skip(f"needs the corpora in {SHARED / 'corpus'}")
    assert len(paths) == 31
    lines = [line for path in paths for line in path.read_text().split("\n")[:323]]
    assert len(lines) > 10_000
    expected = [encoding.ids for encoding in original.encode_batch(lines)]
    assert tokenizer(lines, verbose=False)["input_ids"] == expected


def test_translations_lie_nearest(bert: BertModel, tokenizer) -> None:
    english = ["The weather is fine.", "Where is the station?", "She bought fresh bread."]
    others = [
        ["Das Wetter ist schön.", "Wo ist der Bahnhof?", "Sie hat frisches Brot gekauft."],
        ["Погода хорошая.", "Где находится вокзал?", "Она купила свежий хлеб."],
        ["天气很好。", "车站在哪里?", "她买了新鲜的面包。"],
    ]
    found = [
        (embed(bert, tokenizer, english) @ embed(bert, tokenizer, other).T).argmax(1).tolist()
        for other in others
    ]
    assert found == [[0, 1, 2]] * 3


@pytest.mark.slow
def test_english_finds_its_german_translation(bert: BertModel, tokenizer) -> None:
    paths = [SHARED / "corpus" / "parallel" / f"ntrex.{language}.txt" for language in ("en", "de")]
    if not all(path.exists() for path in paths):
        pytest.skip(f"needs {paths[0]} and {paths[1]}")
    queries = [
        [f"query: {line}" for line in path.read_text().split("\n")[1000:1200]] for path in paths
    ]
    english, german = (embed(bert, tokenizer, texts) for texts in queries)
    found = (english @ german.T).argmax(1)
    assert (found == torch.arange(200)).float().mean() >= 0.98


def test_sentence_transformers_embed_the_same(folder: Path, bert: BertModel, tokenizer) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    expected = embed(bert, tokenizer, [f"query: {text}" for text in SCRIPTS])
    torch.testing.assert_close(
        model.encode_query(SCRIPTS, convert_to_tensor=True), expected, atol=1e-5, rtol=0
    )
    expected = embed(bert, tokenizer, [f"passage: {text}" for text in SCRIPTS])
    torch.testing.assert_close(
        model.encode_document(SCRIPTS, convert_to_tensor=True), expected, atol=1e-5, rtol=0
    )
    assert model.max_seq_length == 512


def test_the_settings_are_those_of_the_hub(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    assert (config["model_type"], config["pad_token_id"]) == ("bert", 0)
    modules = json.loads((folder / "modules.json").read_text())
    assert [module["path"] for module in modules] == ["", "1_Pooling", "2_Normalize"]
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text())
    assert pooling["pooling_mode_mean_tokens"]


@torch.inference_mode()
def test_the_same_weights_make_an_xlm_r_model(bert: BertModel) -> None:
    words = 1000  # enough for the test
    state = bert.state_dict()
    positions = state["embeddings.position_embeddings.weight"]
    state["embeddings.word_embeddings.weight"] = state["embeddings.word_embeddings.weight"][:words]
    state["embeddings.position_embeddings.weight"] = torch.cat([torch.zeros(2, 384), positions])
    sizes = {name: getattr(bert.config, name) for name in e5._SIZES}
    sizes |= {"vocab_size": words, "max_position_embeddings": 514}
    config = XLMRobertaConfig(**sizes, layer_norm_eps=bert.config.layer_norm_eps)
    xlm_r = XLMRobertaModel(config, add_pooling_layer=False).eval()
    xlm_r.load_state_dict(state)
    ids = torch.randint(4, words, (2, 512), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(xlm_r(ids).last_hidden_state, bert(ids).last_hidden_state)
