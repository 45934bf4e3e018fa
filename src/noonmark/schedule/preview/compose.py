"""Puts a preview together."""

from collections.abc import Callable, Iterator

from noonmark.schedule.english import describe
from noonmark.schedule.preview import daylight, days, exclusions, limits, pace
from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.fires import fires, utc
from noonmark.schedule.preview.model import MAX_FIRES, Notice, Preview
from noonmark.schedule.spec import ScheduleSpec
from noonmark.schedule.text import write_schedule

CHECKS: tuple[Callable[[PreviewContext], Iterator[Notice]], ...] = (
    pace.long_silence,
    daylight.daylight,
    limits.past_times,
    days.cron_days,
    days.short_months,
    limits.midnight,
    pace.uneven_steps,
    pace.very_frequent,
    pace.jitter_overlaps,
    exclusions.exclusions,
    limits.ending,
    limits.hash_without_name,
    limits.counted_from_creation,
    pace.fixed_delay,
    days.weekends,
)
"""The weightiest first."""


def preview(
    spec: ScheduleSpec,
    *,
    now_us: int,
    jitter_s: float = 0.0,
    key: str = "",
    count: int = 10,
    tz: str | None = None,
) -> Preview:
    """What the schedule would do for a job created now; `key` (`tenant/name`) decides the H of a cron.

    `tz` is the zone of the local times of a schedule that has no zone of its own. A schedule that no job could have is
    refused with a ScheduleError.
    """
    context = PreviewContext(spec, now_us=now_us, jitter_s=jitter_s, key=key, tz=tz)
    last_us = context.last_us
    return Preview(
        schedule=context.plain,
        canonical=write_schedule(context.plain),
        description=describe(context.plain),
        tz=context.tz,
        fires=fires(context, max(0, min(count, MAX_FIRES))),
        ends=context.ends,
        last_at=None if last_us is None else utc(last_us),
        warnings=tuple(notice for check in CHECKS for notice in check(context)),
    )
