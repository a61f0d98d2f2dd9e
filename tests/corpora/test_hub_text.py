"""A data set is read like a file, from any position on; here it is a folder, not the Hub."""

import sys
from pathlib import Path

import pytest

from polyprune.corpora.hub_text import HubText, language_configurations
from polyprune.corpora.languages import language
from polyprune.corpora.stream import ProcessShard, StreamConfig, stream
from polyprune.corpora.text import open_text
from polyprune.corpora.text_sources import LONGEST
from polyprune.errors import ConfigError, DataError, UnknownName
from support.small_texts import TOKENIZER, flat, saved, take

pyarrow = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("datasets")

SWAHILI = [["w1", "w2"], ["w3"], ["w4", "w5", "w6"], [f"w{i}" for i in range(10, 10 + LONGEST)]]
BENGALI = [["w100"], ["w101", "w102"]]


def examples(documents: list[list[str]]) -> list[str]:
    """As CC-100 is on the Hub: a line an example, a blank one after each document."""
    return [f"{line}\n" for document in documents for line in [*document, ""]]


def make_data_set(folder: Path, shards: dict[str, list[list[str]]], column: str = "text") -> str:
    """A data set with a configuration each, in so many files."""
    from pyarrow import parquet

    card = ["---", "configs:"]
    for name, files in shards.items():
        (folder / name).mkdir(parents=True)
        for i, texts in enumerate(files):
            table = pyarrow.table({"id": list(map(str, range(len(texts)))), column: texts})
            parquet.write_table(table, folder / name / f"{i}.parquet", row_group_size=4)
        card += [f"- config_name: {name}", f"  data_files: {name}/*.parquet"]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return str(folder)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> str:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    swahili = examples(SWAHILI)
    return make_data_set(
        tmp_path / "cc100",
        {"sw": [swahili[:5], swahili[5:]], "bn_rom": [examples(BENGALI)]},
    )


def test_a_configuration_is_found_by_its_language(hub):
    assert language_configurations(hub) == {"bn-rom": "bn_rom", "sw": "sw"}
    sources = open_text(hub, ["sw", "bn_rom"])
    assert sources == {"sw": HubText(hub, "sw"), "bn-rom": HubText(hub, "bn-rom")}
    assert list(open_text(hub, None)) == ["bn-rom", "sw"]
    assert sources["bn-rom"].name == f"{hub}/bn_rom"
    assert not sources["bn-rom"].paired


def test_a_blank_example_separates_documents(hub):
    documents = [list(document) for document, _ in HubText(hub, "sw").documents()]
    assert documents == SWAHILI


def test_every_position_is_followed_by_what_followed_it_before(hub):
    for code in ("sw", "bn-rom"):
        source = HubText(hub, code)
        whole = list(source.documents())
        for i, (_, position) in enumerate(whole, 1):
            assert position["document"] == i
            following = source.documents(saved(position))
            assert [text for text, _ in following] == [text for text, _ in whole[i:]]


def test_lanes_do_not_disturb_each_other(hub):
    source = HubText(hub, "sw")
    one, other = source.documents(), source.documents()
    alternating = [(next(one)[0], next(other)[0]) for _ in SWAHILI]
    assert alternating == [(tuple(text), tuple(text)) for text in SWAHILI]


@pytest.mark.slow
def test_a_stream_of_a_data_set_goes_on_where_it_was(hub):
    sources = open_text(hub, None)
    for stream_config in (
        StreamConfig(block=8, window=2, lanes=2),
        StreamConfig(unit="line", lanes=2),
    ):
        whole = [
            batch
            for batch, _ in take(stream(sources, TOKENIZER, stream_config, ProcessShard(4)), 12)
        ]
        for i, (_, position) in enumerate(
            take(stream(sources, TOKENIZER, stream_config, ProcessShard(4)), 8), 1
        ):
            again = stream(sources, TOKENIZER, stream_config, ProcessShard(4), saved(position))
            assert [batch for batch, _ in take(again, 12 - i)] == whole[i:]


def test_examples_of_many_lines_are_kept_whole(tmp_path):
    article = "\n".join(["Mvua.", "", " ", *["Mbuzi."] * (LONGEST + 8)])
    hub = make_data_set(tmp_path / "articles", {"sw": [["Kondoo.", article, "Ng'ombe.", ""]]})
    source = HubText(hub, "sw")
    whole = list(source.documents())
    assert [len(document) for document, _ in whole] == [LONGEST + 10, 1]
    assert "" not in flat(text for text, _ in whole)
    assert [text for text, _ in source.documents(saved(whole[0][1]))] == [("Ng'ombe.",)]


def test_sizes_are_those_of_cc100_or_what_the_data_set_knows(hub, tmp_path):
    assert HubText(hub, "sw").size == language("sw").bytes
    assert HubText("statmt/CC-100", "bn-rom").size == language("bn-rom").bytes
    other = make_data_set(tmp_path / "other", {"sw": [["Mvua."]]})
    assert HubText(other, "sw").size == 1
    sized = make_data_set(tmp_path / "sized", {"sw": [["Mvua."]]})
    card = (tmp_path / "sized" / "README.md").read_text().removesuffix("---\n")
    info = [
        "dataset_info:",
        "- config_name: sw",
        "  features:",
        "  - name: id",
        "    dtype: string",
    ]
    info += ["  - name: text", "    dtype: string", "  splits:", "  - name: train"]
    info += ["    num_bytes: 1234", "    num_examples: 1", "---", ""]
    (tmp_path / "sized" / "README.md").write_text(card + "\n".join(info))
    assert HubText(sized, "sw").size == 1234


def test_a_language_without_a_configuration_is_answered_with_those_that_have_one(hub):
    with pytest.raises(
        UnknownName, match=r"^Unknown language of .* 'ur'\. There are: bn-rom, sw\.$"
    ):
        open_text(hub, ["ur"])


def test_a_data_set_without_languages_says_what_it_has(tmp_path):
    hub = make_data_set(tmp_path / "plain", {"plain_text": [["Mvua."]], "other": [["Mvua."]]})
    with pytest.raises(
        ConfigError, match=r"named after a language, but plain_text, other\. Choose"
    ):
        open_text(hub, ["sw"])


def test_a_data_set_without_text_says_what_it_has(tmp_path):
    hub = make_data_set(tmp_path / "pairs", {"sw": [["Mvua."]]}, column="translation")
    with pytest.raises(ConfigError, match=r"pairs/sw has no column `text`, but id, translation\."):
        next(HubText(hub, "sw").documents())


def test_translations_are_not_read_from_a_data_set(hub):
    with pytest.raises(ConfigError, match=r"^Translations are read from a folder of files"):
        open_text(hub, None, parallel="sw")


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError("Couldn't reach 'cc1000' on the Hub"),
        datasets.exceptions.DatasetNotFoundError("Dataset 'cc1000' doesn't exist\nor so"),
    ],
)
def test_a_data_set_that_cannot_be_reached_or_does_not_exist(monkeypatch, error: Exception):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(datasets, "get_dataset_config_names", fail)
    reason = str(error).partition("\n")[0]
    with pytest.raises(DataError, match=rf"^The data set cc1000 cannot be read: {reason}\. Check"):
        open_text("cc1000", ["sw"])


def test_datasets_must_be_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ConfigError, match=r"^Reading the data set cc-100 needs .* pip install"):
        open_text("cc-100", ["sw"])
