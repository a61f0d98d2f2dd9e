"""Users' own modules: found by name, and what goes wrong with them in one sentence."""

import sys

import pytest

from polyprune.errors import ConfigError
from polyprune.own_code import code_hash, own_module, split_name

GROUP = "polyprune.tested"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a module into the working directory, which is on no path."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(code)

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("own_"):
            del sys.modules[name]


def test_a_module_in_the_working_directory_is_found_and_the_path_is_left_as_it_was(write):
    write("own_a", "answer = 42")
    before = list(sys.path)
    assert own_module("own_a").answer == 42
    assert sys.path == before


def test_what_is_installed_comes_before_the_working_directory(write):
    write("tomllib", "raise ValueError('mine')")
    assert own_module("tomllib").loads("a = 1") == {"a": 1}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1 / 0", "Importing own_b fails with ZeroDivisionError: division by zero. Mend"),
        ("import own_missing", "fails with ModuleNotFoundError: No module named 'own_missing'"),
        ("raise SystemExit(3)", "fails with SystemExit: 3"),
        ("def (", "fails with SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(write, code, told):
    write("own_b", code)
    with pytest.raises(ConfigError, match=told):
        own_module("own_b")


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="There is no module own_nowhere: it has to be installed"):
        own_module("own_nowhere")
    with pytest.raises(ConfigError, match=r"There is no module own_nowhere\.inner"):
        own_module("own_nowhere.inner")


@pytest.mark.parametrize("name", ["", ":", "a:", ":b", "a:b c", "plain"])
def test_a_name_has_two_parts(name):
    with pytest.raises(ConfigError, match="named module:name, such as my_rules:mine"):
        split_name(name, GROUP)
    assert split_name("a.b:c", GROUP) == ("a.b", "c")


def test_the_hash_is_that_of_the_code(write):
    write("own_c", "answer = 1")
    write("own_d", "answer = 1")
    write("own_e", "answer = 2")
    assert code_hash("own_c") == code_hash("own_d") != code_hash("own_e")
    assert code_hash("sys") == ""
