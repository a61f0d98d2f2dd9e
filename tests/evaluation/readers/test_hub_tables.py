"""XTREME as a Hugging Face data set; here it is a folder, not the Hub."""

import sys

import pytest

from polyprune.errors import ConfigError, DataError
from polyprune.evaluation.examples import Answer, Bitext, Question, SentencePair, TaggedSentence
from polyprune.evaluation.readers.bitext_files import BUCC, TATOEBA
from polyprune.evaluation.readers.hub_tables import is_data_set
from polyprune.evaluation.readers.language_codes import LANGUAGES
from polyprune.evaluation.readers.pair_files import PAWSX, XNLI
from polyprune.evaluation.readers.question_files import MLQA, TYDIQA, XQUAD
from polyprune.evaluation.readers.tagged_files import PANX, UDPOS

datasets = pytest.importorskip("datasets")


def rows(**columns) -> dict[str, list]:
    return columns


def squad(*names: str) -> dict[str, list]:
    return rows(
        id=list(names),
        title=["t"] * len(names),
        context=["It is."] * len(names),
        question=[f"{name}?" for name in names],
        answers=[{"answer_start": [3], "text": ["is"]} for _ in names],
    )


def labels(*names: str):
    """How a data set numbers its tags."""
    return datasets.Sequence(datasets.ClassLabel(names=list(names)))


def pair(*labels: str) -> dict[str, list]:
    count = len(labels)
    return rows(sentence1=["a"] * count, sentence2=["b"] * count, label=list(labels))


LANGUAGE = rows(
    language=["de", "fr", "de"],
    sentence1=["eins", "un", "drei"],
    sentence2=["zwei", "deux", "vier"],
    gold_label=["neutral", "entailment", "contradictory"],
)
TRANSLATIONS = rows(
    source_sentence=["zwei\n", "eins\n"],
    target_sentence=["two\n", "one\n"],
    source_lang=["deu"] * 2,
    target_lang=["eng"] * 2,
)
CONTENT = {
    ("XNLI", "validation"): LANGUAGE,
    ("PAWS-X.en", "train"): pair("0", "1"),
    ("PAWS-X.de", "train"): pair("1"),
    ("PAWS-X.de", "validation"): pair("0"),
    ("udpos.German", "test"): rows(tokens=[["Eins", "."]], pos_tags=[[1, 0]]),
    ("PAN-X.de", "train"): rows(tokens=[["Anna"], ["da"]], ner_tags=[[1], [0]], langs=[["de"]] * 2),
    ("XQuAD.de", "validation"): squad("x"),
    ("MLQA.de.de", "validation"): squad("m"),
    ("MLQA.de.de", "test"): squad("n", "o"),
    ("SQuAD", "train"): squad("s"),
    ("SQuAD", "validation"): squad("v"),
    ("tydiqa", "train"): squad("korean-1", "english-2", "korean-3"),
    ("tydiqa", "validation"): squad("korean-4"),
    ("bucc18.de", "validation"): TRANSLATIONS,
    ("tatoeba.deu", "validation"): TRANSLATIONS,
}
TAGS = {"pos_tags": labels("PUNCT", "NUM"), "ner_tags": labels("O", "B-PER")}


@pytest.fixture(scope="module")
def hub(tmp_path_factory) -> str:
    """A data set with the layout of google/xtreme, with a few of its configurations."""
    folder = tmp_path_factory.mktemp("xtreme")
    card = ["---", "configs:"]
    for name in dict.fromkeys(name for name, _ in CONTENT):
        card += [f"- config_name: {name}", "  data_files:"]
        for split in [split for other, split in CONTENT if other == name]:
            card += [f"  - split: {split}", f"    path: {name}/{split}-*"]
            data = datasets.Dataset.from_dict(CONTENT[name, split])
            for column in TAGS.keys() & set(data.column_names):
                data = data.cast_column(column, TAGS[column])
            (folder / name).mkdir(exist_ok=True)
            data.to_parquet(folder / name / f"{split}-00000.parquet")
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return str(folder)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def question(name: str) -> Question:
    return Question(name, f"{name}?", "It is.", (Answer("is", 3),))


BITEXT = Bitext(("zwei", "eins"), ("one", "two"), ("0", "1"), ("0", "1"), (("1", "0"), ("0", "1")))


