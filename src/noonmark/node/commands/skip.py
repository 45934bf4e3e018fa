"""Skips an occurrence: it never fires, also after a change of the job or of the shard's owner.

States of an occurrence that is to be skipped
    to come          its time goes into the job's `skips`, which every tick reads, and into history as withdrawn
    run waits        the run is withdrawn with the reason, and its time goes into `skips` as well
    run has started  refused: it can only be cancelled
    ended            nothing to do if it was skipped before, else refused

- The next fire is the next time that the schedule names, skipped or not: to ask twice changes nothing the second time.
- A fixed delay goes on from the time of the run that was skipped, as if it had run in no time.
- `skips` is tidied when the job gets another one: a tick that has passed a time never asks for it again.
"""

import msgspec

from noonmark.clock import SECOND_US, to_datetime
from noonmark.errors import Conflict, InvalidInput, NotFound
from noonmark.model.audit import entry
from noonmark.model.ids import JobId, RunKey, job_text, run_text
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.ends import record_end
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.once import remember
from noonmark.node.commands.turn import (
    admit,
    current_job,
    fire,
    known_job,
    readmit,
    stored_spec,
    with_jobs_withdrawn,
)
from noonmark.node.life import Life
from noonmark.planning.occurrences import next_occurrences
from noonmark.planning.plan import Plan
from noonmark.planning.runs import make_run, scheduled_run
from noonmark.schedule import once_at_us
from noonmark.schedule import recurrence as read_recurrence
from noonmark.shard.outbox import FixedDelayEnd
from noonmark.store import jobs as store
from noonmark.store import skips
from noonmark.store.audit import record
from noonmark.store.commit import follow_fixed_delays
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.wire.commands import SkipFire, UnskipFire

MAX_SKIPS = 100
_DAY_US = 86_400 * SECOND_US
"""No jitter is longer."""
_FAR_US = 7_258_118_400 * SECOND_US


async def skip_fire(life: Life, command: SkipFire) -> RunKey:
    """Answers the key of the occurrence."""
    tenant_id, job_id = command.tenant_id, command.job_id
    plan = await _plan(life, tenant_id, job_id)

    async def action(connection: Connection, granted: list[RunKey]) -> RunKey:
        job = await current_job(connection, tenant_id, job_id, None)
        now_us = life.clock.now_us()
        meant_us = await _meant(connection, plan, job, command.nominal_us, now_us)
        answer = (job_id, meant_us)
        reason = await skips.fetch_end_of_run(connection, job, meant_us)
        if reason == Reason.SKIPPED:
            await readmit(life, connection, [job_id])
            return answer
        attempts = await skips.fetch_waiting_run(connection, job, meant_us)
        key = run_text((job_id, meant_us))
        if answer in granted or attempts:
            raise Conflict(
                f"the run {key} has started", field="nominal_at", fix=f"cancel it: POST /v1/runs/{key}/cancel"
            )
        if reason is not None:
            raise Conflict(f"the run {key} has ended", field="nominal_at", fix="name an occurrence that is to come")
        followers: list[RunRow] = []
        async with fenced(connection, life.node_id):
            row = None if attempts is None else await store.delete_waiting_run(connection, tenant_id, job_id, meant_us)
            ended = row or make_run(job, meant_us, meant_us + job.jitter_us, Reason.SCHEDULED, None)
            await record_end(connection, [ended], Outcome.WITHDRAWN, Reason.SKIPPED, now_us)
            if job.delay_ms is not None:
                followers = await follow_fixed_delays(connection, [FixedDelayEnd(job.shard, job_id, meant_us, now_us)])
            else:
                await skips.set_job_skips(connection, job, _with(life, job, meant_us))
            after = _audit_details(meant_us)
            audit_entry = entry(command.caller, tenant_id, now_us, "job.skip", job_text(job_id), after=after)
            await record(connection, [audit_entry])
            await remember(connection, command, {job.shard: answer}, now_us)
        await readmit(life, connection, [job_id])
        await admit(life, connection, followers)
        return answer

    return await with_jobs_withdrawn(life, command, [job_id], action)


