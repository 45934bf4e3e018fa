"""The ready queue: which run goes to a worker next.

Tenants take turns by weight (deficit round robin: a turn is worth QUANTUM runs times the tenant's weight). Within a
tenant the lane with the highest priority goes first, where waiting raises priority by one every AGEING_US, so a low
priority always gets its turn. Within a lane the earliest due time goes first.

Invariants
- A run is offered to a worker only if the worker serves its kind (queue and task), and its tenant if it serves but one.
- Runs that a tenant's own workers take do not count as its turns at the common workers.
- Of two tenants that always have runs for a worker, with weights a and b, neither gets ahead of a : b by more than one
  turn.
- A run is discarded lazily: its state says so, and the queue drops it when it meets it.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Set
from heapq import heappop, heappush

from noonmark.model.ids import TenantId
from noonmark.shard.live_run import Kind, LiveRun, State

QUANTUM = 16
AGEING_US = 30_000_000


class _Lane:
    """Runs of one tenant, kind and priority by due time. Most arrive in order, so a deque serves; the others a heap."""

    __slots__ = ("_late", "_queue", "priority")

    def __init__(self, priority: int) -> None:
        self.priority = priority
        self._queue: deque[LiveRun] = deque()
        self._late: list[tuple[int, int, int, LiveRun]] = []

    def push(self, live: LiveRun) -> None:
        if not self._queue or self._queue[-1].due_us <= live.due_us:
            self._queue.append(live)
        else:
            heappush(self._late, (live.due_us, live.nominal_us, live.job_id, live))

    def head(self) -> LiveRun | None:
        queue, late = self._queue, self._late
        while queue and queue[0].state is not State.READY:
            queue.popleft()
        while late and late[0][3].state is not State.READY:
            heappop(late)
        if late and (not queue or late[0][0] < queue[0].due_us):
            return late[0][3]
        return queue[0] if queue else None

    def pop(self, most: int, into: list[LiveRun]) -> int:
        """Moves up to `most` runs to `into`; they leave the state READY."""
        taken = 0
        queue = self._queue
        while taken < most:
            if self._late:
                live = self.head()
                if live is None:
                    break
                if queue and live is queue[0]:
                    queue.popleft()
                else:
                    heappop(self._late)
            else:
                if not queue:
                    break
                live = queue.popleft()
                if live.state is not State.READY:
                    continue
            live.state = State.HELD
            into.append(live)
            taken += 1
        return taken


class _Tenant:
    __slots__ = ("credit", "lanes", "tenant_id")

    def __init__(self, tenant_id: TenantId) -> None:
        self.tenant_id = tenant_id
        self.credit = 0
        self.lanes: dict[tuple[Kind, int], _Lane] = {}

    def best(self, kinds: Set[Kind], now_us: int) -> tuple[tuple[Kind, int], _Lane] | None:
        best = None
        best_rank = (0.0, 0)
        for key, lane in list(self.lanes.items()):
            if key[0] not in kinds:
                continue
            head = lane.head()
            if head is None:
                del self.lanes[key]
                continue
            rank = (lane.priority + max(0, now_us - head.due_us) / AGEING_US, -head.due_us)
            if best is None or rank > best_rank:
                best, best_rank = (key, lane), rank
        return best


class ReadyQueue:
    def __init__(self, weights: Mapping[TenantId, int]) -> None:
        self._weights = weights
        self._tenants: dict[TenantId, _Tenant] = {}
        self._turns: deque[_Tenant] = deque()
        self.size = 0

    def push(self, live: LiveRun) -> None:
        live.state = State.READY
        self.size += 1
        tenant = self._tenants.get(live.tenant_id)
        if tenant is None:
            tenant = self._tenants[live.tenant_id] = _Tenant(live.tenant_id)
            self._turns.append(tenant)
        key = live.lane[1:]
        lane = tenant.lanes.get(key)
        if lane is None:
            lane = tenant.lanes[key] = _Lane(live.priority)
        lane.push(live)

    def discard(self, live: LiveRun) -> None:
        """The run is no longer offered."""
        live.state = State.GONE
        self.size -= 1

    def heads(self) -> Iterator[tuple[TenantId, Kind, int]]:
        """(tenant, kind, due time) of the first run of every lane."""
        for tenant in self._turns:
            for (kind, _), lane in tenant.lanes.items():
                head = lane.head()
                if head is not None:
                    yield tenant.tenant_id, kind, head.due_us

    def take(self, kinds: Set[Kind], most: int, now_us: int, tenant_id: TenantId | None = None) -> list[LiveRun]:
        """Up to `most` runs of these kinds in the order of the rules above; they are out of the queue."""
        taken: list[LiveRun] = []
        if tenant_id is None:
            self._take_turns(kinds, most, now_us, taken)
        elif (own := self._tenants.get(tenant_id)) is not None:
            while len(taken) < most and (best := own.best(kinds, now_us)) is not None:
                best[1].pop(min(QUANTUM, most - len(taken)), taken)
        self.size -= len(taken)
        return taken

    def _take_turns(self, kinds: Set[Kind], most: int, now_us: int, taken: list[LiveRun]) -> None:
        turns = self._turns
        passed = 0
        while len(taken) < most and passed < len(turns):
            tenant = turns[0]
            best = tenant.best(kinds, now_us)
            if best is None:
                turns.rotate(-1)
                passed += 1
                if not tenant.lanes:
                    turns.pop()
                    del self._tenants[tenant.tenant_id]
                    passed -= 1
                continue
            passed = 0
            if tenant.credit <= 0:
                tenant.credit += QUANTUM * self._weights.get(tenant.tenant_id, 1)
            tenant.credit -= best[1].pop(min(QUANTUM, most - len(taken), tenant.credit), taken)
            if tenant.credit <= 0:
                turns.rotate(-1)
