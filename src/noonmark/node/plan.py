"""From a job's definition to what its owner stores and plans."""

from typing import NamedTuple

import msgspec

from noonmark.clock import SECOND_US
from noonmark.model.ids import JobId, PolicyId, ScheduleId, TenantId
from noonmark.model.policy import Policy
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.schedule import Now, Recurrence, intern, jitter_offset_us, once_at_us, slices
from noonmark.shard.owner import Owner
from noonmark.store.connect import Pool
from noonmark.store.intern import intern_policies, intern_schedules
from noonmark.store.jobs import JobHead
from noonmark.wire.resources import JobPatch, JobSpec


class Plan(NamedTuple):
    """A definition with its interned parts; `schedule_text` is None for one that does not recur."""

    spec: JobSpec
    text: str
    policy: Policy
    policy_id: PolicyId
    schedule_text: str | None
    schedule_id: ScheduleId | None

    def head(self, tenant_id: int, job_id: JobId, version: int, created_us: int, *, active: bool) -> JobHead:
        jitter_us = round(self.spec.jitter_s * 1000) * 1000
        return JobHead(
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
            input_text(self.spec.input),
        )


def input_text(raw: msgspec.Raw | None) -> str | None:
    return None if raw is None or (text := bytes(raw)) == b"null" else text.decode()


def policy_of(spec: JobSpec) -> Policy:
    return Policy(
        task=spec.task,
        queue=spec.queue,
        timeout_s=spec.timeout_s,
        start_deadline_s=spec.start_deadline_s,
        retry=spec.retry,
        delivery=spec.delivery,
    )


async def make_plans(pool: Pool, specs: list[JobSpec], created_us: int) -> list[Plan]:
    """Interns what the definitions share. What is interned in vain stays, and harms nobody."""
    policies = await intern_policies(pool, {policy_of(spec) for spec in specs})
    texts = [intern(spec.schedule, created_us, spec.jitter_s) for spec in specs]
    schedules = await intern_schedules(pool, {text for text in texts if text is not None})
    return [
        Plan(
            spec,
            msgspec.json.encode(spec).decode(),
            policy := policy_of(spec),
            policies[policy],
            text,
            None if text is None else schedules[text],
        )
        for spec, text in zip(specs, texts, strict=True)
    ]


def patched(spec: JobSpec, patch: JobPatch) -> JobSpec:
    changes = {name: value for name in patch.__struct_fields__ if (value := getattr(patch, name)) is not msgspec.UNSET}
    return msgspec.structs.replace(spec, **changes)


def first_runs(
    owner: Owner, plan: Plan, head: JobHead, recurrence: Recurrence | None, now_us: int, *, anew: bool
) -> list[RunRow]:
    """The runs that no tick will make: a single one, or occurrences that the watermark has already passed.

    `anew` says that the job has just got this schedule: otherwise a single run is made only if its time is to come.
    """
    watermark_us = owner.watermarks[head.shard]
    if recurrence is not None:
        offset_us = head.jitter_ms * 1000
        return [
            run_row(head, piece.nominal_us, piece.nominal_us + offset_us, Reason.SCHEDULED, head.input)
            for piece in slices(recurrence, now_us, watermark_us, now_us, SECOND_US, 0)
            if piece.nominal_us > now_us and piece.offset_from_us < offset_us <= piece.offset_to_us
        ]
    at_us = once_at_us(plan.spec.schedule, now_us)
    if at_us is None or not (anew or at_us > now_us):
        return []
    nominal_us = owner.next_nominal_us(now_us) if isinstance(plan.spec.schedule, Now) else at_us
    row = run_row(head, nominal_us, nominal_us, Reason.SCHEDULED, head.input)
    return [row._replace(sleeps=nominal_us > watermark_us)]


def run_row(
    head: JobHead, nominal_us: int, due_us: int, reason: Reason, input: str | None, priority: int | None = None
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
