import json
from types import SimpleNamespace

import numpy as np
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from polyprune.corpora.padding import input_tensors
from polyprune.errors import ConfigError, DataError
from polyprune.evaluation.examples import TaggedSentence
from polyprune.evaluation.prediction import label_tensors
from polyprune.evaluation.prediction_formats import TAGS
from polyprune.evaluation.readers.tagged_files import PANX
from polyprune.evaluation.tagging import NONE, TaggingPreprocessor, known_pieces, split_sentence
from polyprune.evaluation.tasks import IOB2
from polyprune.model.network.readouts import READOUTS
from support.paths import VECTORS
from support.questions import BERT, ROBERTA, real_xlmr

OFFICIAL = json.loads((VECTORS / "tag_preprocess.json").read_text())


class Toy:
    """The vectors' tokenizer: pieces of three characters, of EMPTY none."""

    pad_token_id, unk_token_id = 1, 3
    model_input_names = ("input_ids", "attention_mask")

    def __call__(self, words, pair=None, **_):
        if pair is None:
            return {"input_ids": [self.split(word) for word in words]}
        ids = [0, *self.split(words), 2, 2, *self.split(pair), 2]
        sources = [None, 0, None, None, 1, None]
        found = transformers.BatchEncoding({"input_ids": ids, "token_type_ids": [0] * len(ids)})
        found.sequence_ids = lambda: sources
        return found

    def split(self, word: str) -> list[int]:
        if word == "EMPTY":
            return []
        return [4 + sum(map(ord, word[i : i + 3])) for i in range(0, len(word), 3)]


@pytest.fixture
def official(tmp_path) -> SimpleNamespace:
    """The sentences of the vectors, read and encoded by us."""
    path = tmp_path / "panx" / "train-en.tsv"
    path.parent.mkdir()
    path.write_text(OFFICIAL["input_train"], encoding="utf-8")
    sentences = list(PANX.read(str(tmp_path), "train", "en"))
    words = TaggingPreprocessor(OFFICIAL["max_len"])
    encoded = list(words.encode(sentences, Toy(), IOB2, training=True))
    return SimpleNamespace(sentences=sentences, words=words, encoded=encoded)


def readable_parts(official) -> list[tuple[list[str], list[str]]]:
    """The words and tags of every input; what cannot be read is `<unk>`."""
    found, last, taken = [], -1, 0
    for each in official.encoded:
        sentence = official.sentences[each.example]
        taken, last = taken if each.example == last else 0, each.example
        own = slice(taken, taken + len(each.about))
        ids = [each.ids[place] for place in each.about]
        words = [
            "<unk>" if first == Toy.unk_token_id else word
            for word, first in zip(sentence.words[own], ids, strict=True)
        ]
        found.append((words, list(sentence.tags[own])))
        taken = own.stop
    return found


def as_file(parts_of_words) -> str:
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts_of_words)


def test_inputs_are_the_official_ones(official):
    assert OFFICIAL["special_tokens_count"] == 3
    assert OFFICIAL["budget"] == official.words.longest - 3
    batch = input_tensors(official.encoded, Toy()) | label_tensors(
        official.encoded, READOUTS["token-classification"]
    )
    for i, feature in enumerate(OFFICIAL["features"]):
        used = batch["input_ids"].shape[1]
        for ours, theirs, padding in (
            ("input_ids", "input_ids", 1),
            ("attention_mask", "input_mask", 0),
            ("labels", "label_ids", -100),
        ):
            row = batch[ours][i].tolist()
            assert row + [padding] * (OFFICIAL["max_len"] - used) == feature[theirs]


def test_sentences_are_split_as_by_the_official_script(official):
    found = readable_parts(official)
    features = [(each["words"], each["labels"]) for each in OFFICIAL["features"]]
    assert found == features
    lines = [[f"{word}\t{tag}" for word, tag in zip(*part, strict=True)] for part in found]
    assert as_file(lines) == OFFICIAL["output_train"]
    # What is asked without tags has the tag O in the official files.
    hidden = [[f"{word}\tO" for word in words] for words, _ in found]
    assert as_file(hidden) == OFFICIAL["output_test"]


