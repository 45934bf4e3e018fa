"""What is asked of runs: submit, cancel, redrive."""

from collections.abc import Iterable, Sequence

import msgspec

from noonmark.errors import Conflict, JobPaused, NotFound
from noonmark.model.audit import entry
from noonmark.model.ids import JobId, RunKey, job_text, parse_job, run_text, shard_for, shard_of
from noonmark.model.job import is_name
from noonmark.model.job_row import JobRow
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, RunRow
from noonmark.node.commands.asking import asked_by
from noonmark.node.life import Life
from noonmark.planning.runs import submitted_run
from noonmark.shard.outbox import FixedDelayEnd
from noonmark.store import jobs as store
from noonmark.store.audit import record
from noonmark.store.commit import follow_fixed_delays
from noonmark.store.connect import Connection
from noonmark.store.fence import fenced
from noonmark.store.reads.runs import RunRecord
from noonmark.wire.resources import Submission

_MOST_TOLD = 10
"""So many runs are named in one entry of the audit."""


async def submit(life: Life, tenant_id: int, submissions: list[Submission], shard_count: int) -> list[RunKey]:
    """Many runs in one commit; with heads in memory nothing is read."""
    heads = await resolve(life, tenant_id, submissions, shard_count)
    return [(row.job_id, row.nominal_us) for row in await _make(life, tenant_id, submissions, heads)]


async def submit_run(life: Life, tenant_id: int, submission: Submission, shard_count: int) -> tuple[RunKey, RunRecord]:
    """One run, and how it stood when it was committed, so that nobody has to read it."""
    [head] = await resolve(life, tenant_id, [submission], shard_count)
    [row] = await _make(life, tenant_id, [submission], [head])
    record = RunRecord(
        row.nominal_us, row.due_us, row.version, row.priority, row.attempt, row.reason, None, "waiting", None, None,
        head.name,
    )  # fmt: skip
    return row.key, record


async def _make(life: Life, tenant_id: int, submissions: Sequence[Submission], heads: Sequence[JobRow]) -> list[RunRow]:
    now_us = life.clock.now_us()
    for head in {head.job_id: head for head in heads}.values():
        life.check(head.shard)
        if not head.active:
            raise JobPaused(f"the job {head.name!r} is paused", field="job", fix="resume it first")
    rows: list[RunRow] = []
    for submission, head in zip(submissions, heads, strict=True):
        row = submitted_run(head, life.owner.next_nominal_us(now_us), submission)
        life.owner.create(row, now_us)
        rows.append(row)
    subject, after = audit_details([(row.job_id, row.nominal_us) for row in rows])
    life.owner.outbox.audit.append(entry(asked_by(), tenant_id, now_us, "run.submit", subject, after=after))
    token = life.token()
    life.owner.outbox.answers.append((token, None))
    life.committer.wake()
    await token
    return rows


async def cancel_run(life: Life, tenant_id: int, key: RunKey) -> None:
    """A waiting run ends now; a running one is asked to stop, and that survives a change of owner."""

    caller = asked_by()
    in_memory = False

    def cancel_in_memory() -> None:
        nonlocal in_memory
        live = life.owner.live.get(key)
        if live is not None:
            if live.tenant_id != tenant_id:
                raise NotFound(f"there is no run {run_text(key)}", field="run_id")
            in_memory = True
            now_us = life.clock.now_us()
            life.owner.cancel(key, now_us)
            life.owner.outbox.audit.append(entry(caller, tenant_id, now_us, "run.cancel", run_text(key)))

    def prepare() -> None:
        life.check(shard_of(key[0]))
        cancel_in_memory()

    async def action(connection: Connection) -> None:
        if not in_memory:
            cancel_in_memory()  # the commit before this may have made it, as the next run of a fixed delay
        if in_memory:
            return
        now_us = life.clock.now_us()
        async with fenced(connection, life.node_id):
            row = await store.delete_waiting_run(connection, tenant_id, *key)
            if row is None:
                raise Conflict(f"the run {run_text(key)} has ended or never was", field="run_id")
            await record_end(connection, [row], Outcome.CANCELLED, Reason.CANCELLED, now_us)
            followers = await follow_fixed_delays(
                connection, [FixedDelayEnd(row.shard, row.job_id, row.nominal_us, now_us)]
            )
            await record(connection, [entry(caller, tenant_id, now_us, "run.cancel", run_text(key))])
        await admit(life, connection, followers)

    await life.committer.perform(action, prepare)
    if in_memory:
        await life.committer.flush()


