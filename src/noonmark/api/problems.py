"""Every error as an RFC 9457 problem: a stable code, the field and the fix; never the insides of the node."""

import math
import re
import traceback
import uuid
from typing import get_args

import msgspec
import structlog

from noonmark.api.asgi import Send, send_answer
from noonmark.errors import InvalidInput, NoonmarkError, Unauthorized
from noonmark.schedule.spec import ScheduleSpec
from noonmark.store.away import is_away
from noonmark.wire.resources import Problem

_log = structlog.get_logger("noonmark.api")

MEDIA_TYPE = "application/problem+json"
OWN_CODES = {"malformed": 400, "internal": 500}
"""Those that no error of the tree stands for."""
_KINDS = [str(kind.__struct_config__.tag) for kind in get_args(ScheduleSpec)]
_AT_PATH = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)


class MethodNotAllowed(NoonmarkError):
    code, status = "method_not_allowed", 405

    def __init__(self, allowed: str) -> None:
        super().__init__("this address does not take this method", fix=f"use {allowed}")
        self.allowed = allowed


class UnsupportedMedia(NoonmarkError):
    code, status = "unsupported_media_type", 415


class ProblemResponse:
    """A problem on its way out."""

    def __init__(self, problem: Problem, headers: dict[str, str] | None = None) -> None:
        self.status = problem.status
        self.body = msgspec.json.encode(problem)
        self.headers = headers or {}


def to_problem(error: Exception) -> ProblemResponse:
    match error:
        case Unauthorized():
            return ProblemResponse(_of_noonmark(error), {"WWW-Authenticate": "Bearer"})
        case MethodNotAllowed():
            return ProblemResponse(_of_noonmark(error), {"Allow": error.allowed})
        case NoonmarkError():
            return ProblemResponse(_of_noonmark(error), _retry_after(error))
        case msgspec.ValidationError():
            return ProblemResponse(_of_validation(error))
        case msgspec.DecodeError() | UnicodeDecodeError() | RecursionError():
            return ProblemResponse(_malformed(error))
    if is_away(error):
        _log.warning("the database could not be reached for a request", error=repr(error))
        return ProblemResponse(
            _problem(503, "unavailable", "the database cannot be reached right now"), {"Retry-After": "1"}
        )
    mark = uuid.uuid4().hex[:12]
    # As text: a renderer that shows local variables would write the caller's token into the log.
    _log.error("a request failed unexpectedly", mark=mark, traceback="".join(traceback.format_exception(error)))
    return ProblemResponse(
        _problem(500, "internal", f"something went wrong inside the node; its log has more under {mark}")
    )


async def send_problem(send: Send, error: Exception) -> None:
    answer = to_problem(error)
    headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(answer.body)), **answer.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send_answer(send, answer.status, encoded, answer.body)


def _problem(status: int, code: str, detail: str, field: str | None = None, fix: str | None = None) -> Problem:
    title = code.replace("_", " ").capitalize()
    kind = f"urn:noonmark:problem:{code}"
    return Problem(type=kind, title=title, status=status, code=code, detail=detail, field=field, fix=fix)


def _of_noonmark(error: NoonmarkError) -> Problem:
    return _problem(error.status, error.code, error.message, error.field, error.fix)


def _of_validation(error: msgspec.ValidationError) -> Problem:
    """msgspec says `Expected `int`, got `str` - at `$.jobs[3].priority``."""
    found = _AT_PATH.match(str(error))
    what, path = (found["what"], found["path"]) if found else (str(error), None)
    place = (path or "$").removeprefix("$").removeprefix(".")
    if isinstance(cause := error.__cause__, InvalidInput):
        # One of ours, raised while a value was made: it names a field of the value that stands at the path.
        field = ".".join(filter(None, (place, cause.field)))
        return _problem(cause.status, cause.code, cause.message, field, cause.fix)
    field = place or "body"
    if field.endswith("schedule.kind"):
        return _problem(422, "invalid_input", _lower_first(what), field, f"use one of {', '.join(_KINDS)}")
    return _problem(422, "invalid_input", _lower_first(what), field, f"correct {field} and send the request again")


def _malformed(error: Exception) -> Problem:
    what = "it is nested too deeply" if isinstance(error, RecursionError) else _lower_first(str(error))
    return _problem(400, "malformed", f"the body could not be read: {what}", "body", "send well-formed JSON in UTF-8")


def _retry_after(error: NoonmarkError) -> dict[str, str]:
    seconds = getattr(error, "retry_after_s", None)
    return {} if seconds is None else {"Retry-After": str(max(1, math.ceil(seconds)))}


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
