"""Notices that this process did not run for a while: it was frozen, starved or suspended.

Requests that came meanwhile lie in its sockets, and the node cannot know how old they are. Their callers may have given
up, sent them to another node, and revoked them since. So a request that is read right after a sleep is refused: nothing
was done, and a caller that still waits sends it again. A sleep shorter than the lease does not count: no other node can
have taken over meanwhile.
"""

import asyncio

from noonmark.clock import monotonic_s
from noonmark.errors import Unavailable

_BEAT_S = 0.25
_SUSPECT_S = 2.0
"""All that lay in the sockets has been read by then."""


class SleepWatch:
    def __init__(self, longest_s: float) -> None:
        """`longest_s` without a beat is no sleep yet."""
        self._longest_s = longest_s
        self._beat_s = monotonic_s()
        self._suspect_until_s = 0.0

    async def run(self) -> None:
        self._beat_s = monotonic_s()
        while True:
            await asyncio.sleep(_BEAT_S)
            self.beat(monotonic_s())

    def beat(self, now_s: float) -> None:
        if now_s - self._beat_s > self._longest_s:
            self.woke(now_s)
        self._beat_s = now_s

    def woke(self, now_s: float) -> None:
        """Also called when the node finds itself declared dead: a suspended machine's clock stands still."""
        self._suspect_until_s = now_s + _SUSPECT_S

    def check(self) -> None:
        """Refuses a change that may have lain in a socket; before the first beat after a sleep as well."""
        now_s = monotonic_s()
        if now_s < self._suspect_until_s or now_s - self._beat_s > self._longest_s:
            raise Unavailable("this node has just woken up, and cannot tell how old the request is; nothing was done")
