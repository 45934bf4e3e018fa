"""Jobs as they are declared: made if they are missing, changed if they differ, else left alone."""

import asyncio
from collections.abc import Sequence

import msgspec

from noonmark.errors import Conflict, DuplicateName, VersionConflict
from noonmark.model.ids import JobId, shard_for
from noonmark.model.job import Applied
from noonmark.model.job_row import JobRow
from noonmark.node.commands.job_commands import change_job, create_jobs
from noonmark.node.life import Life
from noonmark.planning.plan import same_definition
from noonmark.store.jobs import load_specs
from noonmark.wire.resources import JobSpec

_TRIES = 5
_AT_ONCE = 16
"""Changes that are prepared while others are carried out."""


async def apply_job(
    life: Life, tenant_id: int, spec: JobSpec, shard_count: int, *, expected_version: int | None, create_only: bool
) -> Applied:
    """One job. Somebody else's change between the look and the act is looked at anew."""
    for attempt in range(1, _TRIES + 1):
        [(head, current)] = await _stored(life, tenant_id, [spec], shard_count)
        if head is not None and create_only:
            raise Conflict(f"there is a job {spec.name!r} already", field="If-None-Match", fix="leave the header out")
        if expected_version is not None and (head is None or head.version != expected_version):
            standing = "does not exist" if head is None else f"is at version {head.version}, not {expected_version}"
            raise VersionConflict(
                f"the job {standing}", field="If-Match", fix="read the job again and repeat the change"
            )
        if current is not None and head is not None and same_definition(current, spec):
            return Applied(head.job_id, "unchanged")
        try:
            if head is None:
                [job_id] = await create_jobs(life, tenant_id, [spec], shard_count)
                return Applied(job_id, "created")
            await replace_job(life, tenant_id, head.job_id, spec, head.version)
            return Applied(head.job_id, "changed")
        except (DuplicateName, VersionConflict):
            if attempt == _TRIES:
                raise
    raise AssertionError("the last try returns or raises")


async def apply_jobs(
    life: Life, tenant_id: int, specs: Sequence[JobSpec], shard_count: int, *, dry_run: bool
) -> list[Applied]:
    """Many: what is missing is made in one turn, then what differs is changed, each on its own."""
    stored = await _stored(life, tenant_id, specs, shard_count)
    outcomes = [
        Applied(None, "created")
        if head is None or current is None
        else Applied(head.job_id, "unchanged" if same_definition(current, spec) else "changed")
        for spec, (head, current) in zip(specs, stored, strict=True)
    ]
    if dry_run:
        return outcomes
    missing = [position for position, one in enumerate(outcomes) if one.outcome == "created"]
    if missing:
        job_ids = await create_jobs(life, tenant_id, [specs[position] for position in missing], shard_count)
        for position, job_id in zip(missing, job_ids, strict=True):
            outcomes[position] = Applied(job_id, "created")
    some = asyncio.Semaphore(_AT_ONCE)

    async def change(position: int, head: JobRow) -> None:
        spec = specs[position]
        async with some:
            try:
                await replace_job(life, tenant_id, head.job_id, spec, head.version)
            except VersionConflict:
                outcomes[position] = await apply_job(
                    life, tenant_id, spec, shard_count, expected_version=None, create_only=False
                )

    changes = [
        change(position, head)
        for position, (head, _) in enumerate(stored)
        if head is not None and outcomes[position].outcome == "changed"
    ]
    done = await asyncio.gather(*changes, return_exceptions=True)
    for failure in done:
        if failure is not None:
            raise failure
    return outcomes


async def replace_job(life: Life, tenant_id: int, job_id: JobId, spec: JobSpec, expected_version: int | None) -> None:
    """The job gets exactly this definition, as a new version."""
    await change_job(life, tenant_id, job_id, lambda _: spec, expected_version)


async def _stored(
    life: Life, tenant_id: int, specs: Sequence[JobSpec], shard_count: int
) -> list[tuple[JobRow | None, JobSpec | None]]:
    """Read in the committer's order, so that what was acknowledged before is seen."""
    names = [(shard_for(tenant_id, spec.name, shard_count), spec.name) for spec in specs]
    for shard in {shard for shard, _ in names}:
        life.check(shard)
    heads, _ = await life.job_cache.load(tenant_id, [], names)
    found = {head.name: head for head in heads}
    async with life.pool.acquire() as connection:
        texts = await load_specs(connection, heads)  # type: ignore[arg-type]
    known = {name: msgspec.json.decode(texts[head.job_id], type=JobSpec) for name, head in found.items()}
    return [(found.get(spec.name), known.get(spec.name)) for spec in specs]