@pytest.mark.parametrize(
    ("reader", "split", "language", "expected"),
    [
        (
            XNLI,
            "dev",
            "de",
            [
                SentencePair("eins", "zwei", "neutral"),
                SentencePair("drei", "vier", "contradiction"),
            ],
        ),
        (XNLI, "dev", "fr", [SentencePair("un", "deux", "entailment")]),
        (PAWSX, "train", "en", [SentencePair("a", "b", "0"), SentencePair("a", "b", "1")]),
        (PAWSX, "translated", "en", [SentencePair("a", "b", "0"), SentencePair("a", "b", "1")]),
        (PAWSX, "translated", "de", [SentencePair("a", "b", "1")]),
        (PAWSX, "dev", "de", [SentencePair("a", "b", "0")]),
        (UDPOS, "test", "de", [TaggedSentence(("Eins", "."), ("NUM", "PUNCT"))]),
        (
            PANX,
            "translated",
            "de",
            [TaggedSentence(("Anna",), ("B-PER",)), TaggedSentence(("da",), ("O",))],
        ),
        (XQUAD, "test", "de", [question("x")]),
        (XQUAD, "train", "en", [question("s")]),
        (XQUAD, "dev", "en", [question("v")]),
        (MLQA, "train", "en", [question("s")]),
        (MLQA, "dev", "de", [question("m")]),
        (MLQA, "test", "de", [question("n"), question("o")]),
        (TYDIQA, "train", "ko", [question("korean-1"), question("korean-3")]),
        (TYDIQA, "dev", "ko", [question("korean-4")]),
        (TYDIQA, "test", "ko", [question("korean-4")]),
        (TATOEBA, "test", "de", [BITEXT]),
        (BUCC, "dev", "de", [BITEXT]),
    ],
)
def test_every_task_is_read(hub, reader, split, language, expected):
    assert list(reader.read(hub, split, language)) == expected


def test_the_languages_are_those_with_a_configuration(hub):
    assert PAWSX.languages(hub, "train", LANGUAGES["pawsx"]) == ["en"]
    assert PAWSX.languages(hub, "translated", LANGUAGES["pawsx"]) == ["de", "en"]
    assert PAWSX.languages(hub, "dev", LANGUAGES["pawsx"]) == ["de"]
    assert XNLI.languages(hub, "dev", ["de", "xx"]) == ["de"]
    assert XNLI.languages(hub, "test", LANGUAGES["xnli"]) == []
    assert TATOEBA.languages(hub, "test", LANGUAGES["tatoeba"]) == ["de"]
    assert XQUAD.languages(hub, "train", LANGUAGES["xquad"]) == ["en"]


def test_what_is_missing_is_named(hub):
    assert "the split test of PAWS-X.de" in PAWSX.looked_for(hub, "test", "de")
    with pytest.raises(
        DataError, match=r"looked for .*, or the split validation of PAWS-X.fr. .*de"
    ):
        PAWSX.read(hub, "dev", "fr")
    with pytest.raises(DataError, match="has no dev data of xnli for 'ru'"):
        list(XNLI.read(hub, "dev", "ru"))


def test_bucc_as_a_data_set_comes_with_a_warning(hub, caplog):
    list(BUCC.read(hub, "dev", "de"))
    assert "only those sentences of BUCC in de that have a translation" in caplog.text


def test_a_folder_with_files_may_have_a_card_that_is_none(hub, tmp_path):
    assert is_data_set(hub)
    assert is_data_set("google/xtreme")
    assert is_data_set("xtreme")
    (tmp_path / "README.md").write_text("XTREME, downloaded today.")
    assert not is_data_set(str(tmp_path))
    assert not is_data_set("./download")
    assert not is_data_set("data/xtreme/download")


def test_a_data_set_in_another_layout_is_refused(tmp_path):
    (tmp_path / "README.md").write_text(
        "---\nconfigs:\n- config_name: XNLI\n  data_files:\n"
        "  - split: validation\n    path: a.parquet\n---\n"
    )
    datasets.Dataset.from_dict({"premise": ["a"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"XNLI has no column 'language'. Give one in the layout"):
        list(XNLI.read(str(tmp_path), "dev", "de"))


def test_a_damaged_data_set_is_said_so(tmp_path):
    (tmp_path / "README.md").write_text(
        "---\nconfigs:\n- config_name: XNLI\n  data_files:\n"
        "  - split: validation\n    path: gone.parquet\n---\n"
    )
    with pytest.raises(DataError, match="cannot be read: "):
        XNLI.read(str(tmp_path), "dev", "de")


def test_the_hub_is_asked_for_what_it_has_not(monkeypatch):
    monkeypatch.setattr(datasets, "get_dataset_config_names", lambda _: ["XNLI"])
    monkeypatch.setattr(datasets, "get_dataset_split_names", lambda *_: ["test"])
    with pytest.raises(DataError, match=r"training data .*: XTREME's data sets have none"):
        XNLI.read("some/other", "train", "en")
    with pytest.raises(
        DataError, match=r"in some/other: looked for the split validation of XNLI.$"
    ):
        XNLI.read("some/other", "dev", "de")


def test_without_the_package_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match="needs the package datasets"):
        XNLI.read("some/hub", "dev", "de")
