"""From a job's definition to its row."""

from typing import NamedTuple

import msgspec

from noonmark.model.ids import JobId, PolicyId, ScheduleId, TenantId
from noonmark.model.job import label_texts
from noonmark.model.job_row import JobRow
from noonmark.model.policy import Policy
from noonmark.planning.bounds import OccurrenceBounds
from noonmark.schedule import Now, Timing, jitter_offset_us, timing
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

    @property
    def starts_now(self) -> bool:
        return isinstance(self.spec.schedule, Now)

    def job_row(
        self, tenant_id: int, job_id: JobId, version: int, created_us: int, bounds: OccurrenceBounds, *, active: bool
    ) -> JobRow:
        spec = self.spec
        jitter_us = round(spec.jitter_s * 1000) * 1000
        return JobRow(
            job_id=job_id,
            tenant_id=TenantId(tenant_id),
            name=spec.name,
            version=version,
            policy_id=self.policy_id,
            schedule_id=self.schedule_id,
            jitter_ms=jitter_offset_us(job_id, jitter_us) // 1000 if jitter_us else 0,
            priority=spec.priority,
            catch_up=spec.misfire.catch_up,
            active=active,
            created_us=created_us,
            planned_us=bounds.planned_us,
            input=input_text(spec.input),
            ends_us=bounds.ends_us,
            runs_left=bounds.runs_left,
            catch_up_s=spec.misfire.window_s,
            delay_ms=None if self.timing.delay_us is None else -(-self.timing.delay_us // 1000),
            labels=label_texts(spec.labels) or None,
        )


def timing_of(spec: JobSpec, tenant_id: int, created_us: int) -> Timing:
    """Phases count from the creation of the job, so a later change of it does not move them."""
    return timing(spec.schedule, key=f"{tenant_id}/{spec.name}", created_us=created_us, jitter_s=spec.jitter_s)


def policy_of(spec: JobSpec, timed: Timing) -> Policy:
    return spec.policy(fixed_delay=timed.delay_us is not None)


def input_text(raw: msgspec.Raw | None) -> str | None:
    return None if raw is None or (text := bytes(raw)) == b"null" else text.decode()


def spec_text(spec: JobSpec) -> str:
    """As it is stored; no labels are not mentioned, so that nodes that know none can read it."""
    text = msgspec.json.encode(spec).decode()
    return text if spec.labels else text.removesuffix(_NO_LABELS) + "}"


def same_definition(one: JobSpec, other: JobSpec) -> bool:
    """Whether two definitions say the same; inputs may be written differently."""
    if bytes(one.input) != bytes(other.input) and _input_value(one) != _input_value(other):
        return False
    return msgspec.structs.replace(one, input=other.input) == other


def _input_value(spec: JobSpec) -> object:
    return msgspec.json.decode(spec.input)
