"""A newcomer finds what a name means: no class name stands for two things, and a statement is found by its function."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import noonmark

SOURCE = Path(noonmark.__file__).parent
MADE = SOURCE / "client" / "sync"
"""The blocking half of the SDK is made from the async one, and has its names."""
PART_ONLY = {"insert_attempts"}
"""Only ever a part of the statement that commit_few.py composes: a larger batch is copied. May only become fewer."""


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
    found = [
        f"{path.relative_to(SOURCE)}: {node.id}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id.isupper() and "MOST" in node.id.split("_")
    ]
    assert [name for name in found if not name.endswith(": AT_MOST_ONCE")] == []


GONE = {
    "asked_by", "bury", "doing", "doings", "link_us", "manners", "outlook", "rewait",
    "settle", "settled", "stories", "tell", "told", "told_of", "turnstile", "unsettled",
}  # fmt: skip
"""Names that meant nothing, or several things."""


def test_names_that_needed_a_translation_stay_out() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path, tree in modules().items()
        for name in sorted(_names(tree))
        if name.strip("_").lower() in GONE
    ]
    assert [name for name in found if name not in ALLOWED] == []


ALLOWED = {"cli/child.py: tell", "cli/up/conduct.py: doing"}
"""A file's position; what is being done meanwhile."""


def _names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


def test_a_statement_is_executed_by_the_function_of_its_name() -> None:
    statements = {path.stem for path in (SOURCE / "store" / "sql").glob("*.sql")}
    kept = {
        node.name
        for tree in modules(SOURCE / "store").values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _texts(node)
    }
    assert statements - kept - PART_ONLY == set()


SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|COPY|LISTEN|NOTIFY|BEGIN|SET)\s")
SPEAKS_SQL = {"client/transaction.py"}
"""The SDK's submission inside the caller's own transaction."""


def test_sql_stands_in_the_store_alone() -> None:
    found = [
        f"{path.relative_to(SOURCE)}: {text[:60]}"
        for path, tree in modules().items()
        if SOURCE / "store" not in path.parents and str(path.relative_to(SOURCE)) not in SPEAKS_SQL
        for text in sorted(_texts(tree))
        if SQL.match(text)
    ]
    assert found == []


def test_no_module_imports_the_whole_package() -> None:
    """Its `__init__` gathers the public names from the modules below: an import of it from there would be a ring."""
    found = [
        f"{path.relative_to(SOURCE)}: {alias.name}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "noonmark"
        for alias in node.names
        if not (SOURCE / alias.name).is_dir() and not (SOURCE / f"{alias.name}.py").is_file()
    ]
    assert found == ["sample.py: App"], "the example for users writes what they write"


def _texts(function: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(function) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
