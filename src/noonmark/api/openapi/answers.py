"""What a route takes and answers, by its signature: the document, sparse fields and the check of queries agree."""

from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import msgspec
from litestar.di import Dependency
from litestar.handlers import HTTPRouteHandler
from litestar.params import BodyKwarg, DependencyKwarg, HeaderParameter, ParameterKwarg, PathParameter, QueryParameter
from litestar.response import Response, Stream
from litestar.typing import FieldDefinition

_RESERVED = frozenset({"data", "body", "request", "headers", "query", "cookies", "state", "scope", "socket"})
_READS_ANY = frozenset({"request", "query", "scope"})


class Shape(NamedTuple):
    """A resource, or a list of them in the field `items` of an envelope."""

    resource: type[msgspec.Struct]
    items: str | None

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.encode_name for field in msgspec.structs.fields(self.resource))


def answer_types(handler: HTTPRouteHandler) -> list[Any]:
    """What may come; `Stream` for a stream of events, None for an answer without a body."""
    annotation = handler.parsed_return_field.annotation
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return [_content(part) for part in parts]


def answer_type(handler: HTTPRouteHandler) -> Any:
    """The answer that is not empty, if there is one."""
    return next((found for found in answer_types(handler) if found is not None), None)


def _content(annotation: Any) -> Any:
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type) and issubclass(origin, Stream):
        return Stream
    if isinstance(origin, type) and issubclass(origin, Response):
        annotation = (*get_args(annotation), Any)[0]
    return None if annotation in (None, NoneType) else annotation


@cache
def shape_of(handler: HTTPRouteHandler) -> Shape | None:
    """None if the answer is no JSON object."""
    answer = answer_type(handler)
    if not _is_struct(answer):
        return None
    fields = msgspec.structs.fields(answer)
    # A list of a resource's own parts does not make it a page: a page has a cursor besides, or nothing.
    if len(fields) == 1 or any(field.name == "next_cursor" for field in fields):
        for field in fields:
            if (item := _item_of(field.type)) is not None:
                return Shape(item, field.encode_name)
    return Shape(answer, None)


def parameters(handler: HTTPRouteHandler) -> list[tuple[str, str, FieldDefinition]]:
    """(`path`, `query` or `header`; its name; how the handler declares it), in the handler's order."""
    path_names = {part.partition(":")[0] for path in handler.paths for part in _braced(path)}
    found = []
    for name, field in handler.parsed_fn_signature.parameters.items():
        known = field.kwarg_definition
        if name in _RESERVED or isinstance(known, BodyKwarg | DependencyKwarg) or _is_dependency(field):
            continue
        told = known.name if isinstance(known, ParameterKwarg) and known.name else name
        if isinstance(known, PathParameter) or name in path_names:
            found.append(("path", name, field))
        elif isinstance(known, HeaderParameter):
            found.append(("header", told, field))
        elif isinstance(known, ParameterKwarg) and known.header:
            found.append(("header", known.header, field))
        elif known is None or isinstance(known, QueryParameter | ParameterKwarg):
            found.append(("query", (known.query if isinstance(known, ParameterKwarg) else None) or told, field))
    return found


class QueryKind(NamedTuple):
    repeats: bool
    is_text: bool


@cache
def query_kinds(handler: HTTPRouteHandler) -> dict[str, QueryKind] | None:
    """The query's parameters; None if the handler reads the query by itself."""
    if _READS_ANY & handler.parsed_fn_signature.parameters.keys():
        return None
    found = {}
    for place, name, field in parameters(handler):
        if place == "query":
            plain = without_none(field.annotation)
            found[name] = QueryKind(get_origin(plain) in (list, tuple), plain is str)
    return found


def without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    left = tuple(part for part in get_args(annotation) if part is not NoneType)
    return left[0] if len(left) == 1 else Union[left]  # noqa: UP007


def _item_of(annotation: Any) -> type[msgspec.Struct] | None:
    arguments = get_args(annotation)
    if get_origin(annotation) not in (list, tuple) or not arguments or not _is_struct(arguments[0]):
        return None
    found: type[msgspec.Struct] = arguments[0]
    return found


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)


def _is_dependency(field: FieldDefinition) -> bool:
    return any(isinstance(mark, Dependency) for mark in field.metadata)


def _braced(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{") and part.endswith("}")]
