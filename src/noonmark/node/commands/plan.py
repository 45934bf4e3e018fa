"""From a job's definition to what its owner stores and plans."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from noonmark.model.ids import JobId, PolicyId, ScheduleId, TenantId
from noonmark.model.job import label_texts
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.node.commands.span import Span
from noonmark.schedule import Now, Recurrence, Timing, jitter_offset_us, once_at_us, timing
from noonmark.schedule.misfire import MAX_ON_TIME
from noonmark.shard.owner import Owner
from noonmark.store.connect import Pool
from noonmark.store.intern import intern_policies, intern_schedules
from noonmark.store.jobs import JobRow
from noonmark.wire.resources import JobSpec

_NO_LABELS = ',"labels":{}}'


class Plan(NamedTuple):
    """A definition with its interned parts."""

    spec: JobSpec
    text: str
    timing: Timing
    policy_id: PolicyId
    schedule_id: ScheduleId | None
    """None for a schedule that does not recur by the clock."""

    def head(self, tenant_id: int, job_id: JobId, version: int, created_us: int, span: Span, *, active: bool) -> JobRow:
        jitter_us = round(self.spec.jitter_s * 1000) * 1000
        return JobRow(
            job_id,
            TenantId(tenant_id),
            self.spec.name,
            version,
            self.policy_id,
            self.schedule_id,
            jitter_offset_us(job_id, jitter_us) // 1000 if jitter_us else 0,
            self.spec.priority,
            self.spec.misfire.catch_up,
            active,
            created_us,
            span.planned_us,
            input_text(self.spec.input),
            span.ends_us,
            span.runs_left,
            self.spec.misfire.window_s,
            None if self.timing.delay_us is None else -(-self.timing.delay_us // 1000),
            labels=label_texts(self.spec.labels) or None,
        )


def input_text(raw: msgspec.Raw | None) -> str | None:
    return None if raw is None or (text := bytes(raw)) == b"null" else text.decode()


def spec_text(spec: JobSpec) -> str:
    """As it is stored; no labels are not mentioned, so that nodes that know none can read it."""
    text = msgspec.json.encode(spec).decode()
    return text if spec.labels else text.removesuffix(_NO_LABELS) + "}"


async def make_plans(pool: Pool, tenant_id: int, specs: Sequence[JobSpec], created_us: Sequence[int]) -> list[Plan]:
    """Interns what the definitions share. What is interned in vain stays, and harms nobody.

    Phases count from the creation of each job, so a later change of it does not move them.
    """
    timings = [
        timing(spec.schedule, key=f"{tenant_id}/{spec.name}", created_us=since_us, jitter_s=spec.jitter_s)
        for spec, since_us in zip(specs, created_us, strict=True)
    ]
    carried = [spec.policy(chained=one.delay_us is not None) for spec, one in zip(specs, timings, strict=True)]
    policies = await intern_policies(pool, set(carried))
    schedules = await intern_schedules(pool, {one.text for one in timings if one.text is not None})
    return [
        Plan(
            spec,
            spec_text(spec),
            one,
            policies[policy],
            None if one.text is None else schedules[one.text],
        )
        for spec, one, policy in zip(specs, timings, carried, strict=True)
    ]


def first_runs(
    owner: Owner, plan: Plan, head: JobRow, recurrence: Recurrence | None, now_us: int, *, anew: bool
) -> list[RunRow]:
    """The runs that no tick will make: a single one, or occurrences that the watermark has already passed.

    `anew` says that the job has just got this schedule: otherwise a single run is made only if its time is to come.
    """
    watermark_us = owner.watermarks[head.shard]
    if recurrence is not None:
        offset_us = head.jitter_ms * 1000
        last_us = watermark_us - offset_us
        if head.ends_us is not None:
            last_us = min(last_us, head.ends_us)
        return [
            run_row(head, nominal_us, nominal_us + offset_us, Reason.SCHEDULED, head.input)
            for nominal_us in recurrence.between(head.planned_us, last_us, MAX_ON_TIME)
            if nominal_us not in (head.skips or ())
        ]
    at_us = once_at_us(plan.spec.schedule, now_us)
    if at_us is None or not (anew or at_us > now_us):
        return []
    nominal_us = owner.next_nominal_us(now_us) if isinstance(plan.spec.schedule, Now) else at_us
    row = run_row(head, nominal_us, nominal_us, Reason.SCHEDULED, head.input)
    return [row._replace(sleeps=nominal_us > watermark_us)]


def run_row(
    head: JobRow, nominal_us: int, due_us: int, reason: Reason, input: str | None, priority: int | None = None
) -> RunRow:
    return RunRow(
        head.job_id,
        nominal_us,
        due_us,
        head.tenant_id,
        head.version,
        head.policy_id,
        head.priority if priority is None else priority,
        0,
        0,
        reason,
        input,
    )
