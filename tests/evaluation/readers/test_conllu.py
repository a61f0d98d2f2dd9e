"""Treebanks give the words that XTREME takes from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyprune.errors import DataError
from polyprune.evaluation.examples import TaggedSentence
from polyprune.evaluation.readers.tagged_files import UDPOS
from support.files import write


def line(number, form, tag="_", head="_", enhanced="_") -> str:
    return "\t".join([str(number), form, "_", tag, "_", "_", str(head), "_", enhanced, "_"]) + "\n"


def read(folder, *lines: str, language: str = "de") -> list[TaggedSentence]:
    """What becomes of one treebank's test file with these lines."""
    data = write(folder, {f"UD_X/{language}_x-ud-test.conllu": "".join(lines)})
    return list(UDPOS.read(data, "test", language))


VERB = line(1, "geht", "VERB", 0)
FUSED = [VERB, line("2-3", "zum"), line(2, "zu", "ADP", 4), line(3, "dem", "DET", 4)]
NOUN = line(4, "Haus", "NOUN", 1)


def test_a_fused_word_stands_for_its_parts(tmp_path):
    comments = ["# sent_id = 1\n", "# text = geht zum Haus\n"]
    (found,) = read(tmp_path, *comments, *FUSED, NOUN, "\n")
    # Both parts hang on the noun; ADP comes before DET.
    assert found == TaggedSentence(("geht", "zum", "Haus"), ("VERB", "ADP", "NOUN"))


def test_the_part_that_is_closest_to_the_root_gives_the_tag(tmp_path):
    lines = [line("1-2", "vámonos"), line(1, "vamos", "ADP", 2), line(2, "nos", "PRON", 0)]
    assert read(tmp_path, *lines) == [TaggedSentence(("vámonos",), ("PRON",))]
    lines = [line("1-2", "vámonos"), line(1, "vamos", "DET", 0), line(2, "nos", "PRON", 1)]
    assert read(tmp_path, *lines) == [TaggedSentence(("vámonos",), ("DET",))]


def test_closest_is_counted_in_all_nodes_above_as_the_official_script_does(tmp_path):
    """With enhanced dependencies a node can have several heads, and more nodes above it."""
    parts = [line("2-3", "ab"), line(2, "a", "ADP", 1, "1:case"), line(3, "b", "DET", 4)]
    rest = [line(1, "x", "VERB", 0), line(4, "y", "NOUN", 1)]
    # Plainly a is one step nearer to the root than b,
    (found,) = read(tmp_path, rest[0], *parts, rest[1])
    assert found.tags == ("VERB", "ADP", "NOUN")
    # but not if it has two more heads, each with its own way up.
    parts[1] = line(2, "a", "ADP", 1, "1:case|4:case|5:conj:and|8.1:dep")
    (found,) = read(tmp_path, rest[0], *parts, rest[1], line(5, "z", "NOUN", 4))
    assert found.tags == ("VERB", "DET", "NOUN", "NOUN")


def test_a_circle_of_heads_comes_to_an_end(tmp_path):
    parts = [line("1-2", "ab"), line(1, "a", "NOUN", 2), line(2, "b", "VERB", 1, "0:root|1:x")]
    assert read(tmp_path, *parts) == [TaggedSentence(("ab",), ("VERB",))]


@pytest.mark.parametrize(
    ("language", "tags", "expected"),
    [
        ("de", "DET NOUN", "NOUN"),
        ("de", "AUX PRON", "PRON"),
        ("es", "AUX PRON", "AUX"),
        ("de", "PRON NOUN", "NOUN"),
        ("fr", "NOUN PRON", "PRON"),
        ("it", "PRON ADV", "ADV"),
        # Tags that are not in a list come after those that are, in the order of the parts.
        ("es", "NOUN DET", "DET"),
        ("es", "NOUN ADJ", "NOUN"),
        ("de", "SYM PUNCT", "PUNCT"),
    ],
)
def test_between_equals_each_language_has_its_precedence(tmp_path, language, tags, expected):
    one, other = tags.split()
    lines = [line("1-2", "ab"), line(1, "a", one, 3), line(2, "b", other, 3), line(3, "c", "X", 0)]
    (found,) = read(tmp_path, *lines, language=language)
    assert found == TaggedSentence(("ab", "c"), (expected, "X"))


