"""Workers as the owner sees them: what they serve, what they hold, when they were last heard, who waits for work."""

from collections.abc import Iterable

from noonmark.model.ids import WorkerId
from noonmark.shard.live import Grant
from noonmark.shard.ready import Kind


class WorkerState:
    __slots__ = ("grants", "kinds", "queues", "seen_us", "tasks", "worker_id")

    def __init__(self, worker_id: WorkerId, seen_us: int) -> None:
        self.worker_id = worker_id
        self.seen_us = seen_us
        self.queues: frozenset[str] = frozenset()
        self.tasks: frozenset[str] = frozenset()
        self.kinds = Kinds(self.queues, self.tasks)
        self.grants: dict[int, Grant] = {}

    def serve(self, queues: Iterable[str], tasks: Iterable[str]) -> None:
        self.queues, self.tasks = frozenset(queues), frozenset(tasks)
        self.kinds = Kinds(self.queues, self.tasks)


class Kinds(frozenset[Kind]):
    """Every (queue, task) of the given queues and tasks."""

    def __new__(cls, queues: Iterable[str], tasks: Iterable[str]) -> "Kinds":
        return super().__new__(cls, ((queue, task) for queue in queues for task in tasks))


class WaitingClaim:
    __slots__ = ("most", "token", "worker")

    def __init__(self, token: object, worker: WorkerState, most: int) -> None:
        self.token = token
        self.worker = worker
        self.most = most
