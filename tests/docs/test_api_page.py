"""docs/api.md: its tables say what the code says, and its examples do what they show."""

import asyncio
import os
import re
from typing import Any

import msgspec
import pytest

import noonmark.api.app  # noqa: F401  (with it, every problem that the API can tell is known)
from noonmark.api import problems, request_key
from noonmark.api.bodies import MAX_BATCH
from noonmark.api.call import PATIENCE_S
from noonmark.api.dispatch import fields
from noonmark.api.dispatch.request import MAX_BODY_BYTES
from noonmark.api.middleware import pages
from noonmark.api.routes import followers
from noonmark.clock import SECOND_US
from noonmark.errors import NoonmarkError, RunEnded
from noonmark.model.caller import Role
from noonmark.model.job import MAX_INPUT_BYTES, MAX_LABELS
from noonmark.model.request import KEPT_US
from noonmark.node.config import REQUESTS_PER_S
from noonmark.wire.bulk import MAX_BULK
from noonmark.wire.jobs import MAX_APPLIED, MAX_BACKFILLED
from noonmark.wire.notify import MAX_SUBSCRIPTIONS
from noonmark.wire.resources import MAX_DEDUP_KEY
from tests.conftest import Engine
from tests.docs.page import ROOT, Page, code

LIMITS = {
    "bytes of a request body": MAX_BODY_BYTES,
    "bytes of a job's or a run's `input`": MAX_INPUT_BYTES,
    "jobs or runs in one batch": MAX_BATCH,
    "jobs in one `PUT /v1/jobs/batch`": MAX_APPLIED,
    "jobs changed by one bulk action": MAX_BULK,
    "runs of one backfill": MAX_BACKFILLED,
    "items of a page": pages.MAX_PAGE,
    "labels of a job": MAX_LABELS,
    "characters of an `Idempotency-Key`": request_key.MAX_KEY,
    "characters of a `dedup_key`": MAX_DEDUP_KEY,
    "subscriptions of a tenant": MAX_SUBSCRIPTIONS,
    "streams followed at one node": followers.MAX_FOLLOWERS,
    "requests a second of one caller at one node": REQUESTS_PER_S,
}
_EXAMPLE = re.compile(r"^```sh\n(curl .*?)^```\n(?:\n```json\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(ROOT / "docs" / "api.md")


def kinds(parent: type[NoonmarkError]) -> list[type[NoonmarkError]]:
    return [kind for child in parent.__subclasses__() for kind in (child, *kinds(child))]


def test_every_code_has_its_row(page: Page) -> None:
    told = {code(row[0]): int(row[1]) for row in page.rows("code", "status")}
    known = {
        kind.code: kind.status
        for kind in kinds(NoonmarkError)
        if not kind.__module__.startswith(("noonmark.cli", "noonmark.client", "noonmark.testing", "tests."))
        and not issubclass(kind, RunEnded)  # the SDK's own
    }
    assert told == known | problems.OWN_CODES


def test_the_limits_are_those_of_the_code(page: Page) -> None:
    assert {row[0]: int(row[1]) for row in page.rows("limit", "value")} == LIMITS
    assert f"1 to {request_key.MAX_KEY} printable" in page.text
    assert f"kept for {KEPT_US / SECOND_US / 3600:g} hours" in page.text
    assert f"within {PATIENCE_S:g} seconds of its arrival" in page.text
    assert fields.PARAMETER == "fields"


def test_the_roles(page: Page) -> None:
    assert [code(row[0]) for row in page.rows("role", "may")] == [role.value for role in Role]


async def test_the_examples_do_what_they_show(page: Page, engine: Engine) -> None:
    await engine.start_node(token="sesame")
    examples = _EXAMPLE.findall(page.text)
    assert len(examples) == page.text.count("\ncurl ")
    for command, shown in examples:
        environment = {**os.environ, "NOONMARK_SERVER": engine.address, "NOONMARK_KEY": "sesame"}
        ran = await asyncio.create_subprocess_exec(
            "bash", "-c", command, env=environment, stdout=asyncio.subprocess.PIPE
        )
        answer, _ = await ran.communicate()
        assert ran.returncode == 0, (command, answer)
        if shown:
            assert_shows(msgspec.json.decode(answer), msgspec.json.decode(shown), command)


def assert_shows(answer: Any, shown: Any, command: str) -> None:
    """An answer may hold more than the page shows of it."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            assert name in answer, (command, answer)
            assert_shows(answer[name], value, command)
    elif isinstance(shown, list):
        assert len(answer) == len(shown), (command, answer)
        for one, other in zip(answer, shown, strict=True):
            assert_shows(one, other, command)
    else:
        assert answer == shown, command


def test_its_links_lead_somewhere(page: Page) -> None:
    assert page.broken_links() == []
