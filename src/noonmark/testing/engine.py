"""The rows of a node in memory, and the node's own owner deciding over them.

Everything is of one shard, whose watermark is the end of time: no run ever sleeps in its row. A run is a row from the
moment it is due until it ends; the owner's outbox says what becomes of it.
"""

from collections.abc import Callable, Iterable

import msgspec

from noonmark.clock import NEVER_US, SettableClock
from noonmark.errors import Conflict, DuplicateName, JobPaused, NotFound, VersionConflict
from noonmark.model.ids import JobId, PolicyId, RunKey, TenantId, WorkerId, job_id_of, parse_job, run_text
from noonmark.model.job import check_name, check_policy, check_priority
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, DeadRow, RunRow
from noonmark.schedule import Now, once_at_us, validate
from noonmark.shard.answers import Granted
from noonmark.shard.limits import Limits
from noonmark.shard.live_run import LiveRun, State
from noonmark.shard.owner import Owner
from noonmark.testing.planned import TENANT, Planned
from noonmark.wire.resources import JobPatch, JobSpec
from noonmark.wire.worker import ReportItem

_WORKER = WorkerId(1)


class Engine:
    def __init__(self, clock: SettableClock, random: Callable[[], float], tasks: Iterable[str]) -> None:
        self.clock = clock
        self.jobs: dict[JobId, Planned] = {}
        self.names: dict[JobId, str] = {}
        """Of all jobs that ever were: history outlives them."""
        self.made: dict[RunKey, Reason] = {}
        """All runs that ever were, in the order in which they were made, and why."""
        self.rows: dict[RunKey, RunRow] = {}
        self.parked: set[RunKey] = set()
        self.history: dict[RunKey, list[AttemptRow]] = {}
        self.dead: dict[RunKey, tuple[DeadRow, RunRow]] = {}
        self.policies: dict[PolicyId, Policy] = {}
        self.down = False
        """No node is there: nothing fires and nothing is granted."""
        self._tasks = tasks
        self.owner = Owner(
            node_id=1,
            policies=self.policies,
            weights={TenantId(TENANT): 1},
            limits=Limits(memory_runs=10**9, input_bytes_in_memory=10**9),
            random=random,
        )
        self.owner.adopt(0, NEVER_US, (), (), clock.now_us(), {})

    # jobs

    def find(self, ref: str) -> Planned:
        wanted = parse_job(ref) if ref.startswith("job_") else None
        for job in self.jobs.values():
            if job.job_id == wanted or job.spec.name == ref:
                return job
        raise NotFound(f"there is no job {ref!r}", field="job", fix="make it first")

    def create(self, spec: JobSpec) -> Planned:
        now_us = self.clock.now_us()
        check_name("name", spec.name)
        if any(job.spec.name == spec.name for job in self.jobs.values()):
            raise DuplicateName(f"a job named {spec.name!r} exists already", field="name", fix="choose another name")
        self._check(spec)
        job = Planned(job_id_of(len(self.names) + 1, 0), spec, now_us)
        self._enter(job)
        self.names[job.job_id] = spec.name
        self._first(job)
        return job

    def change(self, ref: str, patch: JobPatch, version: int | None = None) -> Planned:
        job = self.find(ref)
        if version is not None and version != job.version:
            raise VersionConflict(f"the job is at version {job.version}", field="version", fix="read it again")
        given = {name: getattr(patch, name) for name in patch.__struct_fields__}
        changes = {name: value for name, value in given.items() if value is not msgspec.UNSET}
        spec = msgspec.structs.replace(job.spec, **changes)
        self._check(spec)
        anew = spec.schedule != job.spec.schedule
        job.change(spec, self.clock.now_us(), anew=anew)
        self._enter(job)
        if anew:
            self._drop_planned(job)
            self._first(job)
        return job

    def pause(self, ref: str) -> Planned:
        job = self.find(ref)
        job.active = False
        self._drop_planned(job, keep=job.link_us)
        self.owner.withdraw(job.job_id)
        self.owner.paused.add(job.job_id)
        self.parked |= {key for key in self.rows if key[0] == job.job_id and key not in self.owner.live}
        return job

    def resume(self, ref: str) -> Planned:
        job = self.find(ref)
        if job.active:
            return job
        job.active = True
        now_us = self.clock.now_us()
        job.plan_from(now_us)
        self.owner.paused.discard(job.job_id)
        for key in [key for key in self.parked if key[0] == job.job_id]:
            self.parked.discard(key)
            self.owner.admit(self.rows[key], now_us)
        once_us = once_at_us(job.spec.schedule, 0)
        if (once_us or 0) > now_us or (job.timing.delay_us is not None and (job.job_id, job.link_us) not in self.rows):
            self._first(job)
        return job

    def delete(self, ref: str) -> list[RunKey]:
        """The runs that are to be stopped."""
        job = self.find(ref)
        running = [key for key, live in self.owner.live.items() if key[0] == job.job_id and _granted(live)]
        for key in running:
            self.owner.cancel(key, self.clock.now_us())
        self.owner.withdraw(job.job_id)
        for key in [key for key in self.rows if key[0] == job.job_id and key not in running]:
            self._end_waiting(key, Outcome.WITHDRAWN, Reason.JOB_DELETED)
        del self.jobs[job.job_id]
        return running

    # runs

    def submit(self, ref: str, input: str | None, at_us: int | None, priority: int | None) -> RunKey:
        job = self.find(ref)
        if not job.active:
            raise JobPaused(f"the job {job.spec.name!r} is paused", field="job", fix="resume it first")
        now_us = self.clock.now_us()
        nominal_us = self.owner.next_nominal_us(now_us)
        due_us = max(now_us, at_us or 0)
        self._admit(job, nominal_us, due_us, Reason.TRIGGERED, input, priority)
        return job.job_id, nominal_us

    def cancel(self, key: RunKey) -> bool:
        """Whether it is running and must be stopped."""
        if key not in self.rows:
            raise Conflict(f"the run {run_text(key)} has ended or never was", field="run_id")
        state = self.owner.cancel(key, self.clock.now_us())
        if state is None:
            self._end_waiting(key, Outcome.CANCELLED, Reason.CANCELLED)
        return state is State.GRANTED

    def redrive(self, keys: Iterable[RunKey]) -> int:
        """Their attempts go on counting, their failures begin anew."""
        now_us, count = self.clock.now_us(), 0
        for key in list(keys):
            if key in self.dead:
                died, row = self.dead.pop(key)
                self._wait(row._replace(due_us=now_us, attempt=died.attempt, failures=0, reason=Reason.REDRIVEN))
                count += 1
        return count

    def report(self, item: ReportItem) -> None:
        self.owner.report(object(), _WORKER, [item], self.clock.now_us())

    # time

    def next_us(self) -> int | None:
        """When something is to be done."""
        times = [job.due_us for job in self.jobs.values()]
        return min((at_us for at_us in (*times, self.owner.next_due_us()) if at_us is not None), default=None)

    @property
    def unsettled(self) -> bool:
        """Something more is to be done at this moment."""
        return bool(self.owner.outbox) or (not self.down and any(True for _ in self.owner.heads()))

    def tick(self) -> list[tuple[int, LiveRun]]:
        """Fires what is due; the runs to start, with their grants."""
        now_us = self.clock.now_us()
        if not self.down:
            for job in self.jobs.values():
                while job.due_us is not None and job.due_us <= now_us:
                    nominal_us = job.fire()
                    self._admit(job, nominal_us, nominal_us + job.offset_us, Reason.SCHEDULED, job.input)
        granted: list[tuple[int, LiveRun]] = []
        while True:
            if not self.down:
                queues = {policy.queue for policy in self.policies.values()}
                tasks = {*self._tasks, *(policy.task for policy in self.policies.values())}
                self.owner.fleet.serve(_WORKER, queues, tasks, now_us)
                self.owner.claim(self, _WORKER, 1000, now_us)
                self.owner.advance(now_us)
                self.owner.withdraw_claim(self)
            found = self._commit()
            if not found:
                return granted
            granted += found

    def come_back(self) -> None:
        """Nodes are there again: each job's misfire policy says what becomes of what was missed."""
        self.down = False
        for job in self.jobs.values():
            for nominal_us, missed in job.catch_up(self.clock.now_us()):
                reason = Reason.CAUGHT_UP if missed else Reason.SCHEDULED
                self._admit(job, nominal_us, nominal_us + job.offset_us, reason, job.input)

    def _commit(self) -> list[tuple[int, LiveRun]]:
        """What the owner decided becomes rows; the answer holds what it granted."""
        batch = self.owner.take_outbox()
        for attempt in batch.attempts:
            self.history.setdefault((attempt.job_id, attempt.nominal_us), []).append(attempt)
        for died in batch.dead:
            key = (died.job_id, died.nominal_us)
            self.dead[key] = (died, self.rows[key])
        for key, again in batch.requeues.items():
            self.rows[key] = self.rows[key]._replace(
                attempt=again.attempt, failures=again.failures, due_us=again.due_us, reason=again.reason
            )
            if again.parked:
                self.parked.add(key)
        for _, nominal_us, job_id in batch.ended:
            self.rows.pop((job_id, nominal_us), None)
        for link in batch.fixed_delay_ends:
            self._follow((link.job_id, link.nominal_us), link.ended_us)
        answers = [answer for _, answer in batch.answers if isinstance(answer, Granted)]
        return [(answer.grant_id, live) for answer in answers for live in answer.runs]

    def _follow(self, key: RunKey, ended_us: int) -> None:
        job = self.jobs.get(key[0])
        if job is not None and (next_us := job.next_link(key, ended_us)) is not None:
            self._admit(job, next_us, next_us, Reason.SCHEDULED, job.input)

    def _first(self, job: Planned) -> None:
        """The run that no occurrence makes: a single one, or the first of a fixed delay."""
        now_us = self.clock.now_us()
        if (link_us := job.first_link(now_us)) is not None:
            self._admit(job, link_us, link_us, Reason.SCHEDULED, job.input)
        elif (at_us := once_at_us(job.spec.schedule, now_us)) is not None:
            nominal_us = self.owner.next_nominal_us(now_us) if isinstance(job.spec.schedule, Now) else at_us
            self._admit(job, nominal_us, at_us, Reason.SCHEDULED, job.input)

    def _drop_planned(self, job: Planned, keep: int | None = None) -> None:
        """What the schedule has made ahead of its time is taken back."""
        now_us = self.clock.now_us()
        self.owner.withdraw(job.job_id)
        for key, row in list(self.rows.items()):
            if key[0] != job.job_id or key in self.owner.live or key in self.parked:
                continue
            if row.reason == Reason.SCHEDULED and row.due_us > now_us and key[1] != keep:
                del self.rows[key], self.made[key]
            else:
                self.owner.admit(row, now_us)

    def _check(self, spec: JobSpec) -> None:
        validate(spec.schedule, self.clock.now_us(), spec.jitter_s, f"{TENANT}/{spec.name}")
        check_priority(spec.priority)

    def _enter(self, job: Planned) -> None:
        check_policy(job.policy)
        known = {policy: policy_id for policy_id, policy in self.policies.items()}
        job.policy_id = known.get(job.policy, PolicyId(len(known) + 1))
        self.policies[job.policy_id] = job.policy
        self.jobs[job.job_id] = job

    def _admit(
        self, job: Planned, nominal_us: int, due_us: int, reason: Reason, input: str | None, priority: int | None = None
    ) -> None:
        self._wait(
            RunRow(
                job.job_id,
                nominal_us,
                due_us,
                TenantId(TENANT),
                job.version,
                job.policy_id,
                job.spec.priority if priority is None else priority,
                0,
                0,
                reason,
                input,
            )
        )

    def _wait(self, row: RunRow) -> None:
        self.rows[row.key] = row
        self.made.setdefault(row.key, row.reason)
        job = self.jobs.get(row.job_id)
        if job is not None and not job.active:
            self.parked.add(row.key)
        else:
            self.owner.admit(row, self.clock.now_us())

    def _end_waiting(self, key: RunKey, outcome: Outcome, reason: Reason) -> None:
        row = self.rows.pop(key)
        self.parked.discard(key)
        self.history.setdefault(key, []).append(
            AttemptRow(
                0, row.job_id, row.nominal_us, 0, self.clock.now_us(), row.tenant_id, row.version,
                None, row.due_us, None, None, outcome, reason, True, None, None,
            )
        )  # fmt: skip


def _granted(live: LiveRun) -> bool:
    return live.state is State.GRANTED
