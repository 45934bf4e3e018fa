"""`?fields=id,name`: a part of each resource."""

from collections.abc import Callable
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from noonmark.errors import InvalidInput

PARAMETER = "fields"
MAX_FIELDS = 1000
"""Characters of the parameter."""

Cut = Callable[[bytes], bytes]
_Parts = dict[str, msgspec.Raw]
_object = msgspec.json.Decoder(_Parts)
_objects = msgspec.json.Decoder(list[_Parts])


class Shape(NamedTuple):
    """A resource, or a list of them in the field `items` of an envelope."""

    resource: type[msgspec.Struct]
    items: str | None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.encode_name for field in msgspec.structs.fields(self.resource))


def shape_of(answer: Any) -> Shape | None:
    """None if the answer is no JSON object."""
    if not _is_struct(answer):
        return None
    fields = msgspec.structs.fields(answer)
    # A list of a resource's own parts does not make it a page: a page has a cursor besides, or nothing.
    if len(fields) == 1 or any(field.name == "next_cursor" for field in fields):
        for field in fields:
            if (item := _item_of(field.type)) is not None:
                return Shape(item, field.encode_name)
    return Shape(answer, None)


def cut_to(shape: Shape, asked: str) -> Cut:
    if len(asked) > MAX_FIELDS:
        raise InvalidInput(PARAMETER, "it is too long", f"use at most {MAX_FIELDS} characters")
    names = [name.strip() for name in asked.split(",") if name.strip()]
    if not names:
        raise InvalidInput(PARAMETER, "it names no field", "name some, or leave the parameter out")
    for name in names:
        if name not in shape.fields:
            fix = f"use any of {', '.join(shape.fields)}"
            raise InvalidInput(PARAMETER, f"there is no field {name[:80]!r}", fix)

    def cut(whole: bytes) -> bytes:
        parts = _object.decode(whole)
        if shape.items is None:
            return msgspec.json.encode(_only(parts, names))
        listed = [_only(item, names) for item in _objects.decode(parts[shape.items])]
        return msgspec.json.encode({**parts, shape.items: listed})

    return cut


def _only(parts: _Parts, names: list[str]) -> _Parts:
    return {name: parts[name] for name in names if name in parts}


def _item_of(annotation: Any) -> type[msgspec.Struct] | None:
    arguments = get_args(annotation)
    if get_origin(annotation) not in (list, tuple) or not arguments or not _is_struct(arguments[0]):
        return None
    found: type[msgspec.Struct] = arguments[0]
    return found


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)