def test_inputs_know_their_sentence_as_the_official_files_do(official):
    numbers = [[str(each.example)] * len(each.about) for each in official.encoded]
    assert as_file(numbers) == OFFICIAL["idx_train"] == OFFICIAL["idx_test"]


def test_parts_are_joined_as_by_the_official_script(official):
    said = [f"{label}!" for label in IOB2]
    outputs = []
    for each, tags in zip(official.encoded, OFFICIAL["chunk_predictions"], strict=True):
        output = np.zeros(len(each.ids), dtype=np.int64)
        output[each.about] = [said.index(tag) for tag in tags]
        outputs.append(output)
    joined = official.words.decode(official.sentences, official.encoded, outputs, said)
    assert joined == TAGS.parse(OFFICIAL["merged_prediction_file"])
    # After the last sentence we have an empty line too, as after the others.
    assert TAGS.write(joined) == OFFICIAL["merged_prediction_file"] + "\n"


def test_labels_are_the_official_ones():
    assert list(IOB2) == OFFICIAL["label_list"]


some_words = st.text("abdehilmnrstuy茶山ชา", max_size=30)
some_lines = st.lists(
    st.lists(st.tuples(some_words, st.sampled_from(IOB2)), max_size=25), max_size=5
)


def as_sentences(lines) -> list[TaggedSentence]:
    return [
        TaggedSentence(tuple(w for w, _ in pairs), tuple(t for _, t in pairs)) for pairs in lines
    ]


def oracle(encoded) -> list[np.ndarray]:
    """What a model says that knows all labels; elsewhere it says anything."""
    return [
        np.where(np.array(each.labels or [NONE] * len(each.ids)) == NONE, 0, each.labels or 0)
        for each in encoded
    ]


@given(some_lines, st.sampled_from([(ROBERTA, [0], [2, 2]), (BERT, [2], [3])]), st.integers(4, 40))
def test_no_word_is_lost_and_every_input_fits(lines, family, longest):
    sentences, (tokenizer, before, after) = as_sentences(lines), family
    encoded = list(TaggingPreprocessor(longest).encode(sentences, tokenizer, IOB2, training=True))
    pieces: list[list[int]] = [[] for _ in sentences]
    for each in encoded:
        assert each.ids[: len(before)] == before
        assert each.ids[-len(after) :] == after
        assert len(each.ids) <= longest
        assert each.types is None
        pieces[each.example] += each.ids[len(before) : -len(after)]
    for sentence, found in zip(sentences, pieces, strict=True):
        alone = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in sentence.words]
        unknown = [tokenizer.unk_token_id]
        room = longest - len(before) - len(after)
        expected = [ids if 0 < len(ids) <= room else unknown for ids in alone]
        assert found == [piece for ids in expected for piece in ids]


@given(some_lines, st.sampled_from([ROBERTA, BERT]), st.integers(4, 40))
def test_who_knows_the_labels_finds_the_tags(lines, tokenizer, longest):
    sentences, words = as_sentences(lines), TaggingPreprocessor(longest)
    encoded = list(words.encode(sentences, tokenizer, IOB2, training=True))
    found = words.decode(sentences, encoded, oracle(encoded), IOB2)
    assert found == [list(sentence.tags) for sentence in sentences]


@given(st.lists(st.lists(st.integers(), min_size=1, max_size=9), max_size=40), st.integers(9, 20))
def test_parts_are_as_long_as_they_can_be(words, budget):
    found = split_sentence(words, budget)
    sizes = [sum(map(len, words[start:end])) for start, end in found]
    assert [i for start, end in found for i in range(start, end)] == list(range(len(words)))
    assert max(sizes) <= budget
    for size, (start, _) in zip(sizes, found[1:], strict=False):
        assert size + len(words[start]) > budget


