"""How tests depend on each other, and what they have to say."""

import ast
from functools import cache
from pathlib import Path

from support.paths import REPOSITORY


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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
