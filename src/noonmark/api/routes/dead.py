"""/v1/dead: the runs that used up their attempts, the way back, and the way out."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.middleware.pages import AfterDead, Cursor, Limit, decode_cursor, encode_cursor
from noonmark.api.routes.run_list import ErrorText, Reasons, instant_of, range_of, reasons_of, text_of
from noonmark.clock import NEVER_US, to_datetime
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.ids import RunKey, parse_run, shard_of
from noonmark.store.reads.dead import DeadFilter, find_dead, list_dead
from noonmark.wire.commands import DiscardRuns, RedriveRuns
from noonmark.wire.runs import MAX_AT_ONCE, DeadMatch, DeadPage, Discard, Discarded, Redrive, Redriven

DiedFrom = Annotated[datetime | None, msgspec.Meta(description="Died from here on.")]
DiedTo = Annotated[datetime | None, msgspec.Meta(description="Died before this.")]
Many = TypeVar("Many", Redrive, Discard)
T = TypeVar("T")


async def list_dead_letters(
    call: Call,
    job: str | None = None,
    reasons: Reasons = None,
    error: ErrorText = None,
    died_from: DiedFrom = None,
    died_to: DiedTo = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> DeadPage:
    """The latest death first; of one job, the newest nominal time first.

    A run that dies meanwhile comes before the pages still to come, and one that goes shifts nothing. As in a list
    of runs, a page reads a bounded number of them.
    """
    wanted = await _filter(call, job, reasons, error, died_from, died_to)
    after = decode_cursor(cursor, AfterDead)
    page = await list_dead(
        call.node.pool, call.tenant_id, wanted, before=(after.died_us, after.job_id, after.nominal_us), limit=limit
    )
    return DeadPage(
        [present.dead_letter(row) for row in page.dead],
        None if page.next is None else encode_cursor(AfterDead(*page.next)),
        None if page.reach_us is None else to_datetime(page.reach_us),
    )


async def redrive(data: Redrive, call: Call) -> Redriven:
    """Makes dead letters runs again, due now, with their attempts counted anew; says how many."""
    if (known := await _known(call, data, Redriven)) is not None:
        return known
    keys, more = await _chosen(call, data)
    if data.dry_run:
        return Redriven(redriven=0, matched=len(keys), more=more, dry_run=True)
    done = await call.perform(RedriveRuns(**_asked(call, data), runs=keys))
    return await _kept(call, data, Redriven(redriven=sum(done), matched=len(keys), more=more))


async def discard(data: Discard, call: Call) -> Discarded:
    """Removes dead letters for good; the history of their runs stays. They cannot be redriven any more."""
    if (known := await _known(call, data, Discarded)) is not None:
        return known
    keys, more = await _chosen(call, data)
    if data.dry_run:
        return Discarded(discarded=0, matched=len(keys), more=more, dry_run=True)
    done = await call.perform(DiscardRuns(**_asked(call, data), runs=keys))
    return await _kept(call, data, Discarded(discarded=sum(done), matched=len(keys), more=more))


def _is_search(data: Redrive | Discard) -> bool:
    """Sent again it would find others, so its answer is kept as a whole and its commands have no key."""
    return data.runs is None and not data.dry_run


def _asked(call: Call, data: Redrive | Discard) -> dict[str, Any]:
    return {**call.asked(), "key": None} if _is_search(data) else call.asked()


async def _known(call: Call, data: Redrive | Discard, kind: type[T]) -> T | None:
    return await call.recall_answer(kind) if _is_search(data) else None


async def _kept(call: Call, data: Redrive | Discard, answer: T) -> T:
    return await call.keep_answer(answer) if _is_search(data) else answer


async def _chosen(call: Call, data: Many) -> tuple[list[RunKey], bool]:
    """The runs that are meant, and whether there are more of them than may be looked at."""
    if sum(given is not None for given in (data.runs, data.job, data.filter)) != 1:
        raise InvalidInput("runs", "one of `runs`, `job` and `filter` is needed, and only one", "say which are meant")
    if data.runs is not None:
        return list(dict.fromkeys(_parse(call, position, text) for position, text in enumerate(data.runs))), False
    asked = data.filter or DeadMatch(job=data.job)
    reasons = None if asked.reason is None else [asked.reason]
    wanted = await _filter(call, asked.job, reasons, asked.error, asked.died_from, asked.died_to)
    return await find_dead(call.node.pool, call.tenant_id, wanted, MAX_AT_ONCE if data.dry_run else data.limit)


async def _filter(
    call: Call,
    job: str | None,
    reasons: list[str] | None,
    error: str | None,
    died_from: datetime | None,
    died_to: datetime | None,
) -> DeadFilter:
    from_us, to_us = range_of(
        "died_from", instant_of("died_from", died_from, 0), instant_of("died_to", died_to, NEVER_US)
    )
    return DeadFilter(
        job_id=None if job is None else (await call.job(job)).job_id,
        from_us=from_us,
        to_us=to_us,
        error=text_of("error", error),
        reasons=reasons_of(reasons),
    )


def _parse(call: Call, position: int, text: str) -> RunKey:
    try:
        key = parse_run(text)
    except InvalidInput as error:
        error.field = f"runs[{position}]"
        raise
    if shard_of(key[0]) >= call.node.shard_count:
        raise NotFound(f"there is no run {text}", field=f"runs[{position}]", fix="list them: GET /v1/dead")
    return key
