"""docs/worker-protocol.md: its conversation is held with a real node, and its tables name what travels."""

import re
from typing import Any

import aiohttp
import msgspec
import pytest

from noonmark.model.ids import parse_run, run_text
from noonmark.model.reason import Outcome
from noonmark.node import dispatch
from noonmark.shard.limits import Limits
from noonmark.wire import worker as wire
from tests.conftest import Engine
from tests.docs.page import ROOT, Page, code, codes

PAGE = Page(ROOT / "docs" / "worker-protocol.md")
TOKEN = "a-secret-of-some-length"
JOB = {"name": "greet", "task": "greet", "timeout_s": 60}

_Exchange = tuple[str, Any, tuple[int, Any] | None]
"""The path, what is sent, and the answer; None if the page shows none."""
_RUN = re.compile(r"run_\w+")
_EARLIEST_US = 1_000_000_000_000_000
"""From here on an integer is a time."""
_VARIES = re.compile(r"(worker|grant|lost\[\d+\]|nodes\[\d+\]|\w*_us|cancel\[\d+\]\[\d\]|runs\[\d+\]\[[0134]\])")
"""What another node, at another time, may tell otherwise; the same value always stands for the same thing."""


def exchanges() -> list[_Exchange]:
    found: list[_Exchange] = []
    for block in PAGE.blocks("http"):
        first, _, rest = block.partition("\n")
        body = msgspec.json.decode(rest) if rest.strip() else None
        if first.startswith("POST "):
            found.append((first.removeprefix("POST "), body, None))
        else:
            path, sent, _none = found[-1]
            found[-1] = (path, sent, (int(first), body))
    return found


class Reading:
    """The page's values and the ones that they stand for."""

    def __init__(self) -> None:
        self._real: dict[Any, Any] = {}
        self._later_us = 0

    def meant(self, written: Any) -> Any:
        """A request of the page as it is to be sent."""
        if isinstance(written, dict):
            return {name: self.meant(value) for name, value in written.items()}
        if isinstance(written, list):
            return [self.meant(value) for value in written]
        if isinstance(written, int) and written >= _EARLIEST_US:
            return self._real.get(written, written + self._later_us)
        return self._real.get(written, written) if isinstance(written, int | str) else written

    def path(self, written: str) -> str:
        return _RUN.sub(lambda run: run_text(tuple(map(self.meant, parse_run(run[0])))), written)  # type: ignore[arg-type]

    def compare(self, written: Any, told: Any, at: str = "") -> None:
        """An answer of the page with a real one, learning what its values stand for."""
        if isinstance(written, dict) and at == "terms":
            assert list(told) == [str(self.meant(int(number))) for number in written]
            for number, terms in zip(written, told, strict=True):
                self.compare(written[number], told[terms])
        elif isinstance(written, dict):
            assert written.keys() == told.keys(), at
            for name in written:
                self.compare(written[name], told[name], f"{at}.{name}" if at else name)
        elif isinstance(written, list):
            assert len(written) == len(told), at
            for position, value in enumerate(written):
                self.compare(value, told[position], f"{at}[{position}]")
        elif _VARIES.fullmatch(at) and written != 0:
            self._learn(written, told, at)
        else:
            assert (at, written) == (at, told)

    def _learn(self, written: Any, told: Any, at: str) -> None:
        assert type(written) is type(told), at
        assert self._real.setdefault(written, told) == told, at
        if at == "now_us":
            self._later_us = told - written


@pytest.fixture
async def ask(engine: Engine):
    server = await engine.start_node(token=TOKEN)
    async with aiohttp.ClientSession() as session:

        async def ask(path: str, body: Any = None, method: str = "POST") -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            data = None if body is None else msgspec.json.encode(body)
            async with session.request(method, server + path, data=data, headers=headers) as answer:
                return answer.status, await answer.json(content_type=None)

        yield ask


async def test_the_conversation_is_held_as_it_is_written(ask) -> None:
    await ask("/v1/tasks", {"tasks": ["greet"]}, "PUT")
    assert (await ask("/v1/jobs", JOB))[0] == 201
    for given in ({"input": {"name": "Ada"}}, {}):
        assert (await ask("/v1/jobs/greet/trigger", given))[0] == 202
    reading = Reading()
    answers = 0
    for path, sent, expected in exchanges():
        status, told = await ask(reading.path(path), reading.meant(sent))
        if expected is None:
            assert status < 300, told
            continue
        answers += 1
        assert (path, status) == (path, expected[0]), told
        reading.compare(expected[1], told)
    assert answers >= 10


def names(struct: type[msgspec.Struct]) -> list[str]:
    return list(struct.__struct_fields__)


def told(header: str) -> list[list[str]]:
    """The fields or positions of each table with this header, in order."""
    return [[codes(row[0])[-1] for row in table.rows] for table in PAGE.tables if table.header[0] == header]


def test_the_tables_name_every_field() -> None:
    assert told("field of the request") == [names(k) for k in (wire.Register, wire.Claim, wire.Heartbeat, wire.Report)]
    answers = (wire.Registered, wire.ClaimAnswer, wire.HeartbeatAnswer, wire.ReportAnswer)
    assert told("field of the answer") == [names(kind) for kind in answers]
    assert told("field of the terms") == [names(wire.Terms)]
    assert told("position in a run") == [names(wire.RunGrant)]
    assert told("position in an item") == [names(wire.ReportItem)]


def test_the_table_of_outcomes_is_what_a_worker_may_report() -> None:
    rows = PAGE.rows("outcome", "name")
    assert {int(code(row[0])): row[1] for row in rows} == {
        int(outcome): outcome.name.lower() for outcome in dispatch._REPORTABLE
    }
    assert int(Outcome.LOST) == 4


def test_the_bounds_are_the_ones_in_force() -> None:
    limits = Limits()
    assert (limits.delivery_us, limits.overrun_us, limits.claim_runs) == (3_000_000, 60_000_000, 1_000)
    assert (wire.MAX_AGE_S, dispatch._MAX_WAIT_S, dispatch._MAX_ERROR, dispatch._MAX_RESULT) == (
        1,
        60,
        16_384,
        65_536,
    )
    for text in ("3 seconds after it was made", "60 seconds after its timeout", "above 1,000 counts as 1,000"):
        assert text in PAGE.text
    for text in ("at most 60", "above 16,384 characters", "up to 64 KiB", "more than a second old"):
        assert text in PAGE.text