def test_empty_nodes_are_no_words(tmp_path):
    lines = [line("0.1", "er", "PRON"), VERB, line("1.1", "geht", "VERB"), line(2, "!", "PUNCT", 1)]
    assert read(tmp_path, *lines) == [TaggedSentence(("geht", "!"), ("VERB", "PUNCT"))]


@pytest.mark.parametrize(
    ("forms", "kept"),
    [
        ("_", False),
        ("_ _ _", False),
        ("a _", False),
        ("a _ _", False),
        ("a b _", True),
        ("a", True),
        ("a b", True),
    ],
)
def test_sentences_without_words_are_left_out(tmp_path, forms, kept):
    lines = [line(i, form, "X", i - 1) for i, form in enumerate(forms.split(), 1)]
    expected = [TaggedSentence(tuple(forms.split()), ("X",) * len(lines))] if kept else []
    assert read(tmp_path, VERB, "\n", *lines, "\n") == [
        TaggedSentence(("geht",), ("VERB",)),
        *expected,
    ]


def test_what_would_part_a_word_is_taken_out(tmp_path):
    lines = [line(1, "می\u200cرود", "VERB", 0), line(2, "10 000 ", "NUM", 1)]
    assert read(tmp_path, *lines) == [TaggedSentence(("میرود", "10000"), ("VERB", "NUM"))]


def test_all_treebanks_of_a_language_follow_each_other_by_the_name_of_their_files(tmp_path):
    names = ["UD_English-PUD/en_pud", "UD_English-Pronouns/en_pronouns", "UD_English-A/en_z"]
    data = write(
        tmp_path,
        {f"{name}-ud-test.conllu": line(1, name[-3:], "X", 0) for name in names}
        | {"UD_English-PUD/en_pud-ud-train.conllu": VERB, "UD_Old_X/enm_pud-ud-test.conllu": VERB},
    )
    # XTREME sorts files, not folders, where capitals come first.
    words = [found.words[0] for found in UDPOS.read(data, "test", "en")]
    assert words == ["uns", "pud", "n_z"]
    assert UDPOS.languages(data, "test", ["de", "en"]) == ["en"]


def test_a_long_file_in_parts_is_one(tmp_path):
    data = write(
        tmp_path,
        {f"ud-treebanks-v2.5/UD_G/de_hdt-ud-train-{part}.conllu": VERB for part in ("a-1", "b-1")},
    )
    assert len(list(UDPOS.read(data, "train", "de"))) == 2
    assert UDPOS.languages(data, "translated", ["de"]) == ["de"]


@pytest.mark.parametrize("folder", ["ud-treebanks-v2.5/", "ud-treebanks-v2.7/", "ud_conllu/", ""])
def test_treebanks_are_found_where_they_were_unpacked(tmp_path, folder):
    data = write(tmp_path, {f"{folder}UD_German-X/de_x-ud-dev.conllu": VERB})
    assert list(UDPOS.read(data, "dev", "de")) == [TaggedSentence(("geht",), ("VERB",))]
    write(tmp_path, {"udpos/dev-de.tsv": "läuft\tVERB\n"})
    assert list(UDPOS.read(data, "dev", "de")) == [TaggedSentence(("läuft",), ("VERB",))]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([VERB, "2\tzu\n"], r"Line 2 of .*conllu has 2 columns between tabs, where 10 should be"),
        ([line("one", "zu")], r"Line 1 of .* does not begin with the number of a word, but with"),
        ([VERB, line("2-3", "zum"), line(2, "zu"), "\n"], r"ends at line 4 of .*'zum' .* 2 to 3"),
        ([line("2-1", "zum"), VERB], r"'zum' should be made of the words 2 to 1"),
    ],
)
def test_a_damaged_treebank_is_refused(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, *lines)


forms = st.text(
    st.characters(exclude_characters="\t\n\r_ \u200c\ufeff", exclude_categories=["Cs"]), min_size=1
).filter(lambda form: form == form.strip())


@given(st.lists(st.lists(st.tuples(forms, st.sampled_from(["X", "NOUN"])), min_size=1), min_size=1))
def test_words_that_are_not_fused_are_read_as_they_are(tmp_path_factory, sentences):
    lines = [
        "".join(line(i, form, tag, i - 1) for i, (form, tag) in enumerate(words, 1)) + "\n"
        for words in sentences
    ]
    assert read(tmp_path_factory.mktemp("ud"), *lines) == [
        TaggedSentence(tuple(form for form, _ in words), tuple(tag for _, tag in words))
        for words in sentences
    ]
