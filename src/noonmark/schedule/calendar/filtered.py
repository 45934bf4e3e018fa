"""A recurrence without the times that its rules exclude, or with those moved."""

from noonmark.schedule.calendar.moves import Moves, check_move
from noonmark.schedule.calendar.openings import FIRST_US, HORIZON_US, LAST_US, MIN_STEPS, Openings
from noonmark.schedule.pattern import Recurrence, Stepping

_NO_SPAN = (0, 0)


class Filtered(Stepping):
    """The occurrences of another recurrence that are open; with `move`, the others at their next open time."""

    __slots__ = ("_inner", "_moves", "_open", "_openings", "jitter_us")

    def __init__(
        self, inner: Recurrence, tz: str, exclude: tuple[str, ...], only: tuple[str, ...], move: bool = False
    ) -> None:
        self.jitter_us = inner.jitter_us
        self._inner = inner
        self._openings = Openings(tz, exclude, only)
        self._moves = Moves(inner, self._openings) if move else None
        self._open = _NO_SPAN  # the last open span: most steps stay in it

    def next_after(self, t_us: int) -> int | None:
        if self._moves is not None:
            return self._moves.next_after(t_us)
        at_us = self._inner.next_after(t_us)
        start_us, end_us = self._open
        if at_us is not None and start_us <= at_us < end_us:
            return at_us
        return self._search(max(t_us, FIRST_US)) if t_us < LAST_US else None

    def previous_before(self, t_us: int) -> int | None:
        if self._moves is not None:
            return self._moves.previous_before(t_us)
        at_us = self._inner.previous_before(t_us)
        start_us, end_us = self._open
        if at_us is not None and start_us <= at_us < end_us:
            return at_us
        return self._search_back(min(t_us, LAST_US)) if t_us > FIRST_US else None

    def excluded_reason(self, at_us: int) -> str | None:
        """Which rule keeps an instant out, with the name of a holiday; None if it is open."""
        return self._openings.reason(at_us)

    def moved_to(self, at_us: int) -> int | None:
        """When an occurrence of the inner recurrence fires; None if it does not."""
        if self._moves is not None:
            return self._moves.moved_to(at_us)
        return at_us if self._openings.span(at_us).open else None

    def check(self, from_us: int) -> None:
        """Raises a ScheduleError if so many occurrences would move at once that it takes too long to tell them."""
        if self._moves is not None:
            check_move(self._inner, self._openings, from_us)

    def _search(self, t_us: int) -> int | None:
        at_us = self._inner.next_after(t_us)
        steps = 0
        while at_us is not None and at_us < LAST_US and (steps < MIN_STEPS or at_us <= t_us + HORIZON_US):
            span = self._openings.span(at_us)
            if span.open:
                self._open = (span.start_us, span.end_us)
                return at_us
            at_us = self._inner.next_after(self._openings.excluded(span)[1] - 1)
            steps += 1
        return None

    def _search_back(self, t_us: int) -> int | None:
        at_us = self._inner.previous_before(t_us)
        steps = 0
        while at_us is not None and at_us >= FIRST_US and (steps < MIN_STEPS or at_us >= t_us - HORIZON_US):
            span = self._openings.span(at_us)
            if span.open:
                self._open = (span.start_us, span.end_us)
                return at_us
            at_us = self._inner.previous_before(self._openings.excluded(span)[0])
            steps += 1
        return None
