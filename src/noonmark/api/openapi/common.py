"""Parts of the OpenAPI document that routes share: the key, headers, parameters and problems."""

from typing import Any

from noonmark.api.dispatch.fields import MAX_FIELDS
from noonmark.api.problems import MEDIA_TYPE
from noonmark.api.request_key import MAX_KEY

Json = dict[str, Any]

INFO: Json = {
    "title": "Noonmark",
    "summary": "Cron as a service: a distributed job scheduler on PostgreSQL.",
    "description": "How requests and answers behave, the codes of problems and the limits: docs/api.md.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}

ABOUT_PARAMETERS = {
    "ref": "The job: its name or its id.",
    "run_id": "The run's id.",
    "job": "The job: its name or its id.",
    "version": "A version of the job.",
    "before": "The earlier version.",
    "after": "The later version.",
    "key_id": "The key's id.",
    "subscription_id": "The subscription's id.",
    "name": "The tenant's name.",
    "tenant": "Only those of this tenant.",
    "subject": "Only what was done to this.",
    "actor": "Only what this caller did.",
    "name_prefix": "Only jobs whose name begins so.",
}

_PROBLEMS = {
    400: "The body could not be read as JSON.",
    401: "No key, or one that does not hold.",
    403: "The key's role does not reach this far.",
    404: "There is no such thing, or not for this key.",
    409: "It clashes with what is stored.",
    410: "The node does not know this worker; register again.",
    412: "It was changed since it was read.",
    413: "Something is above its bound.",
    415: "The body has a format that is not understood here.",
    422: "A field is wrong; `field` and `fix` say which and how to put it right.",
    429: "Too many requests; try again after `Retry-After`.",
    503: "Not possible right now; try again after `Retry-After`.",
    504: "It was passed on, and the answer was lost; it may have been carried out.",
}


def _problem(status: int, about: str) -> Json:
    schema = {"$ref": "#/components/schemas/Problem"}
    described: Json = {"description": about, "content": {MEDIA_TYPE: {"schema": schema}}}
    if status in (409, 429, 503):
        described["headers"] = {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}}
    return described


COMPONENTS: Json = {
    "securitySchemes": {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key, as `Authorization: Bearer nmk_…`."}
    },
    "parameters": {
        "Tenant": {
            "name": "Noonmark-Tenant",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "maxLength": 200},
            "description": "The tenant's name; without it, the key's own, or `default`.",
        },
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": r"^[!-~]+$"},
            "description": "Makes it safe to send the request again: within a day it gets the first answer.",
        },
        "Fields": {
            "name": "fields",
            "in": "query",
            "required": False,
            "schema": {"type": "string", "maxLength": MAX_FIELDS},
            "description": "Names of fields, as in `id,name`: resources then have these alone, whatever their schema.",
        },
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "maxLength": 200},
            "description": "The ETag of what the caller has: 304 if it is still that.",
        },
    },
    "headers": {
        "ETag": {
            "schema": {"type": "string"},
            "description": "The version of the job and a mark of what is shown; for If-Match and If-None-Match.",
        },
        "Location": {"schema": {"type": "string"}, "description": "Where the new thing is."},
        "RetryAfter": {"schema": {"type": "integer", "minimum": 1}, "description": "Seconds."},
        "IdempotentReplayed": {
            "schema": {"type": "string", "enum": ["true"]},
            "description": "This is the answer to an earlier request with the same Idempotency-Key.",
        },
    },
    "responses": {f"Problem{status}": _problem(status, about) for status, about in _PROBLEMS.items()},
}
