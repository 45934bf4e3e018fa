"""Every error as an RFC 9457 problem: a stable code, the field and the fix; never the insides of the node."""

import math
import re
import traceback
import uuid
from http import HTTPStatus
from typing import Any, get_args

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.handlers import HTTPRouteHandler
from litestar.types import Send

from noonmark.api.openapi.answers import parameters
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


class Relayed(NoonmarkError):
    """Another node's problem, told as it was told to us."""

    def __init__(self, problem: Problem, retry_after_s: float | None) -> None:
        super().__init__(problem.detail, field=problem.field, fix=problem.fix)
        self.problem = problem
        self.retry_after_s = retry_after_s


class Told:
    """A problem on its way out."""

    def __init__(self, problem: Problem, headers: dict[str, str] | None = None) -> None:
        self.status = problem.status
        self.body = msgspec.json.encode(problem)
        self.headers = headers or {}


def tell(error: Exception) -> Told:
    match error:
        case Relayed():
            return Told(error.problem, _retry_after(error))
        case Unauthorized():
            return Told(_of_noonmark(error), {"WWW-Authenticate": "Bearer"})
        case MethodNotAllowed():
            return Told(_of_noonmark(error), {"Allow": error.allowed})
        case NoonmarkError():
            return Told(_of_noonmark(error), _retry_after(error))
        case msgspec.ValidationError():
            return Told(_of_validation(error))
        case msgspec.DecodeError() | UnicodeDecodeError() | RecursionError():
            return Told(_malformed(error))
        case ValidationException():
            return Told(_of_parameters(error))
        case HTTPException():
            return Told(_of_http(error), {k: v for k, v in (error.headers or {}).items() if k.lower() == "allow"})
    if is_away(error):
        _log.warning("the database could not be reached for a request", error=repr(error))
        return Told(_problem(503, "unavailable", "the database cannot be reached right now"), {"Retry-After": "1"})
    mark = uuid.uuid4().hex[:12]
    # As text: a renderer that shows local variables would write the caller's token into the log.
    _log.error("a request failed unexpectedly", mark=mark, traceback="".join(traceback.format_exception(error)))
    return Told(_problem(500, "internal", f"something went wrong inside the node; its log has more under {mark}"))


def respond(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Litestar's exception handler for everything."""
    if isinstance(error, ValidationException):
        _name_as_sent(error, request)
    told = tell(error)
    return Response(told.body, status_code=told.status, media_type=MEDIA_TYPE, headers=told.headers)


async def send_problem(send: Send, error: Exception) -> None:
    """For raw ASGI."""
    told = tell(error)
    headers = {"Content-Type": MEDIA_TYPE, "Content-Length": str(len(told.body)), **told.headers}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": told.status, "headers": encoded})
    await send({"type": "http.response.body", "body": told.body, "more_body": False})


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


def _of_parameters(error: ValidationException) -> Problem:
    """Litestar lists what is wrong; the first one is told, as everywhere else."""
    wrong: dict[str, Any] = error.extra[0] if isinstance(error.extra, list) and error.extra else {}
    field, message = str(wrong.get("key", "request")), str(wrong.get("message", error.detail))
    if field == "data":
        return _problem(422, "invalid_input", "the request has no body", "body", "send a JSON object")
    return _problem(422, "invalid_input", _lower_first(message), field, f"correct {field} and send the request again")


def _name_as_sent(error: ValidationException, request: Request[Any, Any, Any]) -> None:
    """A parameter is told by the name that the caller knows, not by the one that its handler has for it."""
    handler = request.scope.get("route_handler")
    if not isinstance(handler, HTTPRouteHandler) or not isinstance(error.extra, list):
        return
    names = {field.name: name for _, name, field in parameters(handler)}
    error.extra = [{**wrong, "key": names.get(wrong.get("key"), wrong.get("key", "request"))} for wrong in error.extra]


def _of_http(error: HTTPException) -> Problem:
    status = error.status_code
    if status == HTTPStatus.NOT_FOUND:
        return _problem(404, "not_found", "there is nothing at this address", None, "see the list of routes")
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return _problem(405, "method_not_allowed", "this address does not take this method")
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return _problem(413, "too_large", "the body is above the bound", "body", "send fewer or smaller items")
    if status >= 500:
        _log.error("the framework refused a request", status=status, error=repr(error))
        return _problem(status, "internal", "something went wrong inside the node")
    return _problem(status, HTTPStatus(status).name.lower(), _lower_first(error.detail or HTTPStatus(status).phrase))


def _retry_after(error: NoonmarkError) -> dict[str, str]:
    seconds = getattr(error, "retry_after_s", None)
    return {} if seconds is None else {"Retry-After": str(max(1, math.ceil(seconds)))}


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
