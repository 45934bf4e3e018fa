"""A task's parameters and return type: arguments are checked where a job or a run binds them.

Arguments must be JSON, or become it (dates, structs, dataclasses, enums), and must fit the annotations. An
annotation that names nothing JSON could become is not checked.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

import msgspec

_MISSING = inspect.Parameter.empty
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
_PLAIN = (Any, str, int, float, bool, None, type(None), dict, list, object, _MISSING)
"""The types that JSON values have already, so that a worker has nothing to convert."""


class _CannotTell(Exception):
    """An annotation that JSON has no type for."""


class Signature:
    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        self._function = function
        self._parameters = inspect.signature(function)
        self._hints: dict[str, Any] | None = None

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> msgspec.Raw:
        """The input that stands for these arguments; TypeError names the one that does not fit."""
        found = self._check(args, kwargs)
        if args and kwargs:
            return self._encode(self._by_name(found))
        return self._encode(dict(kwargs) or (list(args) if args else None))

    def check_input(self, input: Any) -> msgspec.Raw:
        """An object for keyword arguments, a list for positional ones, None for neither, else the only argument."""
        value = msgspec.json.decode(input) if isinstance(input, msgspec.Raw) else input
        if value is None:
            self._check([], {})
        elif isinstance(value, Mapping):
            self._check([], value)
        else:
            self._check(value if isinstance(value, list | tuple) else [value], {})
        return self._encode(value)

    @property
    def converts(self) -> bool:
        """Whether some parameter is of a type that JSON does not have, such as a date or a struct."""
        return any(not self._is_plain(name) for name in self._parameters.parameters)

    def converted(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """JSON values as the types that the annotations name."""
        try:
            found = self._parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None
        self._each(found, lambda name, value: value if self._is_plain(name) else self._convert(name, value))
        return found.args, found.kwargs

    def result(self, value: Any) -> Any:
        """A result that came as JSON, as the function's return type."""
        kind = self._resolved().get("return", Any)
        try:
            return value if kind in (Any, None) else msgspec.convert(value, kind, dec_hook=_cannot_tell)
        except (_CannotTell, TypeError):
            return value
        except msgspec.ValidationError as error:
            raise TypeError(f"{self._name}: its result is not what it says it returns: {error}") from None

    def _is_plain(self, name: str) -> bool:
        kind = self._resolved().get(name, _MISSING)
        return any(kind is plain for plain in _PLAIN)

    def _check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        try:
            found = self._parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}: {error}") from None
        self._each(found, lambda name, value: self._convert(name, self._plain(name, value)))
        return self._parameters.bind(*args, **kwargs)

    def _each(self, found: inspect.BoundArguments, change: Callable[[str, Any], Any]) -> None:
        for name, value in found.arguments.items():
            match self._parameters.parameters[name].kind:
                case inspect.Parameter.VAR_POSITIONAL:
                    found.arguments[name] = tuple(change(name, item) for item in value)
                case inspect.Parameter.VAR_KEYWORD:
                    found.arguments[name] = {key: change(name, item) for key, item in value.items()}
                case _:
                    found.arguments[name] = change(name, value)

    def _plain(self, name: str, value: Any) -> Any:
        try:
            return msgspec.json.decode(msgspec.json.encode(value))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise TypeError(f"{self._name}: parameter {name!r} cannot be sent as JSON: {error}") from None

    def _convert(self, name: str, value: Any) -> Any:
        kind = self._resolved().get(name, Any)
        try:
            return value if kind is Any else msgspec.convert(value, kind, dec_hook=_cannot_tell)
        except msgspec.ValidationError as error:
            raise TypeError(f"{self._name}: parameter {name!r}: {error}") from None
        except (_CannotTell, TypeError):
            return value

    def _by_name(self, found: inspect.BoundArguments) -> dict[str, Any]:
        """Arguments by position become arguments by name, since an input holds one kind or the other."""
        named: dict[str, Any] = {}
        for name, value in found.arguments.items():
            kind = self._parameters.parameters[name].kind
            if kind not in _NAMED:
                raise TypeError(f"{self._name}: {name!r} is given by position, so all others must be too")
            named |= value if kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        return named

    def _encode(self, value: Any) -> msgspec.Raw:
        try:
            return msgspec.Raw(msgspec.json.encode(value))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise TypeError(f"{self._name}: the input cannot be sent as JSON: {error}") from None

    def _resolved(self) -> dict[str, Any]:
        """Not before it is needed: an annotation may name a type that the module defines later."""
        if self._hints is None:
            try:
                self._hints = get_type_hints(self._function, include_extras=True)
            except Exception:
                self._hints = {}
        return self._hints


def _cannot_tell(kind: type, value: Any) -> Any:
    raise _CannotTell


def as_it_is(value: Any) -> Any:
    """For a result of which no type is known."""
    return value
