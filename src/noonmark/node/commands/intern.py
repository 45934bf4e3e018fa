"""Plans of definitions: policies and schedules, which jobs share, are interned."""

from collections.abc import Sequence

from noonmark.planning.plan import Plan, policy_of, spec_text, timing_of
from noonmark.store.connect import Pool
from noonmark.store.intern import intern_policies, intern_schedules
from noonmark.wire.resources import JobSpec


async def make_plans(pool: Pool, tenant_id: int, specs: Sequence[JobSpec], created_us: Sequence[int]) -> list[Plan]:
    """A text that is interned in vain stays, which does no harm. `created_us` are those of the jobs."""
    timings = [timing_of(spec, tenant_id, since_us) for spec, since_us in zip(specs, created_us, strict=True)]
    carried = [policy_of(spec, one) for spec, one in zip(specs, timings, strict=True)]
    policies = await intern_policies(pool, set(carried))
    schedules = await intern_schedules(pool, {one.text for one in timings if one.text is not None})
    return [
        Plan(spec, spec_text(spec), one, policies[policy], None if one.text is None else schedules[one.text])
        for spec, one, policy in zip(specs, timings, carried, strict=True)
    ]
