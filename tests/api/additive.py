"""What of one OpenAPI document would break a client that was written against an earlier one.

A request that was good must stay good; of an answer, what was there must stay there, with no type that was not
expected. New values of an answer's enum are no break: docs/api.md asks clients to bear with them.
"""

from collections.abc import Iterator
from typing import Any, Literal

Json = dict[str, Any]
Direction = Literal["request", "answer"]
_METHODS = ("get", "put", "post", "patch", "delete")
_FLOORS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_CEILINGS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def breaks(before: Json, after: Json) -> list[str]:
    return list(_Comparison(before, after).documents())


class _Comparison:
    def __init__(self, before: Json, after: Json) -> None:
        self._before, self._after = before, after
        self._seen: set[tuple[str, str, Direction]] = set()

    def documents(self) -> Iterator[str]:
        for path, item in self._before["paths"].items():
            now = self._after["paths"].get(path)
            if now is None:
                yield f"{path}: the path is gone"
                continue
            for method in _METHODS:
                if method not in item:
                    continue
                place = f"{method.upper()} {path}"
                if method not in now:
                    yield f"{place}: the operation is gone"
                    continue
                yield from self._operation(place, item[method], now[method])

    def _operation(self, place: str, old: Json, new: Json) -> Iterator[str]:
        if old["operationId"] != new["operationId"]:
            yield f"{place}: operationId was {old['operationId']} and is {new['operationId']}"
        yield from self._parameters(place, old, new)
        yield from self._body(place, old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            if status.startswith("2"):
                yield from self._answer(f"{place} {status}", answer, new["responses"].get(status))

    def _parameters(self, place: str, old: Json, new: Json) -> Iterator[str]:
        known = {(p["in"], p["name"]): p for p in self._all(self._before, old.get("parameters", []))}
        now = {(p["in"], p["name"]): p for p in self._all(self._after, new.get("parameters", []))}
        for key, parameter in known.items():
            where = f"{place} parameter {key[1]}"
            if key not in now:
                yield f"{where}: is gone"
                continue
            if now[key].get("required") and not parameter.get("required"):
                yield f"{where}: is required now"
            yield from self._schema(where, parameter["schema"], now[key]["schema"], "request")
        for key, parameter in now.items():
            if key not in known and parameter.get("required"):
                yield f"{place} parameter {key[1]}: is new and required"

    def _body(self, place: str, old: Json | None, new: Json | None) -> Iterator[str]:
        if new is None:
            if old is not None:
                yield f"{place} body: is gone"
            return
        if new.get("required") and not (old or {}).get("required"):
            yield f"{place} body: is required now"
        for kind, content in (old or {"content": {}})["content"].items():
            if kind not in new["content"]:
                yield f"{place} body: {kind} is not taken any more"
            else:
                yield from self._schema(f"{place} body", content["schema"], new["content"][kind]["schema"], "request")

    def _answer(self, place: str, old: Json, new: Json | None) -> Iterator[str]:
        if new is None:
            yield f"{place}: the status is gone"
            return
        for name in old.get("headers", {}):
            if name not in new.get("headers", {}):
                yield f"{place} header {name}: is gone"
        for kind, content in old.get("content", {}).items():
            if kind not in new.get("content", {}):
                yield f"{place}: {kind} is not answered any more"
            else:
                yield from self._schema(place, content["schema"], new["content"][kind]["schema"], "answer")

    # Schemas

    def _schema(self, place: str, old: Json, new: Json, direction: Direction) -> Iterator[str]:
        if "$ref" in old and "$ref" in new:
            key = (old["$ref"], new["$ref"], direction)
            if key in self._seen:
                return
            self._seen.add(key)
        old, new = _resolve(self._before, old), _resolve(self._after, new)
        if "anyOf" in old or "anyOf" in new:
            yield from self._alternatives(place, _alternatives(old), _alternatives(new), direction)
            return
        wider, narrower = (new, old) if direction == "request" else (old, new)
        if missing := _types(narrower) - _accepted(wider):
            verb = "is not taken any more" if direction == "request" else "may come now"
            yield f"{place}: {', '.join(sorted(missing))} {verb}"
            return
        if direction == "request":
            yield from _narrowed(place, old, new)
        elif len(old.get("enum", ())) == len(new.get("enum", ())) == 1 and old["enum"] != new["enum"]:
            # One value alone is a mark that tells alternatives apart, not a list that may grow.
            yield f"{place}: {new['enum'][0]} may come now"
        yield from self._properties(place, old, new, direction)
        if "items" in old and "items" in new and isinstance(old["items"], dict) and isinstance(new["items"], dict):
            yield from self._schema(f"{place}[]", old["items"], new["items"], direction)
        if "prefixItems" in old:
            places = new.get("prefixItems", [])
            if len(places) < len(old["prefixItems"]) and direction == "answer":
                yield f"{place}: has fewer places"
            for position, (was, now) in enumerate(zip(old["prefixItems"], places, strict=False)):
                yield from self._schema(f"{place}[{position}]", was, now, direction)

    def _alternatives(self, place: str, old: list[Json], new: list[Json], direction: Direction) -> Iterator[str]:
        """Each that was taken has one that takes it; each that may come has one that was expected."""
        asked, offered = (old, new) if direction == "request" else (new, old)
        for one in asked:
            found = [self._tried(place, *((one, other) if direction == "request" else (other, one)), direction)
                     for other in offered]  # fmt: skip
            if all(found):
                yield from min(found, key=len)

    def _tried(self, place: str, old: Json, new: Json, direction: Direction) -> list[str]:
        trial = _Comparison(self._before, self._after)
        trial._seen = set(self._seen)
        return list(trial._schema(place, old, new, direction))

    def _properties(self, place: str, old: Json, new: Json, direction: Direction) -> Iterator[str]:
        known, now = old.get("properties", {}), new.get("properties", {})
        for name in known.keys() - now.keys():
            if direction == "answer" or new.get("additionalProperties") is False:
                yield f"{place}.{name}: is gone"
        required, was_required = set(new.get("required", [])), set(old.get("required", []))
        if direction == "request":
            for name in required - was_required:
                yield f"{place}.{name}: is required now"
            if new.get("additionalProperties") is False and old.get("additionalProperties") is not False and known:
                yield f"{place}: takes no other fields any more"
        else:
            for name in (was_required & now.keys()) - required:
                yield f"{place}.{name}: may be left out now"
        for name in known.keys() & now.keys():
            yield from self._schema(f"{place}.{name}", known[name], now[name], direction)

    def _all(self, document: Json, parts: list[Json]) -> list[Json]:
        return [_resolve(document, part) for part in parts]


def _resolve(document: Json, part: Json) -> Json:
    while "$ref" in part:
        found: Any = document
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def _alternatives(schema: Json) -> list[Json]:
    return list(schema["anyOf"]) if "anyOf" in schema else [schema]


def _types(schema: Json) -> set[str]:
    """`any` for a schema that says nothing of types."""
    if "type" in schema:
        return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    if "enum" in schema:
        return {_type_of(value) for value in schema["enum"]}
    return {"any"}


def _accepted(schema: Json) -> set[str]:
    types = _types(schema)
    if "any" in types:
        return {"any", "null", "boolean", "integer", "number", "string", "array", "object"}
    return types | {"integer"} if "number" in types else types


def _type_of(value: object) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return kinds[type(value)]


def _narrowed(place: str, old: Json, new: Json) -> Iterator[str]:
    if "enum" in new and (gone := set(old.get("enum", ["anything else"])) - set(new["enum"])):
        yield f"{place}: {', '.join(sorted(map(str, gone)))} is not taken any more"
    for bounds, tighter in ((_FLOORS, lambda was, now: now > was), (_CEILINGS, lambda was, now: now < was)):
        for bound in bounds:
            if bound in new and (bound not in old or tighter(old[bound], new[bound])):
                yield f"{place}: {bound} is {new[bound]} now"
    for word in ("pattern", "format"):
        if word in new and new[word] != old.get(word):
            yield f"{place}: {word} is {new[word]} now"
