"""YAML that remembers the line of every value.

Scalars are read by YAML 1.2: `on`, `no` and `22:00` are text, a time stays as it is written. JSON is YAML too.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from noonmark.errors import InvalidInput

MAX_VALUES = 1_000_000
"""A few aliases can stand for more values than any memory holds."""
Path = tuple[str | int, ...]
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True,
          "false": False, "False": False, "FALSE": False}  # fmt: skip
_STEP = re.compile(r"\.([^.\[\]]+)|\[([0-9.]+)\]")
_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document(msgspec.Struct, frozen=True):
    """The value, and the line (from 1) of everything in it."""

    source: str
    value: Any
    lines: dict[Path, int]

    def place(self, path: Path) -> str:
        """`jobs.yaml:12`, of the value or of the nearest one around it."""
        while path not in self.lines and path:
            path = path[:-1]
        return f"{self.source}:{self.lines.get(path, 1)}"


def read_documents(source: str, text: str) -> Iterator[Document]:
    try:
        for node in yaml.compose_all(text.expandtabs() if source.endswith(".json") else text, Loader=_loader):
            if node is not None:
                reading = _Reading(source)
                yield Document(source, reading.value(node, ()), reading.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        raise InvalidInput(where, f"this is not YAML: {error.problem or error}", "see the column after it") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidInput(source, f"this is not YAML: {error}", "is it a text file in UTF-8?") from None


def steps(path: str) -> Path:
    """`$.jobs[2].retry` of msgspec's messages as a path; a name that it does not tell ends the path."""
    found: list[str | int] = []
    for name, position in _STEP.findall(path):
        if position == "...":
            break
        found.append(name or int(position))
    return tuple(found)


class _Reading:
    def __init__(self, source: str) -> None:
        self._source = source
        self._left = MAX_VALUES
        self.lines: dict[Path, int] = {}

    def value(self, node: Any, path: Path) -> Any:
        self._left -= 1
        if self._left < 0:
            raise InvalidInput(self._source, f"more than {MAX_VALUES} values", "use several manifests")
        self.lines.setdefault(path, node.start_mark.line + 1)
        match node:
            case yaml.ScalarNode():
                return _scalar(node)
            case yaml.SequenceNode():
                return [self.value(item, (*path, position)) for position, item in enumerate(node.value)]
            case yaml.MappingNode():
                return self._mapping(node, path)
        raise InvalidInput(self._source, f"no such thing in a manifest: {node}", "use mappings, lists and scalars")

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                raise InvalidInput(f"{self._source}:{line}", "a key must be text", "quote it")
            if key in found:
                raise InvalidInput(f"{self._source}:{line}", f"{key!r} is here twice", "keep one of them")
            if key == "<<":
                for part in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                    taken = self.value(part, path)
                    if not isinstance(taken, dict):
                        raise InvalidInput(f"{self._source}:{line}", "only a mapping can be merged", "see YAML's <<")
                    merged = taken | merged
                continue
            self.lines[(*path, key)] = line
            found[key] = self.value(value_node, (*path, key))
        return merged | found


def _scalar(node: Any) -> Any:
    text: str = node.value
    if node.style:  # quoted, or a block
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