async def unskip_fire(life: Life, command: UnskipFire) -> RunKey:
    """Takes back a skip whose time is to come: of the named occurrence, or of the first."""
    tenant_id, job_id, nominal_us = command.tenant_id, command.job_id, command.nominal_us
    await known_job(life, tenant_id, job_id)

    async def action(connection: Connection, granted: list[RunKey]) -> RunKey:
        job = await current_job(connection, tenant_id, job_id, None)
        now_us = life.clock.now_us()
        coming = sorted(one for one in job.skips or () if one + job.jitter_us > now_us)
        if nominal_us is not None and nominal_us not in coming:
            raise NotFound(
                f"no skip of {_text(nominal_us)} can be taken back", field="nominal_at", fix="see GET …/fires"
            )
        if not coming:
            raise NotFound("no skipped occurrence of the job is to come", field="job")
        meant_us = coming[0] if nominal_us is None else nominal_us
        answer = (job_id, meant_us)
        due_us = meant_us + job.jitter_us
        missed = job.active and job.planned_us < meant_us and due_us <= life.owner.watermarks[job.shard]
        async with fenced(connection, life.node_id):
            await skips.set_job_skips(connection, job, [one for one in job.skips or () if one != meant_us])
            await skips.delete_skip_record(connection, job, meant_us)
            if missed:
                await fire(life, connection, [scheduled_run(job, meant_us)])
            before = _audit_details(meant_us)
            audit_entry = entry(command.caller, tenant_id, now_us, "job.unskip", job_text(job_id), before=before)
            await record(connection, [audit_entry])
            await remember(connection, command, {job.shard: answer}, now_us)
        await readmit(life, connection, [job_id])
        return answer

    return await with_jobs_withdrawn(life, command, [job_id], action)


async def _plan(life: Life, tenant_id: int, job_id: JobId) -> Plan:
    job = await known_job(life, tenant_id, job_id)
    [plan] = await make_plans(life.pool, tenant_id, [await stored_spec(life, job)], [job.created_us])
    return plan


async def _meant(connection: Connection, plan: Plan, job: JobRow, nominal_us: int | None, now_us: int) -> int:
    """The occurrence to skip: one that the job has, or will have."""
    if nominal_us is not None and await skips.fetch_waiting_run(connection, job, nominal_us) is not None:
        return nominal_us
    if nominal_us is not None and await skips.fetch_end_of_run(connection, job, nominal_us) is not None:
        return nominal_us
    after_us = now_us - job.jitter_us
    if plan.timing.text is not None:
        from_us = after_us if nominal_us is None else max(after_us, nominal_us - 1)
        found = next_occurrences(job, read_recurrence(plan.timing.text), from_us, 1, _FAR_US)
    else:
        once_us = once_at_us(plan.spec.schedule, job.created_us)
        if job.delay_ms is not None and job.current_run_us is not None:
            # The run before this one, if it was skipped and is still to come: to ask twice skips one.
            before_us = job.current_run_us - job.delay_ms * 1000
            skipped = await skips.fetch_end_of_run(connection, job, before_us) == Reason.SKIPPED
            once_us = before_us if skipped and before_us > after_us else job.current_run_us
        found = [once_us] if once_us is not None and once_us > after_us else []
    if not found:
        raise Conflict("the job has no fire to come that could be skipped", field="job")
    if nominal_us not in (None, found[0]):
        raise InvalidInput(
            "nominal_at",
            f"{_text(nominal_us or 0)} is no occurrence to come",
            f"the one that follows it is {_text(found[0])}; see GET /v1/jobs/{{job}}/fires",
        )
    return found[0]


def _with(life: Life, job: JobRow, nominal_us: int) -> list[int]:
    passed_us = min(life.clock.now_us(), life.owner.watermarks[job.shard]) - _DAY_US
    kept = {one for one in job.skips or () if one > passed_us}
    if len(kept) >= MAX_SKIPS and nominal_us not in kept:
        raise Conflict(
            f"{MAX_SKIPS} occurrences of the job are skipped already", field="nominal_at", fix="pause the job instead"
        )
    return sorted(kept | {nominal_us})


def _audit_details(nominal_us: int) -> str:
    return msgspec.json.encode({"nominal_at": to_datetime(nominal_us)}).decode()


def _text(instant_us: int) -> str:
    return to_datetime(instant_us).isoformat()
