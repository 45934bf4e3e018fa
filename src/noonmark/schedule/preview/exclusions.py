"""Fires of the next weeks that are left out or moved, and why."""

from collections.abc import Iterator

from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import SECOND_US, day_text, local_time, moment_text, times_text

_HORIZON_US = 56 * 86_400 * SECOND_US
_MANY = 400
_TOLD = 5


def exclusions(outlook: PreviewContext) -> Iterator[Notice]:
    if outlook.unfiltered is None or outlook.filtered is None:
        return
    fires = outlook.unfiltered.between(*_window(outlook), _MANY)
    kept_out = {at_us: why for at_us in fires if (why := outlook.filtered.excluded_reason(at_us))}
    if not kept_out:
        return
    reasons: dict[str, list[int]] = {}
    for at_us, why in kept_out.items():
        reasons.setdefault(why, []).append(at_us)
    told = [_reason(outlook, why, times_us) for why, times_us in list(reasons.items())[:_TOLD]]
    listed = "; ".join(told) + ("; and more" if len(reasons) > _TOLD else "")
    all_of_them = f"the next {_MANY} fires" if len(fires) == _MANY else f"{len(fires)} fires in the next 8 weeks"
    of_all = f"{len(kept_out)} of {all_of_them}"
    first_us = next(iter(kept_out))
    to_us = outlook.filtered.moved_to(first_us)
    if to_us is None:
        yield Notice("excluded", f"leaves out {of_all}: {listed}")
    else:
        yield Notice("moved", f"moves {of_all}: {listed}; the first to {moment_text(to_us, outlook.where)}")


def moved_note(outlook: PreviewContext, at_us: int) -> str | None:
    """What an excluded time that fires later says about itself."""
    if outlook.unfiltered is None or outlook.filtered is None or outlook.unfiltered.next_after(at_us - 1) == at_us:
        return None
    from_us = outlook.unfiltered.previous_before(at_us)
    if from_us is None or outlook.filtered.moved_to(from_us) != at_us:
        return None
    return f"moved from {moment_text(from_us, outlook.where)}: {outlook.filtered.excluded_reason(from_us)}"


def _window(outlook: PreviewContext) -> tuple[int, int]:
    from_us = max(outlook.now_us, (outlook.timed.start_us or 0) - 1)
    until_us = from_us + _HORIZON_US
    return from_us, until_us if outlook.timed.end_us is None else min(until_us, outlook.timed.end_us)


def _reason(outlook: PreviewContext, why: str, times_us: list[int]) -> str:
    day = day_text(local_time(times_us[0], outlook.where))
    return f"{why} on {day}" if len(times_us) == 1 else f"{why} {times_text(len(times_us))} from {day}"
