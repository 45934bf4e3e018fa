"""A run that was asked for: its id, and the calls about it."""

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from noonmark import errors
from noonmark.client.signature import as_it_is
from noonmark.wire.resources import Attempt, Run
from noonmark.wire.runs import Explanation

if TYPE_CHECKING:
    from noonmark.client.run_calls import RunCalls

V = TypeVar("V")


class RunHandle(str, Generic[V]):
    """The run's id as a string, so that it can be stored, logged and sent; `result` waits for its end."""

    __slots__ = ("_client", "_read")

    _client: "RunCalls"
    _read: Callable[[Any], V]

    def __new__(cls, run_id: str, client: "RunCalls", read: Callable[[Any], V] = as_it_is) -> "RunHandle[V]":
        made = super().__new__(cls, run_id)
        made._client = client
        made._read = read
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickled and copied it is its id alone: connections stay where they are."""
        return str, (self.id,)

    @property
    def id(self) -> str:
        return str(self)

    async def status(self) -> Run:
        """Where the run stands, and why."""
        return await self._client.get_run(self.id)

    async def attempts(self) -> list[Attempt]:
        return await self._client.attempts(self.id)

    async def follow(self, *, timeout_s: float | None = None) -> AsyncIterator[Run]:
        """The run now and at each change of its state, until it is over; TimeoutError after `timeout_s`."""
        async for run in self._client.follow_run(self.id, timeout_s=timeout_s):
            yield run

    async def result(self, *, timeout_s: float | None = None) -> V:
        """Waits for the task's result, as the type that its annotation names.

        Raises `RunFailed` if it used up its attempts, `RunCancelled`, `RunExpired`, or TimeoutError after `timeout_s`:
        the run goes on then.
        """
        run = await self.status()
        async for changed in self._client.follow_run(self.id, timeout_s=timeout_s):
            run = changed
        if run.state != "succeeded":
            raise errors.run_ended(run.id, run.state, run.why, run.error)
        ended = [attempt for attempt in await self.attempts() if attempt.final]
        return self._read(ended[-1].result if ended else None)

    async def cancel(self) -> Run:
        """A waiting run ends at once; a running one is stopped by its worker."""
        return await self._client.cancel_run(self.id)

    async def retry(self) -> Run:
        """Its next attempt comes now; a dead one lives again."""
        return await self._client.retry_run(self.id)

    async def explain(self) -> Explanation:
        """The events of the run, first to last."""
        return await self._client.explain_run(self.id)
