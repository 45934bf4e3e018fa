"""The thinnest thing that is a NodePort: commands as plain statements, with no loops and no grants."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from noonmark.api.ports import NodePort
from noonmark.clock import Clock, SettableClock, from_datetime
from noonmark.errors import Conflict, DuplicateName, JobPaused, NotFound, NotOwner, UnknownWorker, VersionConflict
from noonmark.model.ids import JobId, RunKey, TenantId, WorkerId, parse_job, shard_for, shard_of
from noonmark.model.job import Applied, is_name, label_texts
from noonmark.model.job_row import JobRow
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import AttemptRow, Backfilled
from noonmark.planning.bounds import bounds_from
from noonmark.planning.fixed_delay import with_first_run
from noonmark.planning.runs import make_run
from noonmark.schedule import Timing, recurrence, timing
from noonmark.store import jobs as store
from noonmark.store.commit import insert_runs
from noonmark.store.connect import Connection, Pool
from noonmark.store.intern import intern_policies, intern_schedules
from noonmark.store.reads.runs import RunRecord, fetch_run
from noonmark.store.statement import statement
from noonmark.wire.resources import JobPatch, JobSpec, Submission
from noonmark.wire.worker import (
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
    RunGrant,
    Terms,
)


class PlainNode:
    def __init__(self, address: str, pool: Pool, owners: list[str | None], now_us: int) -> None:
        self.address = address
        self.version = "0.0.0-test"
        self.clock: Clock = SettableClock(now_us)
        self.pool: Any = pool
        self.shard_count = len(owners)
        self.ready = True
        self.private_webhooks = False
        self.owners = owners
        """The address that owns each shard; shared by the nodes of a test."""
        self.fails_with: Exception | None = None
        self.claims_waiting = asyncio.Event()
        self.claim_cancelled = asyncio.Event()
        self.reports: list[Report] = []
        self._last_us = now_us

    async def look_at_subscriptions(self) -> None:
        return None

    def owner_address(self, shard: int) -> str | None:
        return self.owners[shard]

    def owns(self, shard: int) -> bool:
        return shard < len(self.owners) and self.owners[shard] == self.address

    def node_addresses(self) -> list[str]:
        return sorted({address for address in self.owners if address})

    def metrics_text(self) -> bytes:
        return b"noonmark_up 1\n"

    async def tenant_id(self, name: str) -> int:
        found = await self.pool.fetchval("SELECT tenant_id FROM noonmark.tenant WHERE name = $1", name)
        if found is None:
            raise NotFound(f"there is no tenant {name!r}", field="Noonmark-Tenant")
        return int(found)

    async def declare_tasks(self, names: list[str]) -> None:
        await self.pool.execute(statement("declare_tasks"), names)

    # Commands

    async def create_jobs(self, tenant_id: int, specs: list[JobSpec]) -> list[JobId]:
        shards = [shard_for(tenant_id, spec.name, self.shard_count) for spec in specs]
        self._must_own(shards)
        now_us = self.clock.now_us()
        policies = [_policy(spec) for spec in specs]
        timings = [
            timing(spec.schedule, key=f"{tenant_id}/{spec.name}", created_us=now_us, jitter_s=spec.jitter_s)
            for spec in specs
        ]
        policy_ids = await intern_policies(self.pool, set(policies))
        schedule_ids = await intern_schedules(self.pool, {known.text for known in timings if known.text})
        async with self.pool.acquire() as connection, connection.transaction():
            job_ids = await store.next_job_ids(connection, shards)
            heads = [
                self._new_head(
                    JobRow(
                        job_id, TenantId(tenant_id), spec.name, 1, policy_ids[policy],
                        None if known.text is None else schedule_ids[known.text], 0, spec.priority,
                        spec.misfire.catch_up, True, now_us, now_us, _text(spec.input),
                        labels=label_texts(spec.labels),
                    ),
                    known,
                )
                for job_id, spec, policy, known in zip(job_ids, specs, policies, timings, strict=True)
            ]  # fmt: skip
            if taken := await store.insert_jobs(connection, heads, [msgspec.json.encode(s).decode() for s in specs]):
                raise DuplicateName(f"there is a job {taken[0]!r} already", field="name")
        return job_ids

    def _new_head(self, head: JobRow, known: Timing) -> JobRow:
        recurring = None if known.text is None else recurrence(known.text)
        bounds = bounds_from(known, recurring, head.created_us, known.max_runs)
        bounded = head._replace(planned_us=bounds.planned_us, ends_us=bounds.ends_us, runs_left=bounds.runs_left)
        return with_first_run(bounded, known, head.created_us)

    async def update_job(self, tenant_id: int, job_id: JobId, patch: JobPatch, expected_version: int | None) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            head = await self._head(connection, tenant_id, job_id, expected_version)
            spec = msgspec.json.decode(await store.load_spec(connection, head), type=JobSpec)
            changes = {n: v for n in patch.__struct_fields__ if (v := getattr(patch, n)) is not msgspec.UNSET}
            spec = msgspec.structs.replace(spec, **changes)
            head = head._replace(version=head.version + 1, priority=spec.priority)
            await store.update_job(connection, head, msgspec.json.encode(spec).decode(), self.clock.now_us())

    async def delete_job(self, tenant_id: int, job_id: JobId, expected_version: int | None) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            head = await self._head(connection, tenant_id, job_id, expected_version)
            await store.delete_job(connection, head, self.clock.now_us())

    async def pause_job(self, tenant_id: int, job_id: JobId) -> None:
        await self._set_active(tenant_id, job_id, False)

    async def resume_job(self, tenant_id: int, job_id: JobId) -> None:
        await self._set_active(tenant_id, job_id, True)

    async def apply_job(
        self, tenant_id: int, spec: JobSpec, *, expected_version: int | None, create_only: bool
    ) -> Applied:
        [job_id] = await self.create_jobs(tenant_id, [spec])
        return Applied(job_id, "created")

    async def apply_jobs(self, tenant_id: int, specs: list[JobSpec], *, dry_run: bool) -> list[Applied]:
        return [Applied(job_id, "created") for job_id in await self.create_jobs(tenant_id, specs)]

    async def replace_job(self, tenant_id: int, job_id: JobId, spec: JobSpec, expected_version: int | None) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            head = await self._head(connection, tenant_id, job_id, expected_version)
            changed = head._replace(version=head.version + 1, priority=spec.priority)
            await store.update_job(connection, changed, msgspec.json.encode(spec).decode(), self.clock.now_us())

    async def skip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        raise NotImplementedError

    async def unskip(self, tenant_id: int, job_id: JobId, nominal_us: int | None) -> RunKey:
        raise NotImplementedError

    async def backfill(
        self, tenant_id: int, job_id: JobId, from_us: int, to_us: int, limit: int, *, dry_run: bool
    ) -> Backfilled:
        raise NotImplementedError

    async def submit(self, tenant_id: int, submissions: list[Submission]) -> list[RunKey]:
        rows = []
        async with self.pool.acquire() as connection, connection.transaction():
            for submission in submissions:
                head = await self._head_of(connection, tenant_id, submission.job)
                if not head.active:
                    raise JobPaused("paused", field="job", fix="resume it first")
                self._last_us += 1
                at_us = from_datetime(submission.at) if submission.at else self._last_us
                own = head.input if submission.input is msgspec.UNSET else _text(submission.input)
                rows.append(make_run(head, at_us, at_us, Reason.TRIGGERED, own, submission.priority))
            await insert_runs(connection, rows)
        return [row.key for row in rows]

    async def submit_run(self, tenant_id: int, submission: Submission) -> tuple[RunKey, RunRecord]:
        [key] = await self.submit(tenant_id, [submission])
        record = await fetch_run(self.pool, tenant_id, key)
        assert record is not None
        return key, record

    async def cancel_run(self, tenant_id: int, key: RunKey) -> None:
        self._must_own([shard_of(key[0])])
        async with self.pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow(
                "DELETE FROM noonmark.run WHERE shard = $1 AND job_id = $2 AND nominal_at = $3 RETURNING *",
                shard_of(key[0]), *key,
            )  # fmt: skip
            assert row is not None
            ended = AttemptRow(
                row["shard"], row["job_id"], row["nominal_at"], 0, self.clock.now_us(), row["tenant_id"],
                row["version"], None, row["due_at"], None, None, Outcome.CANCELLED, Reason.CANCELLED, True, None, None,
            )  # fmt: skip
            await connection.copy_records_to_table("attempt", schema_name="noonmark", records=[ended])

    async def redrive(self, tenant_id: int, keys: list[RunKey]) -> int:
        self._must_own([shard_of(job_id) for job_id, _ in keys])
        async with self.pool.acquire() as connection:
            return len(await store.redrive_dead(connection, tenant_id, keys, self.clock.now_us()))

    async def cancel_runs(self, tenant_id: int, job_id: JobId) -> tuple[int, int]:
        async with self.pool.acquire() as connection:
            head = await self._head(connection, tenant_id, job_id)
            return len(await store.delete_waiting_runs(connection, head, [])), 0

    async def retry_run(self, tenant_id: int, key: RunKey) -> None:
        self._must_own([shard_of(key[0])])
        async with self.pool.acquire() as connection:
            if await store.hasten_run(connection, tenant_id, key, self.clock.now_us()) is None:
                raise Conflict("the run does not wait for another attempt", field="run_id")

    async def discard(self, tenant_id: int, keys: list[RunKey]) -> int:
        self._must_own([shard_of(job_id) for job_id, _ in keys])
        async with self.pool.acquire() as connection:
            return len(await store.discard_dead(connection, tenant_id, keys))

    # The worker protocol

    async def register(self, message: Register) -> Registered:
        return Registered(message.worker or 7, 2.0, 10.0, self.node_addresses(), self.clock.now_us())

    async def claim(self, message: Claim) -> ClaimAnswer:
        if message.wait_s:
            self.claims_waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.claim_cancelled.set()
                raise
        run = RunGrant(1, 2, 1, 2, 3, '{"a":1}')
        return ClaimAnswer(9, [run] * message.max, {3: Terms("t", 60.0, 5, "default")}, self.clock.now_us())

    async def heartbeat(self, message: Heartbeat) -> HeartbeatAnswer:
        if message.worker != WorkerId(7):
            raise UnknownWorker(f"worker {message.worker} is not known here", fix="register again")
        return HeartbeatAnswer([], [], self.node_addresses(), self.clock.now_us())

    async def report(self, message: Report) -> ReportAnswer:
        self.reports.append(message)
        return ReportAnswer([], [], self.clock.now_us())

    # How it is done

    def _must_own(self, shards: Sequence[int]) -> None:
        if self.fails_with is not None:
            raise self.fails_with
        for shard in shards:
            if not self.owns(shard):
                raise NotOwner(f"shard {shard} is not ours")

    async def _head(self, connection: Connection, tenant_id: int, job_id: JobId, expected: int | None = None) -> JobRow:
        self._must_own([shard_of(job_id)])
        heads = await store.load_job_rows(connection, [job_id])
        if not heads or heads[0].tenant_id != tenant_id:
            raise NotFound("no such job")
        if expected not in (None, heads[0].version):
            raise VersionConflict(f"the job is at version {heads[0].version}", field="If-Match", fix="read it again")
        return heads[0]

    async def _head_of(self, connection: Connection, tenant_id: int, ref: str) -> JobRow:
        if ref.startswith("job_"):
            return await self._head(connection, tenant_id, parse_job(ref))
        if not is_name(ref):
            raise NotFound("there is no such job", field="job")
        shard = shard_for(tenant_id, ref, self.shard_count)
        heads = await store.load_job_rows_by_name(connection, tenant_id, [(shard, ref)])
        if not heads:
            raise NotFound("there is no such job", field="job")
        return await self._head(connection, tenant_id, heads[0].job_id)

    async def _set_active(self, tenant_id: int, job_id: JobId, active: bool) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            head = await self._head(connection, tenant_id, job_id)
            await store.set_job_active(connection, head._replace(active=active), self.clock.now_us())


def _policy(spec: JobSpec) -> Policy:
    return Policy(spec.task, spec.queue, spec.timeout_s, spec.start_deadline_s, spec.retry, spec.delivery)


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode()


def _is_a_node_port(node: PlainNode) -> NodePort:
    """For mypy."""
    return node