@pytest.mark.parametrize("pieces", [0, 1, 125, 126, 300])
def test_a_word_of_no_piece_or_too_many_is_unknown(pieces):
    word = "abc" * pieces if pieces else "EMPTY"
    known = Toy().split(word) if pieces in (1, 125) else [3]
    (encoded,) = TaggingPreprocessor().encode([TaggedSentence((word,))], Toy())
    assert encoded.ids == [0, *known, 2, 2]
    assert known_pieces(Toy().split(word), 125, 3) == known


def test_a_word_that_fits_alone_has_an_input_of_its_own():
    encoded = list(
        TaggingPreprocessor().encode([TaggedSentence(("abc", "abc" * 125, "abc"))], Toy())
    )
    assert [len(each.ids) for each in encoded] == [4, 128, 4]


def test_long_sentences_become_several_inputs():
    sentence = TaggedSentence(("the", "tea") * 400, ("O", "B-LOC") * 400)
    words = TaggingPreprocessor()
    encoded = list(words.encode([sentence], ROBERTA, IOB2))
    assert [len(each.about) for each in encoded] == [125] * 6 + [50]
    assert words.decode([sentence], encoded, oracle(encoded), IOB2) == [list(sentence.tags)]


def test_sentences_without_tags_or_labels_have_none():
    assert [
        each.labels
        for each in TaggingPreprocessor().encode([TaggedSentence(("tea",))], ROBERTA, IOB2)
    ] == [()]
    tagged = TaggedSentence(("tea",), ("O",))
    assert [each.labels for each in TaggingPreprocessor().encode([tagged], ROBERTA)] == [()]


def test_a_sentence_without_words_has_no_tags():
    sentences = [TaggedSentence((), ())]
    encoded = list(TaggingPreprocessor().encode(sentences, ROBERTA, IOB2, training=True))
    assert [each.ids for each in encoded] == [[0, 2, 2]]
    assert TaggingPreprocessor().decode(sentences, encoded, [np.zeros(3)], IOB2) == [[]]


def test_an_unknown_tag_is_an_error_in_training_only():
    sentences = [TaggedSentence(("tea",), ("O",)), TaggedSentence(("red", "tea"), ("O", "B-TEA"))]
    with pytest.raises(DataError, match=r"Sentence 2 has the tag 'B-TEA'\. There are: B-LOC"):
        list(TaggingPreprocessor().encode(sentences, ROBERTA, IOB2, training=True))
    *_, last = TaggingPreprocessor().encode(sentences, ROBERTA, IOB2)
    assert [last.labels[place] for place in last.about] == [IOB2.index("O"), NONE]


def test_inputs_have_to_have_room_for_words():
    with pytest.raises(ConfigError, match="3 tokens have no room for words"):
        list(TaggingPreprocessor(3).encode([], ROBERTA))


def test_inputs_are_no_longer_than_a_model_can_read():
    assert TaggingPreprocessor().fit(64) == TaggingPreprocessor(64)
    assert TaggingPreprocessor().fit(512) == TaggingPreprocessor(128)


def test_the_real_tokenizer_marks_the_beginning_of_every_word():
    xlmr = real_xlmr()
    sentence = TaggedSentence(("红", "茶", "is", "unquestionably", "good"))
    (encoded,) = TaggingPreprocessor().encode([sentence], xlmr)
    pieces = xlmr.convert_ids_to_tokens(encoded.ids)
    assert pieces[0] == "<s>"
    assert pieces[-2:] == ["</s>", "</s>"]
    assert len(encoded.about) == 5
    assert all(pieces[place].startswith("▁") for place in encoded.about)
    assert "".join(pieces[1:-2]) == "▁" + "▁".join(sentence.words)
