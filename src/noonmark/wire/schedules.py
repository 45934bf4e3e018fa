"""The preview of a schedule, before a job has it (JSON)."""

from datetime import datetime
from typing import Annotated

import msgspec

from noonmark.schedule.preview import MAX_FIRES
from noonmark.schedule.spec import ScheduleSpec


class PreviewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    schedule: ScheduleSpec | str
    tz: str | None = None
    """The zone of a string that names none, and of the times that are shown if the schedule has no zone of its own."""
    name: str | None = None
    """The job's name, which decides the H of a cron."""
    jitter_s: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 0.0
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_FIRES)] = 10
    from_at: datetime | None = msgspec.field(default=None, name="from")
    """Fires after this time, as if it were now."""
