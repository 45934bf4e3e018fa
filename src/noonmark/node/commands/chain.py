"""Fixed delays: each run of the schedule, a *link*, comes so long after the one before it ended.

States of a chain, by the job's `link_at`
    NULL      there is none, or it has come to its end (`end`, `max_runs`)
    a time    the nominal time of the current link, whose run waits, is parked or is with a worker; if there is no such
              run, it ended while the job was paused, and the chain stands still

- The first link comes one delay after the job was created, or at `start` if that is to come.
- The transaction that ends a link's run, however it ends, moves the chain on and makes the next run: a comparison of
  `link_at` with the ended run, so no other run of the job starts a second chain, and a crash repeats or loses nothing.
- A paused job's chain stands still. A link that was waiting then waits on; if there is none any more when the job is
  resumed, the next one comes one delay later.
- A change of the job gives a link that is to come its new terms; a new delay counts from the change. A link that is due
  or running is left alone, and the new delay follows it.
"""

from noonmark.clock import SECOND_US
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.plan import run_row
from noonmark.schedule import Timing
from noonmark.store import jobs as store
from noonmark.store.connect import Connection
from noonmark.store.jobs import JobRow

_MILLISECOND_US = SECOND_US // 1000


def with_first_link(head: JobRow, timing: Timing, now_us: int) -> JobRow:
    """The job with a new link as its current one, if its bounds allow one."""
    if timing.delay_us is None:
        return head
    at_us = now_us + timing.delay_us
    if timing.start_us is not None and timing.start_us > now_us:
        at_us = timing.start_us
    at_us = -(-at_us // _MILLISECOND_US) * _MILLISECOND_US
    if head.runs_left == 0 or (head.ends_us is not None and at_us > head.ends_us):
        return head._replace(link_us=None)
    return head._replace(link_us=at_us, runs_left=None if head.runs_left is None else head.runs_left - 1)


def link_rows(head: JobRow, watermark_us: int) -> list[RunRow]:
    """The run of the current link."""
    if head.link_us is None:
        return []
    due_us = head.link_us + head.jitter_ms * 1000
    row = run_row(head, head.link_us, due_us, Reason.SCHEDULED, head.input)
    return [row._replace(sleeps=due_us > watermark_us)]


async def resumed_link(
    connection: Connection, head: JobRow, timing: Timing, now_us: int, watermark_us: int
) -> tuple[JobRow, list[RunRow]]:
    """The chain goes on: with the link that was waiting, or with a new one."""
    if timing.delay_us is None or (head.link_us is not None and await store.has_run(connection, head, head.link_us)):
        return head, []
    return await _new_link(connection, head, timing, now_us, watermark_us)


async def changed_link(
    connection: Connection,
    head: JobRow,
    link_us: int | None,
    timing: Timing,
    now_us: int,
    watermark_us: int,
    *,
    anew: bool,
) -> tuple[JobRow, list[RunRow]]:
    """After a change of the job, whose planned runs are deleted; `link_us` was the current link until now."""
    if timing.delay_us is None:
        return head, []
    if link_us is not None:
        kept = head._replace(link_us=link_us)
        if await store.has_run(connection, head, link_us):
            return kept, []
        if not anew:
            rows = link_rows(kept, watermark_us) if link_us > now_us else []
            return kept, await store.without_ended(connection, rows)
    if not head.active:
        return head, []
    return await _new_link(connection, head, timing, now_us, watermark_us)


async def _new_link(
    connection: Connection, head: JobRow, timing: Timing, now_us: int, watermark_us: int
) -> tuple[JobRow, list[RunRow]]:
    linked = with_first_link(head, timing, now_us)
    rows = link_rows(linked, watermark_us)
    # A link of the same time may have been cancelled ahead of it.
    while rows and linked.link_us is not None and not await store.without_ended(connection, rows):
        linked = linked._replace(link_us=linked.link_us + _MILLISECOND_US)
        rows = link_rows(linked, watermark_us)
    return linked, rows
