"""Phrases, language files and what is wrong with them."""

import copy

import pytest

from polyprune.errors import DataError
from polyprune.miniature import lexicon as files
from polyprune.miniature.events import Event
from polyprune.miniature.lexicon import Lexicon, languages, load, read_file
from polyprune.miniature.lexicon_checks import lexicon_mistakes
from polyprune.miniature.phrases import Word, WritingSystem, fill, parse, whole
from polyprune.miniature.proofread import main
from polyprune.miniature.sentence_rendering import event_sentence, frame_sentence

LATIN = WritingSystem(" ", " ")


def text(phrase: str, script: WritingSystem = LATIN) -> str:
    return script.text(script.begun(fill(phrase, lambda slot: ())))


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("who/PRON came/VERB ,/PUNCT then/ADV ?/PUNCT", "Who came, then?"),
        ("¿/PUNCT qué/PRON ?/PUNCT", "¿Qué?"),
        ("l'/DET ami/NOUN est/VERB là/ADV ./PUNCT", "L'ami est là."),
        ("«/PUNCT _x/NOUN »/PUNCT", "«X»"),
        ("w_/CCONJ bayt/NOUN _hu/PRON", "Wbaythu"),
        ("a/DET {gone} hat/NOUN", "A hat"),
    ],
)
def test_words_become_text(phrase, expected):
    assert text(phrase) == expected


def test_scripts_have_their_own_ways():
    assert text("il/PRON vient/VERB ?/PUNCT", WritingSystem(" ", " ", ("?",))) == "Il vient ?"
    assert text("iki/NUM ev/NOUN", WritingSystem(" ", " ", (), (("i", "İ"),))) == "İki ev"
    assert text("我/PRON 来/VERB 。/PUNCT", WritingSystem("", "")) == "我来。"
    assert text("ß/X", LATIN) == "ß"  # whose capital would be two letters
    assert LATIN.begun(()) == ()


def test_brackets_mark_a_part_and_else_all_is_marked():
    in_paris = whole("in/ADP [New/PROPN York/PROPN]", "city")
    assert [word.slot for word in in_paris] == ["", "city", "city"]
    assert [word.marked for word in whole("last/ADJ week/NOUN", "when")] == [True, True]


@pytest.mark.parametrize(
    ("phrase", "wrong"),
    [
        ("hat", "no part of speech"),
        ("hat/THING", "no part of speech"),
        ("[a/X [b/X]", "bracket too many"),
        ("a/X]", "bracket too many"),
        ("[a/X", "not closed"),
        ("", "no words"),
        ("{what/X", "cannot be one"),
        ("_/X", "cannot be one"),
    ],
)
def test_phrases_say_what_is_wrong(phrase, wrong):
    with pytest.raises(ValueError, match=wrong):
        parse(phrase)


@pytest.mark.parametrize("code", languages())
def test_languages_have_no_mistakes(code):
    assert lexicon_mistakes(read_file(code)) == []


@pytest.fixture
def english():
    return copy.deepcopy(read_file("en"))


def test_missing_and_unknown_keys_are_told_together(english):
    del english["join"], english["cities"]["berlin"]
    english["colour"] = "red"
    english["agrees_with"] = "whom"
    english["times"]["noon"] = 12
    english["places"]["moon"] = "on/ADP"
    english["persons"]["anna"] = "Anna/PROPN"
    english["verbs"]["buy"]["past"] = "bought/VERB {what}"
    english["facts"] = "none"
    wrong = lexicon_mistakes(english)
    for expected in (
        "join is missing",
        "colour is unknown",
        'agrees_with should be "who" or "what"',
        "cities.berlin is missing",
        "places.moon is unknown",
        "persons.anna should be a table",
        "facts should be a table",
        "times.noon should be words between quotes",
        "verbs.buy.past has a slot, {what}, but is no sentence",
    ):
        assert expected in wrong


def _take_gender(data):
    del data["persons"]["anna"]["gender"], data["persons"]["ivan"]["name"]


def _agree_with_things(data):
    data["agrees_with"] = "what"
    del data["things"]["cat"]["red"]


def _genders_without_agreement(data):
    data["verbs"]["buy"]["past"] = {"f": "bought/VERB", "m": "bought/VERB"}
    data["frames"]["doing"]["yes"] = {"m": data["frames"]["doing"]["yes"]}


