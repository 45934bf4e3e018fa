"""The rows of jobs in the model of the store: how they begin, change, pause and end, and what becomes of their runs."""

from dataclasses import replace

from noonmark.model.ids import shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow
from tests.simulation.invariants import require


class JobRows:
    def activate(self, node_id, job, now_us):
        """Creates or resumes a job: what the watermark has passed already is made here. All its runs that are due."""
        self.fence(node_id)
        self.checks.writes(node_id)
        shard = shard_of(job.job_id)
        w_us = self.shards[shard].watermark_us
        job.active, job.since_us = True, now_us
        self.jobs[job.job_id] = job
        self.oracle.activated(job, now_us, w_us)
        runs = self.runs[shard]
        for key, row in runs.items():
            if row.job_id == job.job_id and key in self.parked:
                self.parked.discard(key)
                runs[key] = row._replace(sleeps=row.due_us > w_us)
        if job.recurrence is not None:
            for nominal_us in job.bounded.between(now_us, w_us - job.offset_us, 1000):
                row = job.run(nominal_us, nominal_us + job.offset_us, Reason.SCHEDULED)
                if row.key not in runs and not self.has_ended(row.key):
                    self._insert_run(row)
        if job.delay_us is not None and (job.current_run_us is None or (job.job_id, job.current_run_us) not in runs):
            self._make_current(job, now_us + job.delay_us)
        return [row for row in runs.values() if row.job_id == job.job_id and row.due_us <= w_us]

    def has_ended(self, key):
        """A run may have been cancelled before its time: the key alone would let it be made anew."""
        return key in self.finals

    def pause(self, node_id, job_id, granted, now_us):
        self.fence(node_id)
        self.checks.writes(node_id)
        shard = shard_of(job_id)
        job = self.jobs[job_id]
        job.active = False
        self.oracle.deactivated(job, now_us, self.shards[shard].watermark_us)
        for key, row in list(self.runs[shard].items()):
            if row.job_id == job_id and row.nominal_us not in granted:
                if row.nominal_us > now_us and row.reason == Reason.SCHEDULED and row.nominal_us != job.current_run_us:
                    del self.runs[shard][key]
                else:
                    self.parked.add(key)

    def delete(self, node_id, job_id, granted, now_us):
        """The job goes, and its waiting runs with a reason."""
        self.pause(node_id, job_id, granted, now_us)
        del self.jobs[job_id]
        for row in list(self.runs[shard_of(job_id)].values()):
            if row.job_id == job_id and row.nominal_us not in granted:
                self.withdraw(row, Reason.JOB_DELETED, now_us)

    def cancel_waiting(self, node_id, key, now_us):
        """Cancels a run that is in no memory: it sleeps, is parked or was spilled."""
        self.fence(node_id)
        self.checks.writes(node_id)
        row = self.run(key)
        if row is not None:
            require(key not in self.held, "one end per run", key, "is granted and cancelled as waiting")
            self.withdraw(row, Reason.CANCELLED, now_us)
            return self.follow(*key, now_us)
        return []

    def change(self, node_id, job, recurrence, granted, now_us):
        """A new version, with another schedule from now on."""
        shard = shard_of(job.job_id)
        changed = replace(job, version=job.version + 1)
        self.jobs[job.job_id] = changed
        if job.recurrence is None or recurrence is None:
            return
        changed.recurrence, changed.offset_us = recurrence, 0
        if job.active:
            self.oracle.deactivated(job, now_us, self.shards[shard].watermark_us)
            for key, row in list(self.runs[shard].items()):
                planned = row.job_id == job.job_id and row.reason == Reason.SCHEDULED and row.nominal_us > now_us
                if planned and row.nominal_us not in granted:
                    del self.runs[shard][key]
            self.activate(node_id, changed, now_us)

    def waiting(self, job_id):
        """A job's runs that belong into memory."""
        shard = shard_of(job_id)
        w_us = self.shards[shard].watermark_us
        return [
            row
            for key, row in self.runs[shard].items()
            if row.job_id == job_id and row.due_us <= w_us and key not in self.parked
        ]

    def find_requests(self, tenant_id, key):
        return list(self.requests.get((tenant_id, key), {}).values())

    def keep(self, rows):
        for row in rows:
            self.requests.setdefault((row.tenant_id, row.key), {})[row.shard] = (row.shard, row.fingerprint, row.answer)

    def skip(self, node_id, job_id, nominal_us, now_us):
        """An occurrence to come never fires; if its run waits already, it ends."""
        self.fence(node_id)
        self.checks.writes(node_id)
        job = self.jobs[job_id]
        key = (job_id, nominal_us)
        require(key not in self.held, "one end per run", key, "is granted and skipped")
        if self.run(key) is None:
            row = job.run(nominal_us, nominal_us + job.offset_us, Reason.SCHEDULED)
            self._insert_attempt(AttemptRow.without_attempt(row, Outcome.WITHDRAWN, Reason.SKIPPED, now_us))
        else:
            self.withdraw(self.run(key), Reason.SKIPPED, now_us)
        job.skips.add(nominal_us)

    def withdraw(self, row, reason, now_us):
        outcome = Outcome.CANCELLED if reason is Reason.CANCELLED else Outcome.WITHDRAWN
        del self.runs[row.shard][row.key]
        self.parked.discard(row.key)
        self._insert_attempt(AttemptRow.without_attempt(row, outcome, reason, now_us))
