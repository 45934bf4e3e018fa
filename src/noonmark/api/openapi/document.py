"""The OpenAPI 3.1 document, read from the routes: their signatures, their docstrings and the wire types.

What every route shares (the tenant, the key, problems, idempotency, sparse fields) is added here by method and
signature, so that a new route has it without saying so.
"""

import inspect
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

import msgspec
from litestar import Litestar, Request, Response, get
from litestar.enums import MediaType
from litestar.handlers import HTTPRouteHandler
from litestar.response import Stream
from litestar.routes import HTTPRoute
from litestar.types import Empty
from litestar.typing import FieldDefinition

from noonmark import __version__
from noonmark.api.access.roles import NEEDS
from noonmark.api.bodies import Readiness
from noonmark.api.openapi import common, examples
from noonmark.api.openapi.answers import answer_type, answer_types, parameters, shape_of, without_none
from noonmark.api.openapi.common import WORKER_ENDPOINTS, Json
from noonmark.api.openapi.schemas import schemas_of
from noonmark.wire.resources import Job, Problem

_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern")


class _Operation(NamedTuple):
    path: str
    method: str
    handler: HTTPRouteHandler


@get("/v1/openapi.json", include_in_schema=False)
async def read_openapi(request: Request[Any, Any, Any]) -> Response[bytes]:
    """This document."""
    state = request.app.state
    if "openapi" not in state:
        state.openapi = msgspec.json.encode(document(request.app))
    return Response(state.openapi, media_type=MediaType.JSON)


def document(app: Litestar) -> Json:
    operations = _operations(app)
    used: list[Any] = [Problem, Readiness]
    for operation in operations:
        used += [part for part in (_body(operation.handler), _answer(operation.handler)) if part is not None]
    used += [kind for endpoint in WORKER_ENDPOINTS for kind in (endpoint.takes, endpoint.answers)]
    refs, schemas = schemas_of(used)
    by_type = list(zip(used, refs, strict=True))

    def schema_of(kind: Any) -> Json:
        return next(ref for known, ref in by_type if known == kind)

    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _describe(operation, schema_of)
    for endpoint in WORKER_ENDPOINTS:
        paths[endpoint.path] = {"post": common.worker_operation(endpoint, schema_of)}
    return {
        "openapi": "3.1.0",
        "info": {**common.INFO, "version": __version__},
        "servers": [{"url": "http://127.0.0.1:7171", "description": "A node on this machine."}],
        "security": [{"key": []}],
        "tags": [{"name": name, "description": about} for name, about in _tags(operations).items()],
        "paths": dict(sorted(paths.items())),
        "components": {**common.COMPONENTS, "schemas": schemas},
    }


def _operations(app: Litestar) -> list[_Operation]:
    found = [
        _Operation(route.path_format, method.lower(), handler)
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods
        if method != "OPTIONS" and handler.resolve_include_in_schema()
    ]
    return sorted(found, key=lambda operation: (operation.path, operation.method))


def _describe(operation: _Operation, schema_of: Any) -> Json:
    handler = operation.handler
    name = common.OPERATION_IDS.get(f"{operation.method} {operation.path}", handler.fn.__name__)
    title = name.replace("_", " ").capitalize()
    described: Json = {
        "operationId": name,
        "summary": title,
        "description": " ".join((inspect.getdoc(handler.fn) or f"{title}.").split()) + _needs(operation),
        "tags": [_tag(operation)],
    }
    asked = [_parameter(place, told_name, field) for place, told_name, field in parameters(handler)]
    asked += [{"$ref": f"#/components/parameters/{shared}"} for shared in _shared_parameters(operation)]
    if asked:
        described["parameters"] = asked
    body = _body(handler)
    if body is not None:
        content: Json = {"schema": schema_of(body)}
        if shown := examples.OF_BODY.get(handler.fn.__name__):
            content["examples"] = {key: {"value": value} for key, value in shown.items()}
        required = handler.parsed_data_field is not None and handler.parsed_data_field.default is Empty
        described["requestBody"] = {"required": required, "content": {"application/json": content}}
    described["responses"] = _responses(operation, schema_of)
    if not operation.path.startswith("/v1/"):
        described["security"] = []
    return described


def _needs(operation: _Operation) -> str:
    need = NEEDS.get((operation.method.upper(), operation.path))
    if need is None or need.role is None:
        return ""
    whose = ", of a key that belongs to no tenant" if need.installation else ""
    return f" Needs the role {need.role.value}{whose}."