async def redrive(life: Life, tenant_id: int, keys: list[RunKey]) -> int:
    caller = asked_by()

    async def action(connection: Connection) -> int:
        async with fenced(connection, life.node_id):
            due_us = min(life.clock.now_us(), *(life.owner.watermarks[shard_of(job_id)] for job_id, _ in keys))
            rows = await store.redrive_dead(connection, tenant_id, keys, due_us)
            heads = await store.load_job_rows(connection, list({row.job_id for row in rows}))
            paused = await park_paused(life, connection, heads)
            if rows:
                subject, after = audit_details([(row.job_id, row.nominal_us) for row in rows])
                done = entry(caller, tenant_id, life.clock.now_us(), "dead.redrive", subject, after=after)
                await record(connection, [done])
        await admit(life, connection, [row for row in rows if row.job_id not in paused])
        return len(rows)

    def prepare() -> None:
        for job_id, _ in keys:
            life.check(shard_of(job_id))

    return await life.committer.perform(action, prepare)


def audit_details(keys: Sequence[RunKey]) -> tuple[str, str]:
    """Many runs as one entry of the audit: under their job, if they have one in common; how many, and the first."""
    first = keys[0][0]
    subject = job_text(first) if all(job_id == first for job_id, _ in keys) else "runs"
    told = {"count": len(keys), "runs": [run_text(key) for key in keys[:_MOST_TOLD]]}
    return subject, msgspec.json.encode(told).decode()


async def park_paused(life: Life, connection: Connection, heads: Iterable[JobRow]) -> set[JobId]:
    """Runs that a paused job has just got wait for its resume; answers which of the jobs are paused."""
    paused = [head for head in heads if not head.active]
    for head in paused:
        await store.park_runs(connection, head, life.owner.granted_of(head.job_id))
    return {head.job_id for head in paused}


async def admit(life: Life, connection: Connection, rows: list[RunRow]) -> None:
    """Rows that were just committed enter memory, except those whose time is beyond the watermark."""
    await life.know_policies(connection, {row.policy_id for row in rows})
    now_us = life.clock.now_us()
    forgotten = life.owner.outbox.forgotten()
    for row in rows:
        if row.due_us <= life.owner.watermarks[row.shard] and row.key not in forgotten:
            life.owner.admit(row, now_us)


async def record_end(
    connection: Connection, rows: Sequence[RunRow], outcome: Outcome, reason: Reason, now_us: int
) -> None:
    """Runs that end without an attempt, in history as attempt 0."""
    records = [AttemptRow.without_attempt(row, outcome, reason, now_us) for row in rows]
    await connection.copy_records_to_table("attempt", schema_name="noonmark", records=records)


async def resolve(life: Life, tenant_id: int, submissions: list[Submission], shard_count: int) -> list[JobRow]:
    """The jobs that are meant, by id or name; read together where they are not in memory."""

    def known(ref: str) -> JobRow | None:
        return life.job_cache.get(parse_job(ref)) if ref.startswith("job_") else life.job_cache.find(tenant_id, ref)

    found: dict[str, JobRow] = {}
    refs = dict.fromkeys(submission.job for submission in submissions)
    missing = [ref for ref in refs if known(ref) is None]
    if missing:
        job_ids: list[JobId] = [parse_job(ref) for ref in missing if ref.startswith("job_")]
        names = [
            (shard_for(tenant_id, ref, shard_count), ref)
            for ref in missing
            if not ref.startswith("job_") and is_name(ref)
        ]
        for shard in {shard_of(job_id) for job_id in job_ids} | {shard for shard, _ in names}:
            life.check(shard)
        heads, read_at = await life.job_cache.load(tenant_id, job_ids, names)
        if life.job_cache.changes != read_at:
            return await resolve(life, tenant_id, submissions, shard_count)
        for head in heads:
            found[head.name] = head
            found[job_text(head.job_id)] = head
    for ref in refs:
        meant = known(ref) or found.get(ref)
        if meant is None or meant.tenant_id != tenant_id:
            raise NotFound(f"there is no job {ref!r}", field="job", fix="create it first")
        found[ref] = meant
    return [found[submission.job] for submission in submissions]
