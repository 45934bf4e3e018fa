"""The OpenAPI 3.1 document, read from the table of endpoints: their signatures, their docstrings and the wire types.

All that routes share (the tenant, the key, problems, idempotency, sparse fields) is added here by method and
signature, so that a new route has it without saying so.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec

from noonmark.api.access.roles import FREE
from noonmark.api.dispatch.answer import Response, Stream
from noonmark.api.dispatch.endpoint import Endpoint
from noonmark.api.dispatch.fields import shape_of
from noonmark.api.dispatch.signature import REQUIRED, HandlerSignature, Parameter, read_signature
from noonmark.api.openapi import common, examples
from noonmark.api.openapi.common import Json
from noonmark.api.openapi.schemas import schemas_of
from noonmark.version import __version__
from noonmark.wire.resources import Job, Problem

SchemaOf = Callable[[Any], Json]


class _Operation(NamedTuple):
    row: Endpoint
    signature: HandlerSignature

    @property
    def place(self) -> tuple[str, str]:
        return self.row.path, self.row.method.lower()

    @property
    def is_get(self) -> bool:
        return self.row.method == "GET"

    @property
    def is_worker(self) -> bool:
        return self.row.is_packed

    @property
    def is_noun(self) -> bool:
        """It is about a tenant's things: not the worker protocol, and not a health check."""
        return self.row.path.startswith("/v1/") and not self.is_worker

    @property
    def body(self) -> Any:
        return None if self.signature.body is REQUIRED else self.signature.body

    @property
    def is_tagged(self) -> bool:
        answer = self.signature.answer
        return isinstance(answer, type) and issubclass(answer, Job)


def serving(table: Sequence[Endpoint]) -> Endpoint:
    """The endpoint at which a node has the document of this table."""

    @cache
    def encoded() -> bytes:
        return msgspec.json.encode(document(table))

    async def read_openapi() -> Response[bytes]:
        return Response(encoded())

    return Endpoint("GET", "/v1/openapi.json", FREE, read_openapi)


def document(table: Sequence[Endpoint]) -> Json:
    operations = sorted((_Operation(row, read_signature(row)) for row in table), key=lambda operation: operation.place)
    used: list[Any] = [Problem]
    for operation in operations:
        answer = operation.signature.answer
        used += [part for part in (operation.body, answer) if part not in (None, bytes, Stream)]
    refs, schemas = schemas_of(used)
    by_type = list(zip(used, refs, strict=True))

    def schema_of(kind: Any) -> Json:
        return next(ref for known, ref in by_type if known == kind)

    paths: dict[str, Json] = {}
    for operation in operations:
        path, method = operation.place
        paths.setdefault(path, {})[method] = _describe(operation, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {**common.INFO, "version": __version__},
        "servers": [{"url": "http://127.0.0.1:7171", "description": "A node on this machine."}],
        "security": [{"key": []}],
        "tags": [{"name": name, "description": about} for name, about in _tags(operations).items()],
        "paths": dict(sorted(paths.items())),
        "components": {**common.COMPONENTS, "schemas": schemas},
    }


def _describe(operation: _Operation, schema_of: SchemaOf) -> Json:
    row, signature = operation
    title = row.operation.replace("_", " ").capitalize()
    about = " ".join((inspect.getdoc(row.handler) or f"{title}.").split())
    described: Json = {
        "operationId": row.operation,
        "summary": about.split(". ")[0].rstrip(".") if operation.is_worker else title,
        "description": about + _needs(row),
        "tags": [_tag(operation)],
    }
    asked = [_parameter(parameter) for parameter in signature.parameters]
    asked += [{"$ref": f"#/components/parameters/{shared}"} for shared in _shared_parameters(operation)]
    if asked:
        described["parameters"] = asked
    if operation.body is not None:
        content: Json = {"schema": schema_of(operation.body)}
        if shown := examples.OF_BODY.get(row.handler.__name__):
            content["examples"] = {key: {"value": value} for key, value in shown.items()}
        described["requestBody"] = {
            "required": signature.needs_body,
            "content": dict.fromkeys(_formats(operation), content),
        }
    described["responses"] = _responses(operation, schema_of)
    if not row.path.startswith("/v1/"):
        described["security"] = []
    return described