def _shared_parameters(operation: _Operation) -> list[str]:
    if not operation.path.startswith("/v1/"):
        return ["Fields"] if shape_of(operation.handler) else []
    shared = ["Tenant"]
    if operation.method == "post":
        shared.append("IdempotencyKey")
    if operation.method == "get" and shape_of(operation.handler) is not None:
        shared.append("Fields")
    if operation.method == "get" and _is_tagged(operation.handler):
        shared.append("IfNoneMatch")
    return shared


def _parameter(place: str, name: str, field: FieldDefinition) -> Json:
    known = field.kwarg_definition
    bounds = {bound: value for bound in _BOUNDS if (value := getattr(known, bound, None)) is not None}
    plain = without_none(field.annotation)
    # The bounds of a list are those of its items: only strings and numbers have any here.
    [schema], _ = schemas_of([Annotated[plain, msgspec.Meta(**bounds)] if bounds else plain])
    required = place == "path" or field.default is Empty
    default = field.default
    if not required and default is not None and default != "":
        schema = {**schema, "default": default}
    described = {"name": name, "in": place, "required": required, "schema": schema}
    about = getattr(known, "description", None) or common.ABOUT_PARAMETERS.get(name)
    return {**described, "description": about} if about else described


def _responses(operation: _Operation, schema_of: Any) -> Json:
    handler = operation.handler
    answer = answer_type(handler)
    good: Json = {"description": HTTPStatus(handler.status_code).phrase + "."}
    if answer in (bytes, Stream):
        kind = "text/plain" if answer is bytes else "text/event-stream"
        good["content"] = {kind: {"schema": {"type": "string"}}}
    elif answer is not None:
        good["content"] = {"application/json": {"schema": schema_of(answer)}}
    headers = {}
    if _is_tagged(handler):
        headers["ETag"] = {"$ref": "#/components/headers/ETag"}
    if handler.status_code in (201, 202):
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    if operation.method == "post" and operation.path.startswith("/v1/"):
        headers["Idempotent-Replayed"] = {"$ref": "#/components/headers/IdempotentReplayed"}
    if headers:
        good["headers"] = headers
    responses = {str(handler.status_code): good}
    if handler.fn.__name__ in common.CREATES_TOO:
        location = {"Location": {"$ref": "#/components/headers/Location"}}
        responses["201"] = {**good, "description": "Created.", "headers": {**headers, **location}}
    if answer is not None and None in answer_types(handler):
        responses["204"] = {"description": "There is nothing more to tell."}
    if handler.fn.__name__ == "readyz":
        ready = {"application/json": {"schema": schema_of(Readiness)}}
        responses["503"] = {"description": "Not ready, and why.", "content": ready}
    if operation.method == "get" and _is_tagged(handler):
        responses["304"] = {"description": "The caller has it already.", "headers": {"ETag": headers["ETag"]}}
    for status in _problem_statuses(operation):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/Problem{status}"})
    return dict(sorted(responses.items()))


def _problem_statuses(operation: _Operation) -> list[int]:
    if not operation.path.startswith("/v1/"):
        return [422]
    statuses = [401, 403, 404, 422, 429, 503]
    if _body(operation.handler) is not None:
        statuses += [400, 413]
    if operation.method != "get":
        statuses += [409, 504]
    if any(name == "If-Match" for _, name, _ in parameters(operation.handler)):
        statuses.append(412)
    return statuses


def _body(handler: HTTPRouteHandler) -> Any:
    return None if handler.parsed_data_field is None else handler.parsed_data_field.annotation


def _answer(handler: HTTPRouteHandler) -> Any:
    answer = answer_type(handler)
    return None if answer in (bytes, Stream) else answer


def _is_tagged(handler: HTTPRouteHandler) -> bool:
    answer = answer_type(handler)
    return isinstance(answer, type) and issubclass(answer, Job)


def _tag(operation: _Operation) -> str:
    return operation.path.split("/")[2] if operation.path.startswith("/v1/") else "health"


def _tags(operations: list[_Operation]) -> dict[str, str]:
    """Each noun, with the first sentence of the module that most of its routes stand in."""
    found: dict[str, str] = {}
    for operation in operations:
        module = inspect.getmodule(operation.handler.fn)
        sentence = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ")
        about = sentence.rpartition(": ")[2]
        found.setdefault(_tag(operation), about[:1].upper() + about[1:])
    found["worker"] = "The worker protocol: register, claim, heartbeat, report."
    return dict(sorted(found.items()))


handlers = [read_openapi]
