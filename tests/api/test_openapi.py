"""docs/openapi.json is the document of these routes, valid, complete, and good for clients of the last release."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from noonmark.api.dispatch.signature import read_signature
from noonmark.api.openapi import examples
from noonmark.api.openapi.written import written
from noonmark.api.table import TABLE
from tests.api.additive import breaks
from tests.api.conftest import Caller

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(written())
    return found


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, found) for path, item in document["paths"].items() for method, found in item.items()]


def test_the_committed_document_is_current() -> None:
    assert (DOCS / "openapi.json").read_bytes() == written(), "write it anew: make openapi"


def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_it_only_adds_to_the_last_released_one(document: dict[str, Any]) -> None:
    released = msgspec.json.decode((DOCS / "openapi.released.json").read_bytes())
    assert breaks(released, document) == []


async def test_a_node_serves_it(call: Caller) -> None:
    answer = await call("GET", "/v1/openapi.json")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json == msgspec.json.decode(written())


def test_every_operation_is_told_whole(document: dict[str, Any]) -> None:
    names = [found["operationId"] for _, _, found in operations(document)]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in document["tags"]}
    for path, method, found in operations(document):
        place = f"{method} {path}"
        assert re.fullmatch(r"[a-z_]+", found["operationId"]), place
        assert found["summary"], place
        assert found["description"].endswith("."), place
        assert set(found["tags"]) <= tags, place
        assert set(re.findall(r"{(\w+)}", path)) == {
            parameter["name"] for parameter in found.get("parameters", []) if parameter.get("in") == "path"
        }, place
        assert any(status.startswith("2") for status in found["responses"]), place
        if path.startswith("/v1/"):
            assert {"401", "403", "422", "429", "503"} <= found["responses"].keys(), place


def test_what_all_routes_share(document: dict[str, Any]) -> None:
    for path, method, found in operations(document):
        shared = {part["$ref"].rpartition("/")[2] for part in found.get("parameters", []) if "$ref" in part}
        worker = path.startswith("/v1/worker/")
        assert ("IdempotencyKey" in shared) == (method != "get" and path.startswith("/v1/") and not worker), path
        assert ("Tenant" in shared) == (path.startswith("/v1/") and not worker), path
        if method == "get" and "application/json" in found["responses"]["200"].get("content", {}):
            assert "Fields" in shared, path


def test_no_schema_is_empty_unless_it_is_any_json(document: dict[str, Any]) -> None:
    anything = {
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, told in schema.get("properties", {}).items()
        if not told.keys() - {"description"}
    }
    assert {name.rpartition(".")[2] for name in anything} <= {"input", "result", "spec", "before", "after"}


def test_the_examples_are_what_they_are_examples_of() -> None:
    bodies = {row.handler.__name__: read_signature(row).body for row in TABLE}
    for name, shown in examples.OF_BODY.items():
        for value in shown.values():
            msgspec.json.decode(msgspec.json.encode(value), type=bodies[name], strict=True)
