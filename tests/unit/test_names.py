"""A newcomer finds what a name means: no class name stands for two things, and a statement is found by its function."""

import ast
from collections import defaultdict
from pathlib import Path

import noonmark

SOURCE = Path(noonmark.__file__).parent
MADE = SOURCE / "client" / "sync"
"""The blocking half of the SDK is made from the async one, and has its names."""
APART = {
    "advance_watermarks", "delete_grants", "delete_runs", "insert_attempts", "insert_dead", "insert_grant", "mark_cancelling", "page_lane",
    "page_shard", "requeue_runs", "tick_runs", "wake_runs",
}  # fmt: skip
"""Statements that a function of another name executes, as one of the steps of a transaction. May only become fewer."""


def modules(root: Path = SOURCE) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py")) if MADE not in path.parents}


def test_no_public_class_name_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_bounds_are_called_max() -> None:
    rooms = ("node", "shard", "store", "worker", "notify")
    found = [
        f"{path.relative_to(SOURCE)}: {node.id}"
        for room in rooms
        for path, tree in modules(SOURCE / room).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id.isupper() and "MOST" in node.id.split("_")
    ]
    assert [name for name in found if "commands" not in name] == []


def test_a_statement_is_executed_by_the_function_of_its_name() -> None:
    statements = {path.stem for path in (SOURCE / "store" / "sql").glob("*.sql")}
    kept = {
        node.name
        for tree in modules(SOURCE / "store").values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _texts(node)
    }
    assert statements - kept - APART == set()


def _texts(function: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(function) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
