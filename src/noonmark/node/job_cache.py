"""Jobs that were lately asked for runs, kept in memory.

The owner is the only writer of its jobs, and jobs are read and evicted in the committer's order, so a job here is
never older than in the database. A large input is not kept.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable

from noonmark.model.ids import JobId, PolicyId
from noonmark.model.job_row import JobRow
from noonmark.node.committer import Committer
from noonmark.store.connect import Connection
from noonmark.store.jobs import load_job_rows, load_job_rows_by_name

_MAX_JOBS = 20_000
_MAX_INPUT = 2_048


class JobCache:
    def __init__(self, committer: Committer, know: Callable[[Connection, set[PolicyId]], Awaitable[None]]) -> None:
        self._committer = committer
        self._know = know
        self._by_id: OrderedDict[JobId, JobRow] = OrderedDict()
        self._by_name: dict[tuple[int, str], JobId] = {}
        self.changes = 0
        """Goes up with every change of a job: a caller that waited meanwhile must ask again."""

    def get(self, job_id: JobId) -> JobRow | None:
        return self._by_id.get(job_id)

    def find(self, tenant_id: int, name: str) -> JobRow | None:
        job_id = self._by_name.get((tenant_id, name))
        return None if job_id is None else self._by_id.get(job_id)

    def evict(self, job_ids: Iterable[JobId]) -> None:
        """The jobs change."""
        self.changes += 1
        for job_id in job_ids:
            self._drop(job_id)

    def _drop(self, job_id: JobId) -> None:
        job = self._by_id.pop(job_id, None)
        if job is not None:
            self._by_name.pop((job.tenant_id, job.name), None)

    async def load(
        self, tenant_id: int, job_ids: Collection[JobId], names: Collection[tuple[int, str]]
    ) -> tuple[list[JobRow], int]:
        """Reads jobs in the committer's order and keeps them; those that do not exist are absent.

        They hold as long as `changes` stays the same.
        """

        async def read(connection: Connection) -> tuple[list[JobRow], int]:
            found = await load_job_rows(connection, list(job_ids)) if job_ids else []
            if names:
                found += await load_job_rows_by_name(connection, tenant_id, list(names))
            await self._know(connection, {job.policy_id for job in found})
            for job in found:
                self._keep(job)
            return found, self.changes

        return await self._committer.perform(read)

    def _keep(self, job: JobRow) -> None:
        if job.input is not None and len(job.input) > _MAX_INPUT:
            return
        self._by_id[job.job_id] = job
        self._by_name[job.tenant_id, job.name] = job.job_id
        while len(self._by_id) > _MAX_JOBS:
            self._drop(next(iter(self._by_id)))
