"""The bundled model: small, plain, and trained."""

import subprocess
import sys
import zipfile

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import polyprune as pp
from polyprune.corpora.batching import Batching
from polyprune.corpora.text import text_folder
from polyprune.evaluation.quality import find_translations, guess_words
from polyprune.loading.finding import find
from polyprune.model.network.source import ModelSource
from support.paths import REPOSITORY


def lines(code: str) -> list[str]:
    return (text_folder("sample") / f"{code}.txt").read_text(encoding="utf-8").splitlines()


def test_it_is_small_and_has_something_to_prune():
    assert (find("sprout") / "model.safetensors").stat().st_size <= 20e6
    shape = pp.load("sprout").shape
    assert shape.layers >= 4
    assert min(shape.heads) >= 6
    assert 8000 <= shape.vocab_size <= 16_000


def test_it_is_stored_in_half_and_computed_with_in_full():
    assert pp.load("sprout").dtype == torch.float32


def test_transformers_loads_the_same_model():
    folder = find("sprout")
    theirs, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder),
        ModelSource.at(folder).tokenizer(),
    )
    batch = AutoTokenizer.from_pretrained(folder)(["Anna bought a <mask>."], return_tensors="pt")
    assert tokenizer.mask_token_id in batch["input_ids"]
    with torch.no_grad():
        ours = pp.load("sprout").eval()(batch["input_ids"], batch["attention_mask"]).logits
        torch.testing.assert_close(theirs.eval()(**batch).logits, ours, atol=1e-4, rtol=0)


def test_importing_the_package_reads_no_weights():
    program = "import sys, polyprune; assert not {'torch', 'safetensors'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "ru", "sw", "th", "zh"])
def test_it_guesses_words_better_than_without_context(code):
    model, tokenizer = pp.load("sprout"), ModelSource.at(find("sprout")).tokenizer()
    found = guess_words(model, tokenizer, {code: lines(code)})[code]
    batches = list(Batching(tokenizer, size=32).masked(lines(code)))
    asked = torch.cat([batch["labels"][batch["labels"] != -100] for batch in batches])
    commonest = 100 * float((asked == asked.mode().values).float().mean())
    assert found > 2 * commonest


@pytest.mark.slow
def test_it_finds_translations():
    model, tokenizer = pp.load("sprout"), ModelSource.at(find("sprout")).tokenizer()
    texts = {code: lines(code)[:100] for code in ("en", "fr", "ru")}
    found = find_translations(model, tokenizer, texts, "en")
    assert min(found.values()) > 10  # chance is 1


@pytest.mark.slow
def test_half_of_it_needs_neither_text_nor_polyprune(tmp_path):
    small = tmp_path / "small"
    prune = [sys.executable, "-m", "polyprune", "prune", "sprout", "--sentences", "16"]
    done = subprocess.run(
        [*prune, "--sparsity", "0.5", "--out", small],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert "the bundled sample" in done.stderr
    program = (
        "import sys; from transformers import AutoModelForMaskedLM, AutoTokenizer\n"
        "sys.modules['polyprune'] = None\n"
        "load = dict(pretrained_model_name_or_path=sys.argv[1], trust_remote_code=True)\n"
        "model, tokenizer = (auto.from_pretrained(**load)"
        " for auto in (AutoModelForMaskedLM, AutoTokenizer))\n"
        "batch = tokenizer('Anna bought a <mask>.', return_tensors='pt')\n"
        "assert model(**batch).logits.shape[-1] == len(tokenizer)"
    )
    subprocess.run([sys.executable, "-c", program, str(small)], check=True)


@pytest.mark.slow
def test_all_that_is_bundled_is_in_the_wheel(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path)]
    subprocess.run([*build, str(REPOSITORY)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 40e6
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "sprout/model.safetensors",
        "sprout/README.md",
        "sample/sw.txt",
        "miniature/sw.toml",
    ):
        assert f"polyprune/bundled/{name}" in names
