"""JSON Schemas of the wire types, with the docstring of each field."""

import ast
import inspect
from collections.abc import Iterable
from functools import cache
from textwrap import dedent
from typing import Any

import msgspec
from msgspec import inspect as kinds

from noonmark.api.openapi.bounds import bind

TEMPLATE = "#/components/schemas/{name}"
Schema = dict[str, Any]


def schemas_of(types: Iterable[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """The schema of each type, and the components that they refer to, by name."""
    wanted = list(types)
    found, components = msgspec.json.schema_components(wanted, ref_template=TEMPLATE)
    for struct in _structs_in(wanted):
        if (schema := components.get(struct.__name__)) is not None:
            _explain(schema, struct)
    for schema in (*found, *components.values()):
        _simplify(schema)
    return list(found), dict(sorted(components.items()))


def _simplify(part: Any) -> None:
    """A tuple of equal places is an array of that length, which more tools understand than places one by one."""
    if isinstance(part, list):
        for item in part:
            _simplify(item)
    elif isinstance(part, dict):
        places = part.get("prefixItems")
        if places and part.get("items") is False and all(place == places[0] for place in places):
            del part["prefixItems"]
            part["items"] = places[0]
        for value in part.values():
            _simplify(value)


def _structs_in(types: list[Any]) -> list[type[msgspec.Struct]]:
    found: dict[type[msgspec.Struct], None] = {}

    def visit(kind: kinds.Type) -> None:
        match kind:
            case kinds.StructType(cls=cls, fields=fields):
                if cls not in found:
                    found[cls] = None
                    for field in fields:
                        visit(field.type)
            case kinds.UnionType(types=parts):
                for part in parts:
                    visit(part)
            case kinds.Metadata(type=inner):
                visit(inner)
            case kinds.ListType(item_type=inner) | kinds.VarTupleType(item_type=inner):
                visit(inner)
            case kinds.DictType(value_type=inner):
                visit(inner)
            case _:
                pass

    for kind in kinds.multi_type_info(types):
        visit(kind)
    return list(found)


def _explain(schema: Schema, struct: type[msgspec.Struct]) -> None:
    if not struct.__doc__ or struct.__doc__.startswith(f"{struct.__name__}("):
        schema.pop("description", None)
    properties: dict[str, Schema] = schema.get("properties", {})
    bind(struct.__name__, properties)
    notes = _notes(struct)
    described = kinds.type_info(struct)
    assert isinstance(described, kinds.StructType)
    for field in described.fields:
        place = properties.get(field.encode_name)
        if place is None:
            continue
        if _is_time(field.type):
            _mark_time(place)
        if note := notes.get(field.name):
            place["description"] = note


def _is_time(kind: kinds.Type) -> bool:
    if isinstance(kind, kinds.UnionType):
        return any(_is_time(part) for part in kind.types)
    return isinstance(kind, kinds.DateTimeType)


def _mark_time(schema: Schema) -> None:
    """msgspec says `date-time` only where it demands a zone; we demand one everywhere."""
    for part in (schema, *schema.get("anyOf", ())):
        if part.get("type") == "string":
            part["format"] = "date-time"


@cache
def _notes(struct: type[msgspec.Struct]) -> dict[str, str]:
    """The string under each field, as one line; those of the classes that it builds on as well."""
    found: dict[str, str] = {}
    for cls in reversed(struct.__mro__):
        if not issubclass(cls, msgspec.Struct) or cls is msgspec.Struct:
            continue
        body = ast.parse(dedent(inspect.getsource(cls))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, note in zip(body.body, body.body[1:], strict=False):
            match field, note:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = " ".join(text.split())
    return found
