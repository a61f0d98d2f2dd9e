"""Every verb is a function and a command with the same options, defaults and answers."""

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperOption
from typer.main import get_command

import polyprune as pp
from polyprune.api.request import GENERAL, Request
from polyprune.api.result import Result
from polyprune.cli import app
from support.commands import polyprune
from support.paths import REPOSITORY
from support.xtreme import xtreme_folder

COMMANDS: dict[str, Any] = get_command(app).commands  # pyright: ignore
VERBS = (
    "score",
    "prune",
    "recover",
    "shrink",
    "train",
    "finetune",
    "evaluate",
    "measure",
    "export",
    "study",
    "report",
    "check",
)
OTHERS = {"watch", "demo", "ls"}
"""Commands that only look, or only show."""


def request_type(verb: str) -> type[Request]:
    return getattr(pp, f"{verb.capitalize()}Request")


def test_every_command_but_those_that_only_show_is_a_verb():
    assert set(COMMANDS) - OTHERS == set(VERBS)
    for verb in VERBS:
        assert callable(getattr(pp, verb))
        assert issubclass(getattr(pp, f"{verb.capitalize()}Result"), Result)


@pytest.mark.parametrize("verb", VERBS)
def test_the_keywords_of_a_function_are_the_fields_of_its_request(verb):
    parameters = inspect.signature(getattr(pp, verb)).parameters.values()
    keywords = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    del keywords["progress"]
    fields = request_type(verb).option_fields()
    assert list(keywords) == [field.name for field in fields]
    for field in fields:
        assert keywords[field.name] == (
            inspect.Parameter.empty if field.required else field.default
        )
        assert field.option.help in getattr(pp, verb).__doc__


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_has_the_options_and_defaults_of_its_function(verb):
    options = {p.name: p for p in COMMANDS[verb].params if isinstance(p, TyperOption)}
    del options["as_json"]
    fields = {f.name: f for f in request_type(verb).option_fields() if f.option.in_terminal}
    former = {f.option.formerly for f in fields.values()} - {""}
    assert set(options) - former == set(fields)
    assert all(options[name].hidden for name in former)
    for name, field in fields.items():
        needed = field.required or field.option.needed_in_terminal
        assert options[name].required == needed, name
        if not needed:
            assert options[name].default == field.default, name


@dataclass(frozen=True)
class World:
    """What verbs are tried on."""

    model: Path
    text: Path
    data: Path
    out: Path


RUN = """
[corpus]
source = {text}
block = 24
held_out = 4
[model]
start = {model}
[objective]
mlm = 1.0
[[phases]]
steps = 2
[batch]
size = 4
[saving]
trackers = []
"""


def a_run(world: World) -> Path:
    path = world.out.parent / "run.toml"
    names = {name: json.dumps(str(getattr(world, name))) for name in ("text", "model")}
    path.write_text(RUN.format(**names))
    return path


Case = Callable[[World], tuple[Any, dict[str, Any]]]
"""What the verb is about, and its options."""

CASES: dict[str, Case] = {
    "score": lambda w: (w.model, {"corpus": w.text, "sentences": 2, "out": w.out, "force": True}),
    "prune": lambda w: (
        w.model,
        {"corpus": w.text, "sentences": 2, "sparsity": "50%", "out": w.out, "force": True},
    ),
    "recover": lambda w: (
        w.model,
        {"corpus": w.text, "steps": 2, "batch_size": 4, "out": w.out, "force": True},
    ),
    "shrink": lambda w: (w.model, {"layers": "0", "out": w.out, "force": True}),
    "train": lambda w: (a_run(w), {"out": w.out}),
    "finetune": lambda w: (
        w.model,
        {"task": "xnli", "data": w.data, "epochs": "1", "limit": 4, "out": w.out},
    ),
    "evaluate": lambda w: (w.model, {"task": "tatoeba", "data": w.data, "languages": "ru"}),
    "export": lambda w: (w.model, {"corpus": w.text, "out": w.out, "force": True}),
    "measure": lambda w: ([w.model, w.model], {"tokens": 9, "gpu": "T4"}),
    "study": lambda w: (
        REPOSITORY / "configs/miniature/study.toml",
        {"changes": [f"data={w.data}"], "plan": True, "out": w.out},
    ),
    "report": lambda w: ("paper", {"only": "main"}),
    "check": lambda w: (w.model, {}),
}


@pytest.mark.parametrize("verb", sorted(CASES))
def test_what_json_prints_is_the_result_as_a_dictionary(verb, speaking, text, tmp_path):
    world = World(speaking, text, xtreme_folder(tmp_path / "xtreme"), tmp_path / "out")
    about, options = CASES[verb](world)
    several = about if isinstance(about, list) else [about]
    status, printed, error = polyprune(verb, *several, *typed(verb, options), "--json")
    assert status == 0, error
    # Written again, or found finished: the answer is the same.
    result = getattr(pp, verb)(about, **options)
    assert json.loads(printed) == json.loads(json.dumps(result.as_dict()))
    assert "<" not in repr(result).splitlines()[0]
    assert result._repr_html_()


def typed(verb: str, options: dict[str, Any]) -> list[str]:
    """The options of a function as the command line has them."""
    flags = {field.name: field.option.flag for field in request_type(verb).option_fields()}
    words = []
    for name, value in options.items():
        flag = flags[name].partition("/")[0] or f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, list) else [value]:
            words += [flag] if each is True else [flag, str(each)]
    return words


def test_prune_shows_at_most_fifteen_options_first():
    first = [
        field
        for field in request_type("prune").option_fields()
        if field.option.in_terminal and field.option.panel == GENERAL
    ]
    assert len(first) + len(["--json", "--help"]) <= 15
