"""What a preview says."""

from datetime import datetime

import msgspec

from noonmark.schedule.spec import ScheduleSpec

MAX_FIRES = 100


class Fire(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    """In UTC."""
    local: str
    """By the clock of the schedule's zone, with its offset: `2026-11-01T01:30:00-04:00`."""
    zone: str
    """How the zone calls itself at that time: EDT."""
    note: str | None = None
    """What is out of the ordinary about this one."""


class Notice(msgspec.Struct, frozen=True):
    """Something that the schedule's owner may not expect. The code is stable, the words are not."""

    code: str
    message: str


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    schedule: ScheduleSpec
    """What was understood: never English, every part in its one canonical form."""
    canonical: str
    description: str
    tz: str
    """The zone of the local times."""
    fires: tuple[Fire, ...]
    """The next ones; nominal times, to which each job's own jitter is added."""
    ends: bool
    last_at: datetime | None
    """The last fire of a schedule that ends."""
    warnings: tuple[Notice, ...]
    """The weightiest first."""
