"""Says in a short sentence when a schedule fires."""

from typing import assert_never

from noonmark.schedule.cron_text import canonical_cron, parse
from noonmark.schedule.period import period_s, period_text
from noonmark.schedule.spec import At, Cron, Every, Manual, Now, ScheduleSpec


def describe(spec: ScheduleSpec) -> str:
    match spec:
        case Now():
            return "Once, right away"
        case At(at=at):
            return f"Once, at {at.isoformat(sep=' ')}"
        case Every(every=every, anchor=anchor):
            counted = "its creation" if anchor is None else anchor.isoformat(sep=" ")
            return f"Every {period_text(period_s(every))}, counted from {counted}"
        case Cron(cron=expression, tz=tz):
            return f"{parse(canonical_cron(expression)).explain()} ({tz})"
        case Manual():
            return "Only when triggered"
    assert_never(spec)
