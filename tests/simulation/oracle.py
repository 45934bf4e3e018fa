"""Which occurrences must exist, told from the schedules and from when jobs were active; it knows no watermark table."""

from collections import defaultdict

from noonmark.clock import NEVER_US
from tests.simulation.store import GRACE_US


class Oracle:
    def __init__(self):
        self._open = {}
        self._spans = []
        self._ticks = defaultdict(list)

    def activated(self, job, now_us, watermark_us):
        self._open[job.job_id] = now_us

    def deactivated(self, job, until_us, watermark_us):
        """Of the job's occurrences up to then, those due within the watermark or by then must have been made."""
        since_us = self._open.pop(job.job_id, None)
        if since_us is not None and job.recurrence is not None:
            due_us = watermark_us if until_us == NEVER_US else max(watermark_us, until_us)
            self._spans.append((job, since_us, until_us, due_us))

    def close(self, jobs, watermark_of):
        for job in jobs:
            self.deactivated(job, NEVER_US, watermark_of(job))

    def ticked(self, job, before_us, until_us, now_us):
        self._ticks[job.job_id].append((before_us, until_us, now_us))

    def expected(self):
        for job, since_us, until_us, watermark_us in self._spans:
            last_us = min(until_us, watermark_us - job.offset_us)
            nominals = job.bounded.between(since_us, last_us, 10_000)
            for nominal_us in nominals:
                if nominal_us not in job.skips and not self._skipped(job, nominal_us):
                    yield job.job_id, nominal_us

    def _skipped(self, job, nominal_us):
        """Whether the misfire policy leaves it out: late at its tick, and too old or too many missed after it."""
        due_us = nominal_us + job.offset_us
        for before_us, until_us, now_us in self._ticks[job.job_id]:
            if before_us < due_us <= until_us:
                missed_us = now_us - GRACE_US - 1
                if due_us > missed_us:
                    return False
                later = job.bounded.between(nominal_us, missed_us - job.offset_us, 10_000)
                too_old = job.window_us is not None and now_us - due_us > job.window_us
                return len(later) >= job.catch_up or too_old
        return False
