"""From a path to the endpoints that stand at it, by method."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from noonmark.api.problems import MethodNotAllowed
from noonmark.errors import NotFound

Target = TypeVar("Target")


class Place(Generic[Target]):
    """The endpoints at a path, and the places below it."""

    __slots__ = ("allowed", "by_method", "literal", "parameter")

    def __init__(self) -> None:
        self.by_method: dict[str, Target] = {}
        self.allowed = ""
        self.literal: dict[str, Place[Target]] = {}
        self.parameter: Place[Target] | None = None

    def find(self, parts: list[str], depth: int, values: list[str]) -> "Place[Target] | None":
        """A literal part goes before a parameter; `values` gets the values of the parameters."""
        if depth >= len(parts):
            return self if self.by_method else None
        part = parts[depth]
        below = self.literal.get(part)
        if below is not None and (found := below.find(parts, depth + 1, values)) is not None:
            return found
        if self.parameter is None or not part:
            return None
        values.append(part)
        found = self.parameter.find(parts, depth + 1, values)
        if found is None:
            values.pop()
        return found


class FoundRoute(NamedTuple, Generic[Target]):
    place: Place[Target]
    values: list[str]

    def target(self, method: str) -> Target:
        found = self.place.by_method.get(method)
        if found is None:
            raise MethodNotAllowed(self.place.allowed)
        return found


class Routes(Generic[Target]):
    def __init__(self, targets: Iterable[tuple[str, str, Target]]) -> None:
        """(method, path, target)"""
        self._root: Place[Target] = Place()
        for method, path, target in targets:
            place = self._root
            for part in path.split("/")[1:]:
                if part.startswith("{"):
                    place.parameter = place = place.parameter or Place()
                else:
                    place = place.literal.setdefault(part, Place())
            assert method not in place.by_method, f"{method} {path} stands twice in the table"
            place.by_method[method] = target
            if method == "GET":
                place.by_method["HEAD"] = target
            place.allowed = ", ".join(sorted({*place.by_method, "OPTIONS"}))

    def find(self, path: str) -> FoundRoute[Target]:
        """A slash at the end makes no difference."""
        parts = path.split("/")
        if not parts[-1]:
            parts.pop()
        values: list[str] = []
        place = self._root.find(parts, 1, values)
        if place is None:
            raise NotFound("there is nothing at this address", fix="see the list of routes")
        return FoundRoute(place, values)
