"""The rule of what fires, and of what is caught up, is one: the tick's SQL and `planning` agree on random jobs."""

import asyncio
from collections.abc import Iterator

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from noonmark.embedded import EmbeddedPostgres
from noonmark.model.ids import PolicyId, ScheduleId, TenantId, job_id_of
from noonmark.model.job import MAX_CATCH_UP
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.planning.occurrences import due_runs
from noonmark.schedule import recurrence
from noonmark.shard.timetable import Timetable
from noonmark.store import jobs, skips
from noonmark.store.connect import Connection, connect
from noonmark.store.tick import load_missed_ends, tick_runs
from tests.conftest import TEMPLATE, drop_database, new_database

SECOND_US = 1_000_000
GRACE_US = 30 * SECOND_US
MIDNIGHT_US = 1_790_000_000 // 86_400 * 86_400 * SECOND_US
TEXTS = {
    1: "every:60|phase 7|j0",
    2: "every:60|phase 0|j150",
    3: "cron:*/5 * * * *|UTC|j90",
    4: "every:3600|phase 0|j2520",
    5: "cron:30 2 * * *|Europe/Berlin|j0",
}
SHARDS = 2

seconds = st.integers(-3 * 3600, 3 * 3600)


@st.composite
def job_rows(draw: st.DrawFn, number: int) -> JobRow:
    schedule_id = draw(st.sampled_from(sorted(TEXTS)))
    rec = recurrence(TEXTS[schedule_id])
    begin_us = MIDNIGHT_US - 4 * 3600 * SECOND_US
    times = rec.between(begin_us, MIDNIGHT_US + 3600 * SECOND_US, 300)
    near = st.one_of(seconds.map(lambda s: MIDNIGHT_US + s * SECOND_US), st.sampled_from(times or [MIDNIGHT_US]))
    return JobRow(
        job_id=job_id_of(number + 1, draw(st.integers(0, SHARDS - 1))),
        tenant_id=TenantId(1),
        name=f"job-{number}",
        version=1,
        policy_id=PolicyId(1),
        schedule_id=ScheduleId(schedule_id),
        jitter_ms=draw(st.integers(0, max(0, rec.jitter_us // 1000 - 1))),
        priority=draw(st.integers(0, 9)),
        catch_up=draw(st.sampled_from([0, 1, 2, 7, MAX_CATCH_UP])),
        active=draw(st.integers(0, 9)) > 0,
        created_us=begin_us,
        planned_us=draw(st.one_of(st.just(begin_us), near)),
        input=None,
        ends_us=draw(st.one_of(st.none(), near)),
        catch_up_s=draw(st.one_of(st.none(), st.sampled_from([0.0, 59.5, 600.0, 7200.25]))),
        skips=sorted(draw(st.sets(st.sampled_from(times), max_size=3))) if times else None,
    )


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int, int]:
    """(after, until, now): as a tick has it that goes on from a watermark, after a second or after hours."""
    after_us = MIDNIGHT_US + draw(seconds) * SECOND_US + draw(st.integers(0, SECOND_US))
    gap_s = draw(st.one_of(st.integers(0, 90), st.integers(90, 4 * 3600)))
    now_us = after_us + gap_s * SECOND_US + draw(st.integers(0, 999_999))
    return after_us, now_us + draw(st.sampled_from([0, 3 * SECOND_US])), now_us


class Ticking:
    def __init__(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self.connection = connection
        self.loop = loop

    def made(self, rows: list[JobRow], after_us: int, until_us: int, now_us: int) -> list[RunRow]:
        return self.loop.run_until_complete(self._made(rows, after_us, until_us, now_us))

    async def _made(self, rows: list[JobRow], after_us: int, until_us: int, now_us: int) -> list[RunRow]:
        transaction = self.connection.transaction()
        await transaction.start()
        try:
            assert await jobs.insert_jobs(self.connection, rows, ["{}"] * len(rows)) == []
            for row in rows:
                await skips.set_job_skips(self.connection, row, row.skips or ())
                if not row.active:
                    await jobs.set_jobs_active(self.connection, [row], now_us, active=row.active)
            timetable = Timetable(grace_us=GRACE_US)
            for row in rows:
                assert row.schedule_id is not None
                timetable.add(row.shard, row.schedule_id, TEXTS[row.schedule_id])
            shards = range(SHARDS)
            due = timetable.expand(timetable.window(after_us, until_us, now_us), shards)
            missed_until_us = timetable.missed_until_us(now_us)
            if missed_until_us > after_us:
                ends = await load_missed_ends(self.connection, list(shards), after_us, missed_until_us)
                due += timetable.ended(ends, after_us, until_us, now_us)
            return await tick_runs(self.connection, due, now_us)
        finally:
            await transaction.rollback()


@pytest.fixture(scope="module")
def ticking(postgres: EmbeddedPostgres) -> Iterator[Ticking]:
    loop = asyncio.new_event_loop()
    url = loop.run_until_complete(new_database(postgres.url, TEMPLATE))
    connection = loop.run_until_complete(connect(url))
    yield Ticking(connection, loop)
    connection.terminate()
    loop.run_until_complete(drop_database(postgres.url, url))
    loop.close()


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(st.data())
def test_a_tick_makes_what_the_rules_say(ticking: Ticking, data: st.DataObject) -> None:
    rows = [data.draw(job_rows(number)) for number in range(data.draw(st.integers(1, 6)))]
    after_us, until_us, now_us = data.draw(windows())
    expected = [
        run
        for row in rows
        if row.schedule_id is not None
        for run in due_runs(row, recurrence(TEXTS[row.schedule_id]), after_us, until_us, now_us, GRACE_US)
    ]
    assert sorted(ticking.made(rows, after_us, until_us, now_us)) == sorted(expected)
