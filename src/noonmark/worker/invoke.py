"""Calls a task's function with its input, and turns its result or error into texts that fit a report."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from noonmark.client.signature import Signature
from noonmark.model.reason import Outcome

MAX_RESULT_BYTES = 64 * 1024
MAX_ERROR_BYTES = 8 * 1024

_input = msgspec.json.Decoder()
_results = msgspec.json.Encoder()


class BadInput(Exception):
    """The input does not fit the function."""


class Ending(NamedTuple):
    """How a call ended, in the words of a report."""

    outcome: Outcome
    error_type: str | None = None
    error: str | None = None
    result: str | None = None


RETURNED_NOTHING = Ending(Outcome.SUCCEEDED)


def arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """An object becomes keyword arguments, a list positional ones, null none, anything else the only argument."""
    try:
        value = _input.decode(text)
    except msgspec.DecodeError as error:
        raise BadInput(f"the input is not JSON: {error}") from None
    if value is None:
        return [], {}
    if isinstance(value, dict):
        return [], value
    return (value if isinstance(value, list) else [value]), {}


def call(function: Callable[..., Any], text: str | None, convert: Signature | None = None) -> Any:
    """The function's answer: its value, or a coroutine if it is an async function.

    `convert` is given for a function with parameters of types that JSON does not have, such as dates.
    """
    if text is None:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
    else:
        args, kwargs = arguments(text)
    if convert is not None:
        try:
            converted, kwargs = convert.converted(args, kwargs)
            args = list(converted)
        except TypeError as mismatch:
            raise BadInput(f"the input does not fit {mismatch}") from None
    try:
        return function(*args, **kwargs)
    except TypeError:
        # binding every call would cost more than the call; ask only when it may be the cause
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except (TypeError, ValueError) as mismatch:
            raise BadInput(f"the input does not fit {function.__name__}: {mismatch}") from None
        raise


def succeeded(value: Any) -> Ending:
    """A value that cannot travel is dropped, and the run does not fail for it: the function has done its work."""
    if value is None:
        return RETURNED_NOTHING
    try:
        encoded = _results.encode(value)
        if len(encoded) <= MAX_RESULT_BYTES:
            return Ending(Outcome.SUCCEEDED, result=encoded.decode())
        note = f"result of {len(encoded)} bytes dropped, above {MAX_RESULT_BYTES}"
    except Exception as error:
        note = f"result of type {type(value).__name__} dropped, not JSON: {error}"
    return Ending(Outcome.SUCCEEDED, result=_results.encode({"noonmark": _clean(note)}).decode())


def failed(error: BaseException, own_frames: int = 0) -> Ending:
    """`own_frames` of the traceback belong to the worker and say nothing to the owner of the task."""
    trace = error.__traceback__
    for _ in range(own_frames):
        trace = trace.tb_next if trace is not None and trace.tb_next is not None else trace
    try:
        text = "".join(traceback.format_exception(type(error), error, trace))
        if isinstance(error, BadInput):
            text = str(error)
    except Exception:
        text = f"{type(error).__name__} (its text could not be made)"
    return Ending(Outcome.FAILED, error_types(type(error)), shortened(text))


def error_types(kind: type[BaseException]) -> str:
    """`module.Type Type` of the error and of all it derives from, for the job's no_retry list."""
    names = [
        name
        for ancestor in kind.__mro__
        if ancestor not in (object, BaseException)
        for name in (f"{ancestor.__module__}.{ancestor.__qualname__}", ancestor.__name__)
    ]
    return _clean(" ".join(dict.fromkeys(name.replace(" ", "") for name in names)))


def shortened(text: str) -> str:
    """The beginning and, three times as long, the end."""
    text = _clean(text)
    if len(text) * 4 <= MAX_ERROR_BYTES or len(encoded := text.encode()) <= MAX_ERROR_BYTES:
        return text
    gap = "\n  …\n"
    room = MAX_ERROR_BYTES - len(gap.encode())
    head, tail = encoded[: room // 4], encoded[-(room - room // 4) :]
    return head.decode(errors="ignore") + gap + tail.decode(errors="ignore")


def _clean(text: str) -> str:
    """Without the characters that UTF-8 or PostgreSQL cannot hold."""
    return text.encode(errors="replace").decode().replace("\0", "\\0")
