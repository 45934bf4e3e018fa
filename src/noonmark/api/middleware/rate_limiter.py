"""How many requests a second one caller may send to one node: a bucket that refills, and 429 when it is empty."""

from collections import OrderedDict
from collections.abc import Callable

from noonmark.api.asgi import CALLER, ASGIApp, Receive, Scope, Send
from noonmark.api.dispatch.endpoint import WORKERS
from noonmark.api.problems import send_problem
from noonmark.clock import monotonic_s
from noonmark.errors import TooBusy
from noonmark.model.caller import Caller

_BURST_S = 2.0
"""A caller that was quiet may send this many seconds' worth at once."""
_MAX_CALLERS = 10_000


class RateLimiter:
    """Runs after the guard, which finds the caller.

    Requests without a caller (their paths need no key) are not counted; nor are workers, whose pace the node sets.
    """

    def __init__(self, app: ASGIApp, requests_per_s: float, elapsed_s: Callable[[], float] = monotonic_s) -> None:
        self._app = app
        self._rate = requests_per_s
        self._elapsed_s = elapsed_s
        self._buckets: OrderedDict[object, tuple[float, float]] = OrderedDict()
        """The rest of each caller's bucket, and when that was measured; the longest quiet caller first."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        caller: Caller | None = scope.get(CALLER)
        if caller is not None and path.startswith("/v1/") and not path.startswith(WORKERS):
            wait_s = self.take(caller.key_id if caller.key_id is not None else (caller.name, caller.address))
            if wait_s:
                message = f"more than {self._rate:g} requests a second came from this caller"
                await send_problem(send, TooBusy(message, retry_after_s=wait_s))
                return
        await self._app(scope, receive, send)

    def take(self, caller: object) -> float:
        """0 if the request may pass, else how many seconds to wait."""
        now_s = self._elapsed_s()
        full = self._rate * _BURST_S
        left, then_s = self._buckets.pop(caller, (full, now_s))
        left = min(full, left + (now_s - then_s) * self._rate)
        passes = left >= 1
        self._buckets[caller] = (left - 1 if passes else left, now_s)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - left) / self._rate
