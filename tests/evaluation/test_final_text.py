import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.evaluation.final_text import final_text, set_apart
from support.paths import VECTORS

CASES = json.loads((VECTORS / "qa_final_text.json").read_text(encoding="utf-8"))["cases"]
TEXTS = (
    st.text(
        st.sampled_from("ab Z'’(),.$^_é中国、。กิ한\t\u00a0\u3000\u200b\u2028\ufffd\0\U00020000")
    )
    | st.text()
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["pred_text"])
def test_the_text_is_what_the_official_script_recovers(case):
    assert final_text(case["pred_text"], case["orig_text"]) == case["final"]


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("Ann's (red) hat.", "Ann ' s ( red ) hat ."),
        ("tea=5$", "tea = 5 $"),
        ("红茶hot", "红 茶 hot"),
        ("アイス", "アイス"),
        ("a\u200bb\0c\ufffdd", "abcd"),
        ("a\u00a0b\tc", "a b c"),
        ("\U00020000\U0002b740\uf900", "\U00020000 \U0002b740 \uf900"),
        (" ", ""),
    ],
)
def test_punctuation_and_ideographs_stand_alone(text, apart):
    assert set_apart(text) == apart


@pytest.mark.parametrize(
    ("predicted", "original"),
    [
        ("hat", "the cap"),
        ("", "the cap"),
        ("a", "a\u3000b"),
        ("b", "a\u200bb"),
        (" ", "the cap"),
        ("e ", "the cap"),
    ],
)
def test_where_characters_cannot_be_matched_all_words_are_the_answer(predicted, original):
    assert final_text(predicted, original) == original


def test_the_first_of_several_places_counts():
    assert final_text("no", "(no)no") == "no"
    assert final_text("a ' s", "ana's") == "a's"


@given(TEXTS, TEXTS)
def test_an_answer_is_always_a_part_of_the_words(predicted, original):
    assert final_text(predicted, original) in original


@given(TEXTS)
def test_setting_apart_is_the_same_as_doing_it_step_by_step(text):
    """Clean; surround ideographs; split at spaces; split every word at its punctuation."""
    clean = ""
    for character in text:
        category = unicodedata.category(character)
        if character in " \t\n\r" or category == "Zs":
            clean += " "
        elif ord(character) not in (0, 0xFFFD) and category[0] != "C":
            clean += character
    blocks = [
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B820, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    ]
    wide = ""
    for character in clean:
        ideograph = any(first <= ord(character) <= last for first, last in blocks)
        wide += f" {character} " if ideograph else character
    parts = []
    for word in wide.split():
        part = ""
        for character in word:
            ascii_symbol = "!" <= character <= "~" and not character.isalnum()
            if ascii_symbol or unicodedata.category(character)[0] == "P":
                parts += [part, character]
                part = ""
            else:
                part += character
        parts.append(part)
    assert set_apart(text) == " ".join(" ".join(parts).split())
