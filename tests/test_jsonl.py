"""JSON lines: what is torn, damaged or something else, for readers of three kinds."""

import pytest

from polyprune.jsonl import DamagedLine, parse_object, read_log, read_objects


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "lines.jsonl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize("read", [read_objects, read_log])
def test_no_file_has_no_lines(tmp_path, read):
    assert read(tmp_path / "nowhere") == []


def test_objects_are_read_and_others_left_out(file):
    path = file('{"n": 1}\n\n[2]\n"three"\n{"n": "a\u2028b"}\n')
    objects = [{"n": 1}, {"n": "a\u2028b"}]
    assert read_objects(path) == read_objects(path, strict=True) == read_log(path) == objects


def test_a_torn_last_line_counts_for_nobody(file):
    path = file('{"n": 1}\n{"n": ')
    assert read_objects(path) == read_objects(path, strict=True) == read_log(path) == [{"n": 1}]


def test_a_last_line_without_its_end_counts_unless_more_may_be_written_to_it(file):
    path = file('{"n": 1}\n{"n": 2}')
    assert read_objects(path) == read_objects(path, strict=True) == [{"n": 1}, {"n": 2}]
    assert read_log(path) == [{"n": 1}]


def test_a_damaged_line_is_left_out_or_refused(file):
    path = file('{"n": 1}\n{"n": \n{"n": 3}\n')
    assert read_objects(path) == [{"n": 1}, {"n": 3}]
    with pytest.raises(DamagedLine, match="Line 2 is not JSON") as error:
        read_objects(path, strict=True)
    assert error.value.number == 2
    with pytest.raises(DamagedLine, match="Line 2 is not JSON"):
        read_log(path)


def test_half_a_letter_at_the_end_is_torn_too(file):
    path = file(b'{"n": 1}\n{"n": "\xc3')
    assert read_objects(path) == [{"n": 1}]
    with pytest.raises(UnicodeDecodeError):
        read_objects(path, strict=True)


def test_a_line_is_an_object_or_nothing():
    assert parse_object(b'{"n": 1}') == {"n": 1}
    assert parse_object("{torn") is parse_object(b"\xff") is parse_object("[1]") is None
