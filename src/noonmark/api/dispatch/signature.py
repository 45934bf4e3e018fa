"""A handler's parameters and answer, read once from its signature: routing, checks and the document agree.

The name and annotation of a parameter say where its value comes from:

    data                                    the body
    a name in the path                      a part of the path
    Annotated[…, Header("If-Match")]        a header
    a type that the application provides    the call, the node, …
    anything else                           a parameter of the query; Query("from") gives it another name there

Bounds and descriptions stand in `msgspec.Meta`, as they do in the wire types.
"""

import inspect
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from noonmark.api.dispatch.answer import Response, Stream
from noonmark.api.dispatch.endpoint import Endpoint

REQUIRED: Any = inspect.Parameter.empty
_BODY = "data"


class Query(NamedTuple):
    name: str


class Header(NamedTuple):
    name: str


class Parameter(NamedTuple):
    place: Literal["path", "query", "header"]
    name: str
    """As the caller knows it."""
    argument: str
    """As the handler knows it."""
    kind: Any
    """Its type with its bounds, and without None: a parameter that is not given is left out."""
    default: Any

    @property
    def repeats(self) -> bool:
        return get_origin(_plain(self.kind)) is list

    @property
    def is_text(self) -> bool:
        return self.kind is str

    @property
    def is_number(self) -> bool:
        return _plain(self.kind) is int


class HandlerSignature(NamedTuple):
    parameters: list[Parameter]
    provided: dict[str, Any]
    """The types of the arguments that the application provides."""
    body: Any
    """REQUIRED if there is none."""
    needs_body: bool
    answers: list[Any]
    """The type of the answer: `Stream`, bytes or a struct; None for an answer without a body."""

    @property
    def answer(self) -> Any:
        """The one that is not empty, if there is one."""
        return next((found for found in self.answers if found is not None), None)

    def placed(self, place: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters if parameter.place == place]


def read_signature(endpoint: Endpoint) -> HandlerSignature:
    hints = get_type_hints(endpoint.handler, include_extras=True)
    declared = inspect.signature(endpoint.handler).parameters
    in_path = {part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")}
    parameters: list[Parameter] = []
    provided: dict[str, Any] = {}
    for name, parameter in declared.items():
        kind, marks = _unwrapped(hints[name])
        if name == _BODY:
            continue
        header = next((mark.name for mark in marks if isinstance(mark, Header)), None)
        if name in in_path:
            parameters.append(Parameter("path", name, name, kind, REQUIRED))
        elif header is not None:
            parameters.append(Parameter("header", header, name, kind, parameter.default))
        elif _is_value(kind):
            query_name = next((mark.name for mark in marks if isinstance(mark, Query)), name)
            parameters.append(Parameter("query", query_name, name, kind, parameter.default))
        else:
            provided[name] = kind
    body = declared.get(_BODY)
    return HandlerSignature(
        parameters,
        provided,
        hints.get(_BODY, REQUIRED),
        body is not None and body.default is REQUIRED,
        [_content(part) for part in _parts(hints["return"])],
    )


def _is_value(kind: Any) -> bool:
    """Whether a text can be turned into this type; any other type is provided by the application."""
    try:
        described = msgspec.inspect.type_info(kind)
    except TypeError:
        return False
    return not isinstance(described, msgspec.inspect.CustomType | msgspec.inspect.StructType)


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type without None, with its bounds alone; and all that stands beside it."""
    if get_origin(annotation) is not Annotated:
        return _without_none(annotation), ()
    inner, *marks = get_args(annotation)
    kind = _without_none(inner)
    for mark in marks:
        if isinstance(mark, msgspec.Meta):
            kind = Annotated[kind, mark]
    return kind, tuple(marks)


def _without_none(annotation: Any) -> Any:
    left = tuple(part for part in _parts(annotation) if part is not NoneType)
    return left[0] if len(left) == 1 else Union[left] if left else annotation  # noqa: UP007


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _content(annotation: Any) -> Any:
    if annotation is Stream:
        return Stream
    if get_origin(annotation) is Response:
        annotation = get_args(annotation)[0]
    return None if annotation in (None, NoneType) else annotation
