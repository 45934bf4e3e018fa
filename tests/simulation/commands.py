"""What users ask of a node: each request is one step of the serial committer, durable when it is answered."""

from noonmark.model.ids import shard_of
from noonmark.model.reason import Reason


class Commands:
    def _serve(self):
        """A user's request, in the serial order: it sees the jobs as they are and nothing is under way meanwhile."""
        kind, client, job_id, *rest = self.requests.popleft()
        if shard_of(job_id) in self.terms and self.world.users_active:
            self.world.log(f"{self.name} does {kind} {job_id} {'' if kind == 'create' else rest}")
            yield from getattr(self, f"_{kind}")(client, job_id, *rest)

    def _asked(self, change, *args):
        """A change of a job; in the calm at the end there are none, not even late ones: False."""
        return lambda _: change(self.owner.node_id, *args) if self.world.users_active else False

    def _create(self, client, job_id, job):
        if job_id not in self.store.jobs:
            yield from self._activate(client, job)

    def _resume_job(self, client, job_id):
        job = self.store.jobs.get(job_id)
        if job is not None and not job.active:
            yield from self._activate(client, job)

    def _activate(self, client, job):
        yield from self._write(self.owner.take_outbox())
        now_us = self.now_us()
        self.owner.unpark([job.job_id])
        rows = yield self._asked(self.store.activate, job, now_us)
        self._found(rows or ())
        client.answer("active", job.job_id)

    def _submit(self, client, job_id, delay_us):
        job = yield lambda _: self.store.jobs.get(job_id)
        if job is not None and job.active:
            self.heads[job_id] = job
            self._make(client, job_id, delay_us)

    def _make(self, client, job_id, delay_us):
        now_us = self.now_us()
        nominal_us = self.owner.next_nominal_us(now_us)
        row = self.heads[job_id].run(nominal_us, nominal_us + delay_us, Reason.TRIGGERED)
        self.owner.create(row, now_us)
        self.owner.outbox.answers.append(((client, "submitted"), row.key))

    def _cancel(self, client, job_id, nominal_us):
        key = (job_id, nominal_us)
        now_us = self.now_us()
        if self.owner.cancel(key, now_us) is None:
            yield from self._write(self.owner.take_outbox())
            self._follow((yield lambda _: self.store.cancel_waiting(self.owner.node_id, key, now_us)))
        else:
            yield from self._flush()

    def _pause(self, client, job_id, verb="pause"):
        job = self.store.jobs.get(job_id)
        if job is None or not (job.active or verb == "delete"):
            return
        if self.owner.watermarks[shard_of(job_id)] < self.now_us():
            self.requests.append((verb, client, job_id))  # first the tick makes what is due
            self._tick_us = 0
            return
        batch = self.owner.take_outbox()
        self.heads.pop(job_id, None)
        self.owner.withdraw({job_id})
        granted = [nominal_us for _, nominal_us in self.owner.granted_of({job_id})]
        if verb == "delete":
            for nominal_us in granted:
                self.owner.cancel((job_id, nominal_us), self.now_us())
        elif granted:
            self.owner.paused.add(job_id)
        yield from self._write(batch)
        self._withdraw_again(job_id)
        now_us = self.instant_of_change(self, [job_id])
        done = yield self._asked(getattr(self.store, verb), job_id, granted, now_us)
        if done is False:
            self.owner.backlog.start_scan(shard_of(job_id))
            self.owner.paused.discard(job_id)
            return
        client.answer("paused", job_id)

    def _withdraw_again(self, job_id):
        """The commit may have made the next run of a fixed delay."""
        self.owner.withdraw({job_id})

    def _delete(self, client, job_id):
        yield from self._pause(client, job_id, "delete")

    def _redrive(self, client, job_id, nominal_us):
        if job_id in self.store.jobs and self.store.jobs[job_id].active:
            yield from self._write(self.owner.take_outbox())
            now_us = min(self.now_us(), self.owner.watermarks[shard_of(job_id)])
            rows = yield lambda _: self.store.redrive(self.owner.node_id, (job_id, nominal_us), now_us)
            self._found(rows)
