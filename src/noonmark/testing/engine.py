"""The rows of a node in memory, with the nodes' own rules and owner deciding over them.

Everything is of one shard, whose watermark is the end of time: no run ever sleeps in its row. A run is a row from the
moment it is due until it ends; the owner's outbox holds every change of it.
"""

from collections.abc import Callable, Iterable

from noonmark.clock import NEVER_US, SettableClock
from noonmark.errors import Conflict, DuplicateName, JobPaused, NotFound, VersionConflict
from noonmark.model.ids import (
    JobId,
    PolicyId,
    RunKey,
    ScheduleId,
    TenantId,
    WorkerId,
    is_scheduled,
    job_id_of,
    parse_job,
    run_text,
)
from noonmark.model.job import check_name, check_policy, check_priority
from noonmark.model.job_row import JobRow
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, DeadRow, RunRow
from noonmark.planning import fixed_delay
from noonmark.planning.bounds import bounds_from
from noonmark.planning.changes import change, create, pause, resume
from noonmark.planning.occurrences import Moment, owed_runs
from noonmark.planning.plan import Plan, policy_of, spec_text, timing_of
from noonmark.planning.runs import submitted_run
from noonmark.schedule import Now, Recurrence, validate
from noonmark.shard.answers import Granted
from noonmark.shard.limits import Limits
from noonmark.shard.live_run import LiveRun, State
from noonmark.shard.outbox import FixedDelayEnd
from noonmark.shard.owner import Owner
from noonmark.testing.planned import TENANT, Planned, recurrence_of
from noonmark.wire.resources import JobPatch, JobSpec, Submission
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
        self._watermark_us = clock.now_us()
        """All runs that were due up to then are made."""
        self._schedules: dict[str, int] = {}
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
        plan = self._plan(spec, now_us)
        recurring = recurrence_of(plan)
        job_id = job_id_of(len(self.names) + 1, 0)
        bounds = bounds_from(plan.timing, recurring, now_us, plan.timing.max_runs)
        row, rows = create(plan, TENANT, job_id, now_us, bounds, recurring, self._moment(plan))
        job = self.jobs[job_id] = Planned(plan, row, recurring)
        self.names[job_id] = spec.name
        self._fire(rows)
        job.look_ahead(self._watermark_us)
        return job

    def change(self, ref: str, patch: JobPatch, version: int | None = None) -> Planned:
        job = self.find(ref)
        before = job.row
        if version is not None and version != before.version:
            raise VersionConflict(f"the job is at version {before.version}", field="version", fix="read it again")
        spec = patch.applied_to(job.spec)
        self._check(spec, job.spec)
        anew = spec.schedule != job.spec.schedule
        if not before.active and anew and isinstance(spec.schedule, Now):
            raise JobPaused("a paused job cannot be told to run now", field="schedule", fix="resume it first")
        now_us = self.clock.now_us()
        plan = self._plan(spec, before.created_us)
        recurring = recurrence_of(plan)
        self._make_due()
        at = self._moment(plan)
        owed = owed_runs(before, job.recurrence, at)
        row, rows = change(plan, before, job.recurrence, recurring, at, anew=anew)
        self._withdraw(row.job_id)
        current_us = before.current_run_us
        key = (row.job_id, current_us or 0)
        row, current = fixed_delay.changed(
            row, current_us, plan.timing, now_us, NEVER_US,
            anew=anew, is_there=key in self.rows, has_ended=self._has_ended(key),
        )  # fmt: skip
        self._become(job, plan, row, recurring)
        self._fire([*self._without_ended([*owed, *rows]), *self._not_ended(job, current)])
        self._readmit(row.job_id)
        return job

    def pause(self, ref: str) -> Planned:
        job = self.find(ref)
        self._make_due()
        before = job.row
        self._fire(owed_runs(before, job.recurrence, self._moment(job.plan)))
        row = pause(before, job.recurrence, self.clock.now_us())
        self._withdraw(job.job_id, before.current_run_us)
        self._become(job, job.plan, row, job.recurrence)
        self.owner.paused.add(job.job_id)
        self.parked |= {key for key in self.rows if key[0] == job.job_id and key not in self.owner.live}
        return job

    def resume(self, ref: str) -> Planned:
        job = self.find(ref)
        if job.row.active:
            return job
        now_us = self.clock.now_us()
        row, rows = resume(job.plan, job.row, job.recurrence, self._moment(job.plan))
        is_there = (row.job_id, row.current_run_us) in self.rows
        row, current = fixed_delay.resumed(row, job.plan.timing, now_us, NEVER_US, is_there=is_there)
        self._become(job, job.plan, row, job.recurrence)
        self.owner.paused.discard(job.job_id)
        self.parked = {key for key in self.parked if key[0] != job.job_id}
        self._fire([*self._without_ended(rows), *self._not_ended(job, current)])
        self._readmit(job.job_id)
        return job

    def delete(self, ref: str) -> list[RunKey]:
        """The runs that are to be stopped."""
        job = self.find(ref)
        running = [key for key, live in self.owner.live.items() if key[0] == job.job_id and _granted(live)]
        for key in running:
            self.owner.cancel(key, self.clock.now_us())
        self.owner.withdraw({job.job_id})
        del self.jobs[job.job_id]
        for key in [key for key in self.rows if key[0] == job.job_id and key not in running]:
            self._end_waiting(key, Outcome.WITHDRAWN, Reason.JOB_DELETED)
        return running

    # runs

    def submit(self, asked: Submission) -> RunKey:
        job = self.find(asked.job)
        if not job.row.active:
            raise JobPaused(f"the job {job.row.name!r} is paused", field="job", fix="resume it first")
        row = submitted_run(job.row, self.owner.next_nominal_us(self.clock.now_us()), asked)
        self._fire([row])
        return row.key

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
    def has_more_to_do(self) -> bool:
        """Something more is to be done at this moment."""
        return bool(self.owner.outbox) or (not self.down and any(True for _ in self.owner.heads()))

    def tick(self) -> list[tuple[int, LiveRun]]:
        """Fires all due jobs; answers the runs to start, with their grants."""
        now_us = self.clock.now_us()
        if not self.down:
            self._make_due()
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

    def _commit(self) -> list[tuple[int, LiveRun]]:
        """Turns the owner's decisions into rows; answers the runs that it granted."""
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
        for end in batch.fixed_delay_ends:
            self._follow(end)
        answers = [answer for _, answer in batch.answers if isinstance(answer, Granted)]
        return [(answer.grant_id, live) for answer in answers for live in answer.runs]

    def _make_due(self) -> None:
        """The runs that a tick makes. A change of a job comes after it: runs that were due before are made first."""
        now_us = self.clock.now_us()
        for job in self.jobs.values():
            if job.due_us is not None and job.due_us <= now_us:
                self._fire(job.fire(self._watermark_us, now_us))
                job.look_ahead(now_us)
        self._watermark_us = now_us

    def _follow(self, end: FixedDelayEnd) -> None:
        """If the current run of a fixed delay has ended, the next one takes its place."""
        job = self.jobs.get(end.job_id)
        moved = None if job is None else fixed_delay.with_next_run(job.row, end.nominal_us, end.ended_us)
        if job is not None and moved is not None:
            job.row = moved
            self._fire(fixed_delay.current_run(moved, NEVER_US))

    def _become(self, job: Planned, plan: Plan, row: JobRow, recurring: Recurrence | None) -> None:
        job.plan, job.row, job.recurrence, job.updated_us = plan, row, recurring, self.clock.now_us()
        job.look_ahead(self._watermark_us)

    def _not_ended(self, job: Planned, rows: list[RunRow]) -> list[RunRow]:
        """A run of a fixed delay may have the time of one that was cancelled ahead of it."""
        while rows and not self._without_ended(rows):
            job.row, rows = fixed_delay.a_millisecond_later(job.row, NEVER_US)
        return rows

    def _without_ended(self, rows: list[RunRow]) -> list[RunRow]:
        return [row for row in rows if not self._has_ended(row.key)]

    def _has_ended(self, key: RunKey) -> bool:
        return any(attempt.final for attempt in self.history.get(key, ()))

    def _withdraw(self, job_id: JobId, kept_us: int | None = None) -> None:
        """The job's waiting runs leave memory; runs that were made ahead of their time are deleted."""
        self.owner.withdraw({job_id})
        for key, row in list(self.rows.items()):
            planned = key[0] == job_id and key[1] > self.clock.now_us() and row.reason == Reason.SCHEDULED
            if planned and key not in self.owner.live and key[1] != kept_us:
                self.parked.discard(key)
                del self.rows[key], self.made[key]

    def _readmit(self, job_id: JobId) -> None:
        for key, row in self.rows.items():
            if key[0] == job_id and key not in self.parked:
                self.owner.admit(row, self.clock.now_us())

    def _moment(self, plan: Plan) -> Moment:
        now_us = self.clock.now_us()
        return Moment(now_us, self._watermark_us, self.owner.next_nominal_us(now_us) if plan.starts_now else now_us)

    def _check(self, spec: JobSpec, before: JobSpec | None = None) -> None:
        # A time that has passed since the job was made is no fault of a change.
        if before is None or (spec.schedule, spec.jitter_s) != (before.schedule, before.jitter_s):
            validate(spec.schedule, self.clock.now_us(), spec.jitter_s, f"{TENANT}/{spec.name}")
        check_priority(spec.priority)

    def _plan(self, spec: JobSpec, created_us: int) -> Plan:
        timed = timing_of(spec, TENANT, created_us)
        policy = policy_of(spec, timed)
        check_policy(policy)
        known = {one: policy_id for policy_id, one in self.policies.items()}
        policy_id = known.get(policy, PolicyId(len(known) + 1))
        self.policies[policy_id] = policy
        schedule_id = None if timed.text is None else self._schedules.setdefault(timed.text, len(self._schedules) + 1)
        return Plan(spec, spec_text(spec), timed, policy_id, None if schedule_id is None else ScheduleId(schedule_id))

    def _fire(self, rows: Iterable[RunRow]) -> None:
        """A run submitted now is due now: this clock stands still, and each run needs a nominal time of its own."""
        now_us = self.clock.now_us()
        for row in rows:
            at_once = row.due_us == row.nominal_us and not is_scheduled(row.nominal_us)
            self._wait(row._replace(due_us=now_us) if at_once else row)

    def _wait(self, row: RunRow) -> None:
        self.rows[row.key] = row
        self.made.setdefault(row.key, row.reason)
        job = self.jobs.get(row.job_id)
        if job is not None and not job.row.active:
            self.parked.add(row.key)
        else:
            self.owner.admit(row, self.clock.now_us())

    def _end_waiting(self, key: RunKey, outcome: Outcome, reason: Reason) -> None:
        row = self.rows.pop(key)
        self.parked.discard(key)
        end = AttemptRow.without_attempt(row, outcome, reason, self.clock.now_us())
        self.history.setdefault(key, []).append(end)
        self._follow(FixedDelayEnd(0, row.job_id, row.nominal_us, end.finished_us))


def _granted(live: LiveRun) -> bool:
    return live.state is State.GRANTED
