"""The comparison of two documents finds each kind of break, and no other."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.api.additive import breaks

Json = dict[str, Any]
BASE: Json = {
    "paths": {
        "/things": {
            "get": {
                "operationId": "list_things",
                "parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 10}}],
                "responses": {
                    "200": {
                        "headers": {"ETag": {}},
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
                    }
                },
            },
            "post": {
                "operationId": "create_thing",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/New"}}}},
                "responses": {"201": {}, "422": {}},
            },
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "state": {"enum": ["a", "b"]},
                    "inner": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]},
                    "at": {"type": "string"},
                },
                "required": ["id"],
            },
            "New": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "kind": {"enum": ["x", "y"]},
                    "size": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "any": {},
                },
                "required": ["name"],
                "additionalProperties": False,
            },
        }
    },
}


def get(document: Json) -> Json:
    found: Json = document["paths"]["/things"]["get"]
    return found


def post(document: Json) -> Json:
    found: Json = document["paths"]["/things"]["post"]
    return found


def thing(document: Json) -> Json:
    found: Json = document["components"]["schemas"]["Thing"]
    return found


def new(document: Json) -> Json:
    found: Json = document["components"]["schemas"]["New"]
    return found


BREAKS: list[tuple[str, Callable[[Json], object]]] = [
    ("/things: the path is gone", lambda d: d["paths"].pop("/things")),
    ("GET /things: the operation is gone", lambda d: d["paths"]["/things"].pop("get")),
    ("GET /things: operationId was list_things and is other", lambda d: get(d).update(operationId="other")),
    ("GET /things parameter limit: is gone", lambda d: get(d).update(parameters=[])),
    ("GET /things parameter limit: is required now", lambda d: get(d)["parameters"][0].update(required=True)),
    ("GET /things parameter limit: maximum is 9 now", lambda d: get(d)["parameters"][0]["schema"].update(maximum=9)),
    ("GET /things parameter limit: integer is not taken any more",
     lambda d: get(d)["parameters"][0].update(schema={"type": "string"})),
    ("GET /things parameter of: is new and required",
     lambda d: get(d)["parameters"].append({"name": "of", "in": "query", "required": True, "schema": {}})),
    ("GET /things 200 header ETag: is gone", lambda d: get(d)["responses"]["200"].pop("headers")),
    ("GET /things 200: application/json is not answered any more",
     lambda d: get(d)["responses"]["200"].update(content={"text/plain": {"schema": {}}})),
    ("GET /things 200: the status is gone", lambda d: get(d)["responses"].pop("200")),
    ("GET /things 200.at: is gone", lambda d: thing(d)["properties"].pop("at")),
    ("GET /things 200.id: may be left out now", lambda d: thing(d).update(required=[])),
    ("GET /things 200.id: integer may come now", lambda d: thing(d)["properties"].update(id={"type": "integer"})),
    ("GET /things 200.at: null may come now",
     lambda d: thing(d)["properties"].update(at={"anyOf": [{"type": "string"}, {"type": "null"}]})),
    ("POST /things body: is required now", lambda d: post(d)["requestBody"].update(required=True)),
    ("POST /things body: is gone", lambda d: post(d).pop("requestBody")),
    ("POST /things body: application/json is not taken any more", lambda d: post(d)["requestBody"].update(content={})),
    ("POST /things body.kind: is required now", lambda d: new(d)["required"].append("kind")),
    ("POST /things body.kind: is gone", lambda d: new(d)["properties"].pop("kind")),
    ("POST /things body.kind: y is not taken any more", lambda d: new(d)["properties"]["kind"].update(enum=["x"])),
    ("POST /things body.name: maxLength is 5 now", lambda d: new(d)["properties"]["name"].update(maxLength=5)),
    ("POST /things body.name: pattern is ^a now", lambda d: new(d)["properties"]["name"].update(pattern="^a")),
    ("POST /things body.size: null is not taken any more",
     lambda d: new(d)["properties"].update(size={"type": "number"})),
    ("POST /things body.size: number is not taken any more",
     lambda d: new(d)["properties"].update(size={"anyOf": [{"type": "integer"}, {"type": "null"}]})),
    ("POST /things body.any: any is not taken any more",
     lambda d: new(d)["properties"].update(any={"type": "object"})),
]  # fmt: skip

ADDITIONS: list[Callable[[Json], object]] = [
    lambda d: d["paths"].update({"/others": {}}),
    lambda d: d["paths"]["/things"].update(put={"operationId": "put_thing", "responses": {}}),
    lambda d: get(d)["parameters"].append({"name": "of", "in": "query", "schema": {}}),
    lambda d: get(d)["parameters"][0]["schema"].update(maximum=100),
    lambda d: get(d)["parameters"][0].update(schema={"type": "number"}),
    lambda d: get(d)["responses"].update({"404": {}}),
    lambda d: post(d)["responses"].pop("422"),
    lambda d: thing(d)["properties"].update(more={"type": "string"}),
    lambda d: thing(d)["properties"]["state"].update(enum=["a", "b", "c"]),
    lambda d: thing(d)["required"].append("at"),
    lambda d: thing(d)["properties"].update(inner={"type": "null"}),
    lambda d: new(d)["properties"].update(more={"type": "string"}),
    lambda d: new(d)["properties"]["kind"].update(enum=["x", "y", "z"]),
    lambda d: new(d)["properties"].update(size={"anyOf": [{"type": "number"}, {"type": "null"}, {"type": "string"}]}),
    lambda d: new(d).update(required=[]),
]


@pytest.mark.parametrize(("told", "change"), BREAKS, ids=[told for told, _ in BREAKS])
def test_a_break_is_found(told: str, change: Callable[[Json], object]) -> None:
    changed = copy.deepcopy(BASE)
    change(changed)
    assert breaks(BASE, changed) == [told]


@pytest.mark.parametrize("change", ADDITIONS, ids=range(len(ADDITIONS)))
def test_an_addition_is_none(change: Callable[[Json], object]) -> None:
    changed = copy.deepcopy(BASE)
    change(changed)
    assert breaks(BASE, changed) == []


def test_nothing_changed() -> None:
    assert breaks(BASE, copy.deepcopy(BASE)) == []
