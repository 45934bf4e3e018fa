"""Makes declared jobs that are missing, changes those that differ, and leaves the others alone.

All jobs of a chunk are made and changed in one transaction. If another caller changes a job between the look and the
change, the job is looked at again.
"""

from collections.abc import Sequence

import msgspec

from noonmark.errors import Conflict, DuplicateName, VersionConflict
from noonmark.model.ids import JobId, RunKey
from noonmark.model.job_row import JobRow
from noonmark.model.run import RunRow
from noonmark.node.commands.change_jobs import Change, check_unchanged, current_jobs, store_changes
from noonmark.node.commands.chunks import in_chunks
from noonmark.node.commands.create_jobs import NewJobs
from noonmark.node.commands.intern import make_plans
from noonmark.node.commands.job_sets import TRIES
from noonmark.node.commands.once import by_shard, remember
from noonmark.node.commands.turn import admit, readmit, stored_texts, with_jobs_withdrawn
from noonmark.node.life import Life
from noonmark.planning.plan import same_definition
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.wire.commands import AppliedTo, ApplyJobs
from noonmark.wire.resources import JobSpec


class _Standing:
    """A definition, and the job of its name as it stands."""

    def __init__(self, spec: JobSpec, shard: int, job: JobRow | None, text: str | None) -> None:
        self.spec = spec
        self.shard = shard
        self.job = job
        self.text = text
        self.before = None if text is None else msgspec.json.decode(text, type=JobSpec)

    @property
    def outcome(self) -> AppliedTo:
        if self.job is None or self.before is None:
            return AppliedTo(None, "created")
        return AppliedTo(self.job.job_id, "unchanged" if same_definition(self.before, self.spec) else "changed")


async def apply_jobs(life: Life, command: ApplyJobs) -> list[AppliedTo]:
    shards = command.shards(life.shard_count)

    async def apply(positions: list[int]) -> list[AppliedTo]:
        specs = [(shards[position], command.specs[position]) for position in positions]
        for attempt in range(1, TRIES + 1):
            standing = await _stored(life, command.tenant_id, specs)
            _check(command, standing)
            if command.dry_run:
                return [one.outcome for one in standing]
            try:
                return await _apply(life, command, standing)
            except (DuplicateName, VersionConflict):
                if attempt == TRIES:
                    raise
        raise AssertionError("the last try returns or raises")

    return await in_chunks(shards, apply)


async def _apply(life: Life, command: ApplyJobs, standing: Sequence[_Standing]) -> list[AppliedTo]:
    outcomes = [one.outcome for one in standing]
    missing = [place for place, one in enumerate(outcomes) if one.outcome == "created"]
    differing = [standing[place] for place, one in enumerate(outcomes) if one.outcome == "changed"]
    new = await NewJobs.plan(life, command.tenant_id, [standing[place].spec for place in missing])
    changes = await _changes(life, command.tenant_id, differing)
    job_ids = [change.job.job_id for change in changes]
    if not missing and not changes and command.key is None:
        return outcomes

    async def action(connection: Connection, granted: list[RunKey]) -> list[AppliedTo]:
        current = await current_jobs(connection, command.tenant_id, changes)
        check_unchanged(changes, current)
        async with fenced(connection, life.node_id):
            made: list[JobId] = []
            rows: list[RunRow] = []
            if missing:
                made, rows = await new.insert(
                    life, connection, [standing[place].shard for place in missing], command.caller
                )
            if changes:
                await store_changes(life, connection, changes, current, granted, command.caller)
            for place, job_id in zip(missing, made, strict=True):
                outcomes[place] = AppliedTo(job_id, "created")
            await remember(connection, command, by_shard([one.shard for one in standing], outcomes), new.created_us)
        await admit(life, connection, rows)
        await readmit(life, connection, job_ids)
        return outcomes

    return await with_jobs_withdrawn(life, command, job_ids, action, shards={one.shard for one in standing})


async def _changes(life: Life, tenant_id: int, differing: Sequence[_Standing]) -> list[Change]:
    jobs = [one.job for one in differing if one.job is not None]
    plans = await make_plans(life.pool, tenant_id, [one.spec for one in differing], [job.created_us for job in jobs])
    return [
        Change(job, one.text or "", one.before or one.spec, plan)
        for one, job, plan in zip(differing, jobs, plans, strict=True)
    ]


def _check(command: ApplyJobs, standing: Sequence[_Standing]) -> None:
    for one in standing:
        if one.job is not None and command.create_only:
            raise Conflict(
                f"there is a job {one.spec.name!r} already", field="If-None-Match", fix="leave the header out"
            )
        expected = command.expected_version
        if expected is not None and (one.job is None or one.job.version != expected):
            stands = "does not exist" if one.job is None else f"is at version {one.job.version}, not {expected}"
            raise VersionConflict(f"the job {stands}", field="If-Match", fix="read the job again and repeat the change")


async def _stored(life: Life, tenant_id: int, specs: Sequence[tuple[int, JobSpec]]) -> list[_Standing]:
    """Read in the committer's order, so that every acknowledged change is seen."""
    for shard in {shard for shard, _ in specs}:
        life.check(shard)
    jobs, _ = await life.job_cache.load(tenant_id, [], [(shard, spec.name) for shard, spec in specs])
    found = {job.name: job for job in jobs}
    texts = await stored_texts(life, jobs)
    return [
        _Standing(spec, shard, job, None if job is None else texts[job.job_id])
        for shard, spec in specs
        for job in [found.get(spec.name)]
    ]
