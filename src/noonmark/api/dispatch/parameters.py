"""The values of a query and of headers: known, given once, typed and bounded."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from noonmark.api.dispatch import fields
from noonmark.api.dispatch.fields import Cut, Shape
from noonmark.api.dispatch.signature import Parameter
from noonmark.errors import InvalidInput

Arguments = dict[str, Any]


class QueryReader:
    """Reads the query of one endpoint."""

    def __init__(self, parameters: list[Parameter], shape: Shape | None) -> None:
        """`shape`: of the answer, if the caller may ask for a part of it."""
        self._known = {parameter.name: parameter for parameter in parameters}
        self._shape = shape

    def read(self, query: bytes) -> tuple[Arguments, Cut | None]:
        """The handler's arguments that are given, and how to cut the answer down, if that is asked for."""
        given: dict[str, Any] = {}
        wanted: str | None = None
        for name, value in parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True):
            parameter = self._known.get(name)
            if parameter is not None and parameter.repeats:
                given.setdefault(name, []).append(value)
            elif name in given or (name == fields.PARAMETER and wanted is not None):
                raise InvalidInput(name, "it is given twice", "give it once")
            elif parameter is not None:
                given[name] = value
            elif name == fields.PARAMETER and self._shape is not None:
                wanted = value
            else:
                raise self._unknown(name)
        arguments = {self._known[name].argument: converted(self._known[name], value) for name, value in given.items()}
        return arguments, None if wanted is None or self._shape is None else fields.cut_to(self._shape, wanted)

    def _unknown(self, name: str) -> InvalidInput:
        may = sorted({*self._known, fields.PARAMETER} if self._shape is not None else self._known)
        fix = f"this address takes {', '.join(may)}" if may else "this address takes no parameters"
        return InvalidInput(name[:80], "there is no such parameter here", fix)


def header_reader(parameters: list[Parameter]) -> Callable[[dict[bytes, bytes], Arguments], None]:
    """Adds the headers that are given to the arguments."""
    wanted = [(parameter.name.lower().encode(), parameter) for parameter in parameters]

    def read(headers: dict[bytes, bytes], arguments: Arguments) -> None:
        for name, parameter in wanted:
            value = headers.get(name)
            if value is not None:
                arguments[parameter.argument] = converted(parameter, value.decode("latin-1"))

    return read


def converted(parameter: Parameter, value: Any) -> Any:
    if parameter.is_text:
        return value
    try:
        return msgspec.convert(value, parameter.kind, strict=False)
    except msgspec.ValidationError as error:
        name, wrong = parameter.name, str(error).partition(" - at `")[0]
        raise InvalidInput(name, wrong[:1].lower() + wrong[1:], f"correct {name} and send the request again") from None
