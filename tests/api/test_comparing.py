"""Which lines a cut is compared on: unread ones, and if there are none, those that were read."""

from dataclasses import replace

import pytest

import polyprune as pp
from polyprune.api.comparing import bundled_lines, held_out_lines, how_many, recovery_lines
from polyprune.corpora.batching import Batching
from polyprune.corpora.corpus import open_corpus
from polyprune.pruning.criteria.scoring import ReadyBatches, ScoringText
from support.models import speaking_model


@pytest.fixture
def numbered(tmp_path) -> ScoringText:
    """Thirty lines of English, twelve of Swahili, five of Turkish."""
    folder = tmp_path / "numbered"
    folder.mkdir()
    for code, count in {"en": 30, "sw": 12, "tr": 5}.items():
        lines = [f"{code} {i}\n" for i in range(count)]
        (folder / f"{code}.txt").write_text("\n".join(lines), encoding="utf-8")  # blank ones too
    return ScoringText(open_corpus(folder), Batching(None))


def test_lines_behind_those_that_were_read_come_first(numbered):
    found = held_out_lines(numbered, 10, 20)
    assert found.name == "numbered"
    assert found.lines["en"] == [f"en {i}" for i in range(20, 30)]
    assert found.lines["sw"] == [f"sw {i}" for i in range(2, 12)]
    assert found.lines["tr"] == [f"tr {i}" for i in range(5)]
    assert found.seen == {"sw", "tr"}


def test_lines_that_come_twice_were_read_where_one_was(numbered, tmp_path):
    path = tmp_path / "numbered" / "en.txt"
    again = "".join(f"en {i}\n" for i in range(12))
    path.write_text(again + again + "".join(f"new {i}\n" for i in range(8)), encoding="utf-8")
    text = replace(numbered, languages=["en"])
    assert held_out_lines(text, 30, 12).lines["en"] == [f"new {i}" for i in range(8)]


def test_translations_reach_as_far_as_they_were_read(numbered, tmp_path):
    (tmp_path / "numbered" / "en.txt").write_text("\n\nx\ny\nz\n" + "w\n" * 20, encoding="utf-8")
    (tmp_path / "numbered" / "sw.txt").write_text(
        "".join(f"s {i}\n" for i in range(25)), encoding="utf-8"
    )
    text = replace(numbered, languages=["sw"])
    assert held_out_lines(text, 10, 3, "en").lines["sw"][0] == "s 5"
    assert held_out_lines(text, 10, 3).lines["sw"][0] == "s 3"


def test_how_many_is_bounded_over_all_languages_unless_asked():
    assert [how_many(None, n) for n in (1, 7, 15, 100)] == [64, 64, 32, 16]
    assert how_many(200, 100) == 200


def test_nothing_is_compared_where_nobody_wants_it_or_batches_cannot_be_told_apart(numbered):
    assert held_out_lines(numbered, 0, 5) is None
    ready = ReadyBatches(numbered.corpus, numbered.batching, None, {})
    assert held_out_lines(ready, 10, 5) is None


def test_the_bundled_text_serves_where_it_fits(tmp_path):
    model = pp.load(speaking_model(tmp_path / "model"))
    _, found = bundled_lines(model, ("sw", "fi"), None)
    assert {code: len(lines) for code, lines in found.lines.items()} == {"sw": 8}
    assert len(bundled_lines(model, (), 3)[1].lines) == 15
    assert bundled_lines(model, ("fi",), None) is None
    assert bundled_lines(model, (), 0) is None
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    assert bundled_lines(model, (), None) is None
    answers = pp.load(speaking_model(tmp_path / "answers", "span"))
    assert bundled_lines(answers, (), None) is None


def test_after_training_lines_that_were_kept_apart_come_first(numbered, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "en.txt").write_text("".join(f"en {i}\n" for i in range(0, 30, 2)), encoding="utf-8")
    (kept / "sw.txt").write_text("sw 9\n", encoding="utf-8")
    found = recovery_lines(numbered, kept, 10, read=9)
    assert found.lines["en"] == [f"en {i}" for i in range(10, 30, 2)]
    assert found.seen == {"sw", "tr"}
    assert len(found.lines["sw"]) == 10
    assert recovery_lines(numbered, kept, 0) is None
