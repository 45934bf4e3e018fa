"""From a problem as it travels back to the error that it stands for, by its stable code."""

from collections.abc import Iterator

import msgspec

from noonmark import errors
from noonmark.wire.resources import Problem

_problem = msgspec.json.Decoder(Problem)


def error_of(status: int, body: bytes, retry_after: str | None) -> errors.NoonmarkError:
    retry_after_s = _seconds(retry_after)
    try:
        problem = _problem.decode(body)
    except msgspec.MsgspecError:
        return _unreadable(status, body, retry_after_s)
    found = next((kind for kind in _tree(errors.NoonmarkError) if kind.code == problem.code), errors.NoonmarkError)
    if issubclass(found, errors.InvalidInput):
        return found(problem.field or "request", problem.detail, problem.fix or "see the API's documentation")
    if issubclass(found, errors.TooBusy):
        return found(problem.detail, retry_after_s=1.0 if retry_after_s is None else retry_after_s)
    return _patient(found(problem.detail, field=problem.field, fix=problem.fix), retry_after_s)


def _unreadable(status: int, body: bytes, retry_after_s: float | None) -> errors.NoonmarkError:
    """Not one of ours: a proxy that reached no server (502, 503), or that waited in vain (504)."""
    text = f"the server answered {status}: {body[:200].decode(errors='replace')}"
    if status in (502, 503):
        return _patient(errors.Unavailable(text), retry_after_s)
    return errors.OutcomeUnknown(text) if status == 504 else errors.NoonmarkError(text)


def _patient(error: errors.NoonmarkError, retry_after_s: float | None) -> errors.NoonmarkError:
    if isinstance(error, errors.Unavailable):
        error.retry_after_s = retry_after_s or 0.0
    return error


def _tree(kind: type[errors.NoonmarkError]) -> Iterator[type[errors.NoonmarkError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


def _seconds(header: str | None) -> float | None:
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
