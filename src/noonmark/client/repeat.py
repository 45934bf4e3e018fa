"""What may be sent again, how long to wait before it, and which exception a refusal stands for.

A GET, PUT or DELETE may be repeated after any failure. A POST carries an `Idempotency-Key`, the same one each time that
it is sent, so the server does it once however often it arrives. Without a key, and for a PATCH, only an answer which
proves that nothing was done permits a repetition: `not_owner` or `too_busy`. A connection that broke proves nothing.
"""

import random
from collections.abc import Iterator, Mapping
from uuid import uuid4

import msgspec

from noonmark import errors
from noonmark.wire.resources import Problem

RETRIES = 4
BACKOFF_S = 0.1
MAX_WAIT_S = 10.0
"""A server that asks for more patience than this gets its error raised, which says how long it asked for."""
KEY = "Idempotency-Key"
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_NOTHING_DONE = frozenset({errors.TooBusy.code, errors.NotOwner.code, errors.StillRunning.code})
"""And by the last of them nothing that would be done a second time: the first sending is still being carried out."""
_problem = msgspec.json.Decoder(Problem)


class Repetition:
    """The fate of one call over all the times that it is sent."""

    def __init__(self, method: str, headers: Mapping[str, str] | None) -> None:
        self.headers = dict(headers or {})
        if method == "POST":
            self.headers.setdefault(KEY, uuid4().hex)
        self._method = method
        self._repeatable = method in _REPEATABLE or KEY in self.headers
        self._retries = 0
        self._unanswered = False

    def wait_s(self, error: errors.NoonmarkError) -> float:
        """How long to wait before it is sent again; raises the error if it must not be, or was often enough."""
        unavailable = error.code == errors.Unavailable.code
        if error.code not in _NOTHING_DONE and not (unavailable and self._repeatable):
            raise error
        self._unanswered |= unavailable
        asked_s = float(getattr(error, "retry_after_s", 0.0))
        if self._retries == RETRIES or asked_s > MAX_WAIT_S:
            raise error
        backoff_s: float = BACKOFF_S * 2**self._retries * random.uniform(0.5, 1.0)
        self._retries += 1
        return max(backoff_s, asked_s)

    def done_before(self, error: errors.NoonmarkError) -> bool:
        """Whether what is to be deleted is gone because an earlier, unanswered sending has deleted it."""
        return self._method == "DELETE" and self._unanswered and error.code == errors.NotFound.code


def no_answer(server: str, error: Exception) -> errors.Unavailable:
    why = str(error) or type(error).__name__
    refusal = errors.Unavailable(
        f"no answer from {server}: {why}", fix="is the node running, and is the address right?"
    )
    refusal.retry_after_s = 0.0
    return refusal


def error_of(status: int, body: bytes, retry_after: str | None) -> errors.NoonmarkError:
    """The exception that a refusal stands for, by its stable code."""
    retry_after_s = _seconds(retry_after)
    try:
        problem = _problem.decode(body)
    except msgspec.MsgspecError:
        text = body[:200].decode(errors="replace")
        unavailable = errors.Unavailable if status in (502, 503, 504) else errors.NoonmarkError
        return _patient(unavailable(f"the server answered {status}: {text}"), retry_after_s)
    found = next((kind for kind in _tree(errors.NoonmarkError) if kind.code == problem.code), errors.NoonmarkError)
    if issubclass(found, errors.InvalidInput):
        return found(problem.field or "request", problem.detail, problem.fix or "see the API's documentation")
    if issubclass(found, errors.TooBusy):
        return found(problem.detail, retry_after_s=1.0 if retry_after_s is None else retry_after_s)
    return _patient(found(problem.detail, field=problem.field, fix=problem.fix), retry_after_s)


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