def _one_gender(data):
    data["agrees_with"] = "who"
    data["verbs"]["buy"]["past"] = {"m": "bought/VERB"}
    data["surnames"]["berg"] = {"f": "Berg/PROPN"}


def _other_slots(data):
    data["frames"]["doing"]["who"] = "who/PRON {past} {what} {where} ?/PUNCT"
    data["frames"]["giving"]["yes"] = "{who} {past} {what} {where} {when} ./PUNCT"
    data["facts"]["settled"]["says"] = "{person.to} moved/VERB in/ADP {year} ./PUNCT"
    data["facts"]["born"]["asks"] = "where/ADV in/ADP {city} ?/PUNCT"


def _forms(data):
    data["frames"]["doing"]["yes"] = "{who.at} {gone} {what.not} {where} {when} ./PUNCT"
    data["verbs"]["buy"]["frames"] = {"whom": "whom/PRON {who} {what} ?/PUNCT"}
    del data["verbs"]["lend"]["got"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_take_gender, ["persons.anna.gender is missing", "persons.ivan.name is missing"]),
        (_agree_with_things, ["things.cat.gender is missing", "things.cat.red is missing"]),
        (
            _genders_without_agreement,
            [
                "verbs.buy.past depends on a gender, but agrees_with is missing",
                "frames.doing.yes depends on a gender, but agrees_with is missing",
            ],
        ),
        (_one_gender, ["verbs.buy.past.f is missing", "surnames.berg.m is missing"]),
        (
            _other_slots,
            [
                "frames.doing.who cannot have {where}",
                "frames.giving.yes lacks {whom}",
                "facts.settled.says lacks {country}",
                "facts.settled.says has {person.to}: full names have one form only",
                "facts.settled.says should have {year} with its part of speech, {year}/NUM",
                "facts.born.asks cannot have {city}",
            ],
        ),
        (
            _forms,
            [
                "persons.someone.at is missing, which frames.doing.yes needs",
                "things.hat.not is missing, which frames.doing.yes needs",
                "verbs.see.gone is missing, which frames.doing.yes needs",
                "verbs.buy.frames.whom is unknown",
                "verbs.lend.got is missing, which frames.giving.converse needs",
            ],
        ),
    ],
)
def test_what_does_not_fit_together_is_told(english, change, expected):
    change(english)
    wrong = lexicon_mistakes(english)
    for line in expected:
        assert line in wrong


def test_verbs_agree_with_who_does_it_and_who_gets_it():
    russian = load("ru")
    gift = Event("anna", "give", "hat", whom="ivan")
    assert "дала" in {word.form for word in event_sentence(russian, gift)}
    assert "получил" in {word.form for word in frame_sentence(russian, gift, "converse")}
    assert [word.form for word in frame_sentence(russian, gift, "who")][:2] == ["Кто", "дал"]


def test_verbs_agree_with_things(english):
    english["agrees_with"] = "what"
    for entry in english["things"].values():
        entry["gender"] = "n"
    english["verbs"]["buy"]["past"] = {"m": "boughto/VERB", "n": "boughtum/VERB"}
    odd = Lexicon("odd", english)
    event = Event("anna", "buy", "hat")
    assert odd.script.text(event_sentence(odd, event)) == "Anna boughtum a hat."
    assert odd.script.text(frame_sentence(odd, event, "who")) == "Who boughtum a hat?"
    assert Word("boughto", "VERB") not in frame_sentence(odd, event, "what")  # "did ... buy"


def test_negations_may_have_articles_of_their_own():
    german = load("de")
    denial = Event("anna", "buy", "hat", "red", happened=False)
    assert (
        german.script.text(event_sentence(german, denial)) == "Anna hat keinen roten Hut gekauft."
    )
    nobody = Event("someone", "buy", "hat", happened=False)
    assert german.script.text(event_sentence(german, nobody)) == "Niemand hat einen Hut gekauft."


def test_wrong_files_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(files, "_FOLDER", tmp_path)
    (tmp_path / "xx.toml").write_text('join = " "', encoding="utf-8")
    (tmp_path / "yy.toml").write_text("join", encoding="utf-8")
    with pytest.raises(DataError, match="'xx' are not right:\n  between is missing"):
        load("xx")
    with pytest.raises(DataError, match="'yy' are not TOML"):
        load("yy")
    assert main(["xx"]) == 1
    assert "between is missing" in capsys.readouterr().out


def test_proofreading_shows_every_kind_of_sentence(capsys):
    assert main(["en"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n== en: ") == 25
    assert "did not" in shown
