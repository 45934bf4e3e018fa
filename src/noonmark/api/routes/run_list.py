"""The filters of a list of runs, and one page of it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, cast

import msgspec

from noonmark.api import present
from noonmark.api.call import Call
from noonmark.api.dispatch.signature import Query
from noonmark.api.middleware.pages import decode_cursor, encode_cursor
from noonmark.clock import NEVER_US, from_datetime, to_datetime
from noonmark.errors import InvalidInput
from noonmark.model.reason import Reason
from noonmark.store.reads.run_list import START, RunFilter, list_runs
from noonmark.store.reads.runs import ALL_STATES, RunState
from noonmark.wire.runs import MAX_ERROR_TEXT, RunPage

States = Annotated[
    list[str] | None, Query("state"), msgspec.Meta(description="Only runs in this state; may be given again.")
]
Reasons = Annotated[
    list[str] | None, Query("reason"), msgspec.Meta(description="Only for this reason; may be given again.")
]
Labels = Annotated[
    list[str] | None,
    Query("label"),
    msgspec.Meta(description="Only of jobs with this label, `key` or `key:value`; given again, with all of them."),
]
ErrorText = Annotated[
    str | None,
    Query("error"),
    msgspec.Meta(min_length=1, max_length=MAX_ERROR_TEXT, description="A part of the error, in any case."),
]
# As text, because `from` cannot be the name of an argument, and a refusal names the argument.
From = Annotated[str | None, Query("from"), msgspec.Meta(description="Nominal time from here on.")]
To = Annotated[str | None, Query("to"), msgspec.Meta(description="Nominal time before this.")]
FinishedFrom = Annotated[datetime | None, msgspec.Meta(description="Ended from here on; leaves live runs out.")]
FinishedTo = Annotated[datetime | None, msgspec.Meta(description="Ended before this; leaves live runs out.")]

_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_Instant = Annotated[int, msgspec.Meta(ge=0, le=NEVER_US)]
_Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class BeforeRun(msgspec.Struct, frozen=True, array_like=True):
    nominal_us: _Instant = START[0]
    job_id: _Id = START[1]


async def read_page(call: Call, wanted: RunFilter, cursor: str | None, limit: int) -> RunPage:
    after = decode_cursor(cursor, BeforeRun)
    page = await list_runs(
        call.node.pool,
        call.tenant_id,
        call.node.shard_count,
        wanted,
        before=(after.nominal_us, after.job_id),
        limit=limit,
    )
    return RunPage(
        [present.run(key, record, record.job_name) for key, record in page.runs],
        None if page.next is None else encode_cursor(BeforeRun(*page.next)),
        None if page.reach_us is None else to_datetime(page.reach_us),
    )


def states_of(names: Sequence[str] | None) -> Sequence[RunState]:
    for name in names or ():
        if name not in ALL_STATES:
            raise InvalidInput("state", f"{name[:40]!r} is not a state", f"use any of {', '.join(ALL_STATES)}")
    return cast(Sequence[RunState], names) or ALL_STATES


def reasons_of(names: Sequence[str] | None) -> list[int] | None:
    known = {reason.name.lower(): int(reason) for reason in Reason}
    for name in names or ():
        if name not in known:
            raise InvalidInput("reason", f"{name[:40]!r} is not a reason", f"use any of {', '.join(known)}")
    return [known[name] for name in names] if names else None


def labels_of(labels: Sequence[str] | None) -> list[str] | None:
    for label in labels or ():
        if not label or len(label) > 320 or "\0" in label:
            raise InvalidInput("label", f"{label[:40]!r} is not a label", "use `key` or `key:value`")
    return list(labels) if labels else None


def text_of(field: str, text: str | None) -> str | None:
    if text is not None and "\0" in text:
        raise InvalidInput(field, "it holds a NUL, which no stored text does", "leave it out")
    return text


def time_of(field: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        fix = "write it as 2026-11-01T09:30:00Z; in an address a + is %2B"
        raise InvalidInput(field, f"{text[:40]!r} is not a time", fix) from None  # type: ignore[index]


def instant_of(field: str, at: datetime | None, otherwise_us: int) -> int:
    if at is None:
        return otherwise_us
    if at.utcoffset() is None:
        raise InvalidInput(field, "the time has no zone", "add an offset, such as Z or +02:00")
    if not _EARLIEST <= at <= _LATEST:
        raise InvalidInput(field, f"{at.isoformat()} is out of bounds", "use a time from 1970 to 2200")
    return from_datetime(at)


def range_of(name: str, from_us: int, to_us: int) -> tuple[int, int]:
    if from_us >= to_us:
        raise InvalidInput(name, "the range ends before it begins", "give a start that is before the end")
    return from_us, to_us