def _formats(operation: _Operation) -> tuple[str, ...]:
    return ("application/json", "application/msgpack") if operation.is_worker else ("application/json",)


def _needs(row: Endpoint) -> str:
    if row.need.role is None:
        return ""
    whose = ", of a key that belongs to no tenant" if row.need.installation else ""
    return f" Needs the role {row.need.role.value}{whose}."


def _shared_parameters(operation: _Operation) -> list[str]:
    shared = ["Tenant"] if operation.is_noun else []
    if operation.is_noun and not operation.is_get:
        shared.append("IdempotencyKey")
    if operation.is_get and shape_of(operation.signature.answer) is not None:
        shared.append("Fields")
    if operation.is_get and operation.is_tagged:
        shared.append("IfNoneMatch")
    return shared


def _parameter(parameter: Parameter) -> Json:
    [schema], _ = schemas_of([parameter.kind])
    about = schema.pop("description", None) or common.ABOUT_PARAMETERS.get(parameter.name)
    required = parameter.default is REQUIRED
    if not required and parameter.default not in (None, ""):
        schema["default"] = parameter.default
    described = {"name": parameter.name, "in": parameter.place, "required": required, "schema": schema}
    return {**described, "description": about} if about else described


def _responses(operation: _Operation, schema_of: SchemaOf) -> Json:
    row, signature = operation
    answer = signature.answer
    good: Json = {"description": HTTPStatus(row.status).phrase + "."}
    if answer in (bytes, Stream):
        kind = "text/plain" if answer is bytes else "text/event-stream"
        good["content"] = {kind: {"schema": {"type": "string"}}}
    elif answer is not None:
        good["content"] = {kind: {"schema": schema_of(answer)} for kind in _formats(operation)}
    headers: Json = {}
    if operation.is_tagged:
        headers["ETag"] = {"$ref": "#/components/headers/ETag"}
    if row.status in (201, 202):
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    if operation.is_noun and not operation.is_get:
        headers["Idempotent-Replayed"] = {"$ref": "#/components/headers/IdempotentReplayed"}
    if headers:
        good["headers"] = headers
    responses: Json = {str(row.status): good}
    if row.also == 201:
        location = {"Location": {"$ref": "#/components/headers/Location"}}
        responses["201"] = {**good, "description": "Created.", "headers": {**headers, **location}}
    elif row.also == 503:
        responses["503"] = {**good, "description": "Not ready, and why."}
    if answer is not None and None in signature.answers:
        responses["204"] = {"description": "There is nothing more to tell."}
    if operation.is_get and operation.is_tagged:
        responses["304"] = {"description": "The caller has it already.", "headers": {"ETag": headers["ETag"]}}
    for status in _problem_statuses(operation):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/Problem{status}"})
    return dict(sorted(responses.items()))


def _problem_statuses(operation: _Operation) -> list[int]:
    if not operation.row.path.startswith("/v1/"):
        return [422]
    statuses = [401, 403, 404, 422, 429, 503]
    if operation.body is not None:
        statuses += [400, 413]
    if operation.is_worker:
        return [*statuses, 410, 415]
    if not operation.is_get:
        statuses += [409, 504]
    if any(parameter.name == "If-Match" for parameter in operation.signature.parameters):
        statuses.append(412)
    return statuses


def _tag(operation: _Operation) -> str:
    path = operation.row.path
    return path.split("/")[2] if path.startswith("/v1/") else "health"


def _tags(operations: Sequence[_Operation]) -> dict[str, str]:
    """Each noun, with the first sentence of the module that most of its routes stand in."""
    found: dict[str, str] = {}
    for operation in operations:
        module = inspect.getmodule(operation.row.handler)
        sentence = (inspect.getdoc(module) or "").split("\n\n")[0].replace("\n", " ")
        about = sentence.rpartition(": ")[2]
        found.setdefault(_tag(operation), about[:1].upper() + about[1:])
    found["worker"] = "The worker protocol: register, claim, heartbeat, report."
    return dict(sorted(found.items()))
