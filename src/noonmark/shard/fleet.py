"""Workers as the owner sees them: their queues and tasks, their grants, when they were last heard.

Invariants
- A grant is known as long as some owned shard has a current run under it; then its worker is known as well.
- `remaining` of a grant counts its current runs by shard; the part of a shard is over when its count reaches zero.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from noonmark.clock import NEVER_US
from noonmark.model.ids import TenantId, WorkerId, grant_id_of
from noonmark.model.run import GrantRow
from noonmark.shard.live_run import Grant, Kind, LiveRun, State

_MAX_REVOKED = 10_000


class WorkerState:
    __slots__ = ("grants", "heard_us", "kinds", "seen_us", "tenant_id", "worker_id")

    def __init__(self, worker_id: WorkerId, seen_us: int) -> None:
        self.worker_id = worker_id
        self.seen_us = seen_us
        """From when on its silence counts."""
        self.heard_us = 0
        """When it last said something to this node itself."""
        self.kinds: frozenset[Kind] = frozenset()
        """Every (queue, task) that it serves; none until it has registered with this owner."""
        self.tenant_id: TenantId | None = None
        """The one tenant whose runs it takes; None for those of all."""
        self.grants: dict[int, Grant] = {}

    def hear(self, now_us: int) -> None:
        self.seen_us = self.heard_us = now_us


class WaitingClaim:
    __slots__ = ("most", "token", "worker")

    def __init__(self, token: object, worker: WorkerState, most: int) -> None:
        self.token = token
        self.worker = worker
        self.most = most


class Fleet:
    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._counter = 0
        self._revoked: OrderedDict[int, None] = OrderedDict()
        self.workers: dict[WorkerId, WorkerState] = {}
        self.grants: dict[int, Grant] = {}

    def serve(
        self,
        worker_id: WorkerId,
        queues: Iterable[str],
        tasks: Iterable[str],
        now_us: int,
        tenant_id: TenantId | None = None,
    ) -> None:
        worker = self._worker(worker_id, now_us)
        worker.hear(now_us)
        worker.tenant_id = tenant_id
        tasks = list(tasks)
        worker.kinds = frozenset((queue, task) for queue in queues for task in tasks)

    def knows(self, worker_id: WorkerId, tenant_id: TenantId | None = None) -> bool:
        """Whether the worker has registered with this owner, for this tenant."""
        worker = self.workers.get(worker_id)
        return worker is not None and bool(worker.kinds) and worker.tenant_id == tenant_id

    def new_grant(self, worker: WorkerState, now_us: int) -> Grant:
        self._counter += 1
        grant = Grant(grant_id_of(self._node_id, self._counter), worker.worker_id, now_us, NEVER_US)
        self.grants[grant.grant_id] = worker.grants[grant.grant_id] = grant
        return grant

    def delivered(self, grant_id: int, now_us: int) -> None:
        """The answer leaves now: from here on its worker should name the grant."""
        grant = self.grants.get(grant_id)
        if grant is not None:
            grant.known_us = now_us

    def heard(self, worker_id: WorkerId, now_us: int) -> None:
        worker = self.workers.get(worker_id)
        if worker is not None:
            worker.hear(now_us)

    def heard_since(self, since_us: int) -> list[tuple[WorkerId, int]]:
        """The workers that have spoken to this node since then, each with when it last did."""
        return [
            (worker_id, worker.heard_us) for worker_id, worker in self.workers.items() if worker.heard_us > since_us
        ]

    def take_over(self, row: GrantRow, now_us: int, heard_us: int) -> Grant:
        """A grant that an earlier owner made; several shards may each bring their part of it.

        Its worker was last heard by any node at `heard_us`: its time to be silent goes on from there.
        """
        grant = self.grants.get(row.grant_id)
        if grant is None:
            grant = self.grants[row.grant_id] = Grant(row.grant_id, row.worker_id, row.granted_us, now_us)
        worker = self._worker(row.worker_id, heard_us)
        worker.seen_us = max(worker.seen_us, heard_us)
        worker.grants[row.grant_id] = grant
        return grant

    def attach(self, live: LiveRun, grant: Grant) -> None:
        live.state = State.GRANTED
        live.grant = grant
        grant.runs.append(live)
        grant.remaining[live.shard] = grant.remaining.get(live.shard, 0) + 1

    def detach(self, live: LiveRun, grant: Grant) -> bool:
        """True if that was the last current run of its shard under the grant."""
        live.grant = None
        remaining = grant.remaining[live.shard] - 1
        if remaining:
            grant.remaining[live.shard] = remaining
            return False
        self.drop_part(grant, live.shard)
        return True

    def drop_part(self, grant: Grant, shard: int) -> None:
        grant.remaining.pop(shard, None)
        if not grant.remaining:
            self.grants.pop(grant.grant_id, None)
            worker = self.workers.get(grant.worker_id)
            if worker is not None:
                worker.grants.pop(grant.grant_id, None)

    def revoke(self, grant: Grant) -> None:
        """Kept for a while, for the answer to its worker."""
        self._revoked[grant.grant_id] = None
        if len(self._revoked) > _MAX_REVOKED:
            self._revoked.popitem(last=False)

    def revoked(self, grant_ids: Iterable[int]) -> list[int]:
        return [grant_id for grant_id in grant_ids if grant_id in self._revoked]

    def silent(self, now_us: int, silence_us: int) -> Iterator[WorkerState]:
        return (worker for worker in list(self.workers.values()) if now_us - worker.seen_us > silence_us)

    def _worker(self, worker_id: WorkerId, seen_us: int) -> WorkerState:
        worker = self.workers.get(worker_id)
        if worker is None:
            worker = self.workers[worker_id] = WorkerState(worker_id, seen_us)
        return worker
