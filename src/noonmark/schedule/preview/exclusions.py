"""Fires of the next weeks that are left out or moved, and why."""

from collections.abc import Iterator

from noonmark.schedule.preview.context import PreviewContext
from noonmark.schedule.preview.model import Notice
from noonmark.schedule.preview.words import SECOND_US, day_text, local_time, moment_text, times_text

_HORIZON_US = 56 * 86_400 * SECOND_US
_MANY = 400
_MAX_REASONS = 5


def exclusions(context: PreviewContext) -> Iterator[Notice]:
    if context.unfiltered is None or context.filtered is None:
        return
    fires = context.unfiltered.between(*_window(context), _MANY)
    kept_out = {at_us: why for at_us in fires if (why := context.filtered.excluded_reason(at_us))}
    if not kept_out:
        return
    reasons: dict[str, list[int]] = {}
    for at_us, why in kept_out.items():
        reasons.setdefault(why, []).append(at_us)
    sentences = [_reason(context, why, times_us) for why, times_us in list(reasons.items())[:_MAX_REASONS]]
    listed = "; ".join(sentences) + ("; and more" if len(reasons) > _MAX_REASONS else "")
    all_of_them = f"the next {_MANY} fires" if len(fires) == _MANY else f"{len(fires)} fires in the next 8 weeks"
    of_all = f"{len(kept_out)} of {all_of_them}"
    first_us = next(iter(kept_out))
    to_us = context.filtered.moved_to(first_us)
    if to_us is None:
        yield Notice("excluded", f"leaves out {of_all}: {listed}")
    else:
        yield Notice("moved", f"moves {of_all}: {listed}; the first to {moment_text(to_us, context.where)}")


def moved_note(context: PreviewContext, at_us: int) -> str | None:
    """What an excluded time that fires later says about itself."""
    if context.unfiltered is None or context.filtered is None or context.unfiltered.next_after(at_us - 1) == at_us:
        return None
    from_us = context.unfiltered.previous_before(at_us)
    if from_us is None or context.filtered.moved_to(from_us) != at_us:
        return None
    return f"moved from {moment_text(from_us, context.where)}: {context.filtered.excluded_reason(from_us)}"


def _window(context: PreviewContext) -> tuple[int, int]:
    from_us = max(context.now_us, (context.timed.start_us or 0) - 1)
    until_us = from_us + _HORIZON_US
    return from_us, until_us if context.timed.end_us is None else min(until_us, context.timed.end_us)


def _reason(context: PreviewContext, why: str, times_us: list[int]) -> str:
    day = day_text(local_time(times_us[0], context.where))
    return f"{why} on {day}" if len(times_us) == 1 else f"{why} {times_text(len(times_us))} from {day}"
