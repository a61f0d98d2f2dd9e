"""How the packages may depend on each other, and how large files, functions and names may grow."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from support.paths import REPOSITORY

SOURCE = REPOSITORY / "src" / "polyprune"
DEEPEST = 18
"""Modules on the longest chain of imports."""
LONGEST_FILE, LONGEST_FUNCTION = 300, 60
"""In lines; a docstring counts for a file and not for a function."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the package, by its dotted name."""
    paths = {}
    for path in SOURCE.rglob("*.py"):
        parts = ("polyprune", *path.relative_to(SOURCE).with_suffix("").parts)
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes_at_run_time(node: ast.AST):
    """All nodes but those that only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            children = child.orelse
        else:
            yield child
            children = [child]
        for each in children:
            yield from nodes_at_run_time(each)


def imports(name: str) -> set[str]:
    """The modules of this package that a module imports, at its top or inside its functions."""
    path, found = modules()[name], set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in nodes_at_run_time(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= (inner & modules().keys()) or {base}
            found |= {base} if inner - modules().keys() else set()
    return (found & modules().keys()) - {name}


@cache
def graph() -> dict[str, set[str]]:
    return {name: imports(name) for name in modules()}


def chain_from(name: str, known: dict[str, list[str]], above: tuple[str, ...] = ()) -> list[str]:
    """The longest chain of imports that begins with a module; raises if it comes back to it."""
    if name in above:
        raise AssertionError(f"a cycle: {' > '.join([*above[above.index(name) :], name])}")
    if name not in known:
        below = [chain_from(each, known, (*above, name)) for each in sorted(graph()[name])]
        known[name] = [name, *max(below, key=len, default=[])]
    return known[name]


def test_no_import_cycle_and_no_long_chain():
    known: dict[str, list[str]] = {}
    for name in modules():
        chain_from(name, known)
    longest = max(known.values(), key=len)
    assert len(longest) <= DEEPEST, " > ".join(longest)


def test_no_module_is_imported_by_a_string():
    for name, path in modules().items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("import_module", "__import__")
            ):
                assert "polyprune" not in ast.unparse(node), f"{name}:{node.lineno}"


def test_files_and_functions_are_short():
    for name, path in modules().items():
        assert path.read_text(encoding="utf-8").count("\n") <= LONGEST_FILE, name
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[ast.get_docstring(node) is not None :]
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= LONGEST_FUNCTION, f"{name}.{node.name}: {lines} lines"


def test_no_class_name_is_defined_in_two_files():
    homes = defaultdict(set)
    for name, path in modules().items():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(name)
    assert {name: sorted(where) for name, where in homes.items() if len(where) > 1} == {}


def test_docstrings_can_be_understood_on_hover():
    """None is the rest of a sentence that begins with the name: "Of a cell"."""
    wrong = []
    for name, path in modules().items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                if re.match(r"Of\b", ast.get_docstring(node) or ""):
                    wrong.append(f"{name}.{getattr(node, 'name', '')}")
            elif isinstance(node, ast.Expr) and re.match(r"[\"']+Of\b", ast.unparse(node)):
                wrong.append(f"{name}:{node.lineno}")
    assert wrong == []


@cache
def tables() -> dict[str, set[str]]:
    """The modules that ARCHITECTURE.md names, by package."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = {}
    for heading, body in re.findall(r"^### (\S+/)\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE):
        cells = [line.split("|")[1] for line in body.splitlines() if line.startswith("|")]
        found[heading] = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    return found


def folders() -> dict[str, set[str]]:
    """The modules that there are, by package."""
    found = defaultdict(set)
    for name in modules().values():
        if name.stem not in ("__init__", "__main__"):
            folder = name.parent.relative_to(SOURCE).as_posix()
            found["polyprune/" if folder == "." else f"{folder}/"].add(name.stem)
    return found


def test_the_tables_of_the_architecture_are_the_tree():
    named, there = tables(), folders()
    inner = {
        f"{package}{name}" for package, names in named.items() for name in names if "/" in name
    }
    for package, names in there.items():
        if package not in inner:
            assert package in named, f"ARCHITECTURE.md has no table of {package}"
            assert {name for name in named[package] if "/" not in name} == names, package
    assert named.keys() | inner == there.keys() | inner
    assert inner <= there.keys()


def test_no_refusal_is_accepted_whatever_it_says():
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                assert ast.unparse(node.value.func) != "refused", f"{path.name}:{node.lineno}"


def test_tests_import_from_support_and_never_from_each_other():
    for path in (REPOSITORY / "tests").rglob("*.py"):
        for node in ast.walk(tree(path)) if "fixtures" not in path.parts else ():
            if isinstance(node, ast.ImportFrom):
                base = (node.module or "").split(".")[0]
                assert base != "conftest", f"{path.name}:{node.lineno}"
                assert not base.startswith("test_"), f"{path.name}:{node.lineno}"
