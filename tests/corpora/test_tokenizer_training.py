"""A tokenizer made from text gives its text back, with the special tokens where XLM-R has them."""

from unicodedata import normalize

import pytest

from polyprune.corpora.probes import probe_texts
from polyprune.corpora.tokenizer_training import train_tokenizer
from polyprune.errors import ConfigError, DataError

PROBES = [line for lines in probe_texts().values() for line in lines]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(PROBES * 4, 900)


def test_text_in_fifteen_languages_is_given_back(tokenizer):
    for line in PROBES:
        ids = tokenizer(line)["input_ids"]
        assert tokenizer.unk_token_id not in ids
        assert tokenizer.decode(ids, skip_special_tokens=True) == normalize("NFKC", line)


def test_special_tokens_are_where_xlmr_has_them(tokenizer):
    assert tokenizer.convert_ids_to_tokens([0, 1, 2, 3]) == SPECIAL
    assert tokenizer.mask_token_id == len(tokenizer) - 1
    roles = ("bos", "pad", "eos", "unk", "cls", "sep")
    assert [getattr(tokenizer, f"{role}_token_id") for role in roles] == [0, 1, 2, 3, 0, 2]
    assert len(tokenizer.all_special_ids) == 5


def test_a_text_and_a_pair_are_framed_as_in_xlmr(tokenizer):
    one, other = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in PROBES[:2])
    assert tokenizer(PROBES[0])["input_ids"] == [0, *one, 2]
    assert tokenizer(PROBES[0], PROBES[1])["input_ids"] == [0, *one, 2, 2, *other, 2]


def test_a_mask_in_the_text_is_one_token(tokenizer):
    ids = tokenizer("mvua <mask> mbuzi", add_special_tokens=False)["input_ids"]
    assert ids.count(tokenizer.mask_token_id) == 1


def test_blanks_and_compatible_letters_are_alike(tokenizer):
    plain = tokenizer(PROBES[0])["input_ids"]
    wide = PROBES[0].replace(" ", " \t ")
    assert tokenizer(f"  {wide} ")["input_ids"] == plain
    assert tokenizer("ﬁ")["input_ids"] == tokenizer("fi")["input_ids"]


@pytest.mark.parametrize("vocabulary", [400, 900, 100_000])
def test_there_are_no_more_tokens_than_asked_for(vocabulary: int):
    assert len(train_tokenizer(PROBES, vocabulary)) <= vocabulary


def test_the_same_text_gives_the_same_tokenizer(tokenizer):
    again = train_tokenizer(iter(PROBES * 4), 900)
    assert again.backend_tokenizer.to_str() == tokenizer.backend_tokenizer.to_str()


def test_letters_without_room_are_unknown_and_the_others_are_not():
    small = train_tokenizer(["a b a b c"] * 9 + ["d"], 13)
    assert small.unk_token_id not in small("a b c")["input_ids"]
    assert small.unk_token_id in small("d")["input_ids"]


def test_frequent_words_are_one_token_and_unseen_ones_are_pieces(tokenizer):
    trained = train_tokenizer(["mvua kubwa na mvua ndogo"] * 9 + ["mbuzi"], 60)
    assert trained.tokenize("mvua") == ["▁mvua"]
    assert len(trained.tokenize("mvuzi")) > 1


def test_there_must_be_text():
    with pytest.raises(DataError, match="There is no text to make a tokenizer from"):
        train_tokenizer(["", " "], 100)


def test_it_can_be_saved_and_loaded(tokenizer, tmp_path):
    from transformers import AutoTokenizer

    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    for line in PROBES:
        assert loaded(line)["input_ids"] == tokenizer(line)["input_ids"]
    assert loaded.mask_token_id == tokenizer.mask_token_id


@pytest.mark.parametrize("vocabulary", [5, 0])
def test_a_vocabulary_without_words_is_refused(vocabulary: int):
    with pytest.raises(ConfigError, match=f"^A vocabulary of {vocabulary} has no room for words"):
        train_tokenizer(PROBES, vocabulary)
