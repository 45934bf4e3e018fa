"""A job in memory, and the times at which it fires."""

from noonmark.clock import SECOND_US
from noonmark.model.ids import JobId, PolicyId, RunKey
from noonmark.model.job import MAX_CATCH_UP
from noonmark.model.policy import Policy
from noonmark.schedule import Bounded, Recurrence, count_between, firings, jitter_offset_us, recurrence, timing
from noonmark.wire.resources import JobSpec

TENANT = 1
GRACE_US = 30 * SECOND_US
"""What is fired later than this was missed."""
_MILLISECOND_US = 1000


class Planned:
    def __init__(self, job_id: JobId, spec: JobSpec, now_us: int) -> None:
        self.job_id = job_id
        self.created_us = now_us
        self.updated_us = now_us
        self.version = 0
        self.active = True
        self.policy_id = PolicyId(0)
        self.link_us: int | None = None
        """The nominal time of the current run of a fixed delay."""
        self.change(spec, now_us, anew=True)

    def change(self, spec: JobSpec, now_us: int, *, anew: bool) -> None:
        self.spec = spec
        self.version += 1
        self.updated_us = now_us
        key = f"{TENANT}/{spec.name}"
        self.timing = timing(spec.schedule, key=key, created_us=self.created_us, jitter_s=spec.jitter_s)
        self.offset_us = jitter_offset_us(self.job_id, round(spec.jitter_s * 1000) * 1000) if spec.jitter_s else 0
        text = self.timing.text
        self._recurrence: Recurrence | None = None
        if text is not None:
            self._recurrence = Bounded(recurrence(text), self.timing.start_us, self.timing.end_us)
        if anew:
            self.left = self.timing.max_runs
        self.plan_from(now_us)

    @property
    def policy(self) -> Policy:
        return self.spec.policy(chained=self.timing.delay_us is not None)

    @property
    def input(self) -> str | None:
        text = bytes(self.spec.input).decode()
        return None if text == "null" else text

    @property
    def due_us(self) -> int | None:
        """When it fires next by the clock."""
        return None if self.next_us is None or not self.active else self.next_us + self.offset_us

    def plan_from(self, now_us: int) -> None:
        """What comes after this time counts; what came before does not."""
        self.planned_us = now_us
        self.next_us = self._after(now_us)

    def fire(self) -> int:
        """Takes the next occurrence."""
        assert self.next_us is not None
        nominal_us = self.planned_us = self.next_us
        self.left = None if self.left is None else self.left - 1
        self.next_us = self._after(nominal_us)
        return nominal_us

    def catch_up(self, now_us: int) -> list[tuple[int, bool]]:
        """(time, whether it was missed) of what is fired after nobody could fire for a while."""
        if self._recurrence is None or not self.active:
            return []
        found = self._recurrence
        passed = count_between(found, self.planned_us, now_us, MAX_CATCH_UP if self.left is None else self.left)
        if self.left is not None:
            found = Bounded(found, self.planned_us + 1, None, self.left)
        misfire = self.spec.misfire
        oldest_us = 0 if misfire.window_s is None else now_us - round(misfire.window_s * SECOND_US)
        fired = [
            (firing.nominal_us, firing.missed)
            for firing in firings(found, self.planned_us, now_us, now_us, GRACE_US, MAX_CATCH_UP)
            if not firing.missed or (firing.rank < misfire.catch_up and firing.nominal_us >= oldest_us)
        ]
        self.left = None if self.left is None else self.left - passed
        self.plan_from(now_us)
        return fired

    def next_fires(self, after_us: int, count: int) -> list[int]:
        if self._recurrence is None or not self.active:
            return []
        most = count if self.left is None else min(count, self.left)
        found: list[int] = []
        while len(found) < most and (next_us := self._recurrence.next_after(found[-1] if found else after_us)):
            found.append(next_us)
        return found

    def first_link(self, now_us: int) -> int | None:
        """The first run of a fixed delay, or the one after a pause."""
        if self.timing.delay_us is None:
            return None
        at_us = now_us + self.timing.delay_us
        if self.timing.start_us is not None and self.timing.start_us > now_us:
            at_us = self.timing.start_us
        return self._link(at_us)

    def next_link(self, ended: RunKey, ended_us: int) -> int | None:
        """The run that follows one of a fixed delay, if that was the current one."""
        if self.timing.delay_us is None or ended[1] != self.link_us or not self.active:
            return None
        return self._link(max(ended_us, ended[1]) + self.timing.delay_us)

    def _link(self, at_us: int) -> int | None:
        at_us = -(-at_us // _MILLISECOND_US) * _MILLISECOND_US
        if self.left == 0 or (self.timing.end_us is not None and at_us > self.timing.end_us):
            self.link_us = None
        else:
            self.left = None if self.left is None else self.left - 1
            self.link_us = at_us
        return self.link_us

    def _after(self, at_us: int) -> int | None:
        return None if self._recurrence is None or self.left == 0 else self._recurrence.next_after(at_us)
