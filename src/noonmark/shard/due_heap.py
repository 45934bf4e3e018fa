"""Runs that wait for their due time.

Schedules stand on whole seconds, so many runs share one due time: they wait in one bucket and are released together.
The heap holds each due time once.
"""

from heapq import heappop, heappush

from noonmark.shard.live_run import LiveRun


class DueHeap:
    def __init__(self) -> None:
        self._buckets: dict[int, list[LiveRun]] = {}
        self._times: list[int] = []

    def push(self, live: LiveRun) -> None:
        bucket = self._buckets.get(live.due_us)
        if bucket is None:
            self._buckets[live.due_us] = [live]
            heappush(self._times, live.due_us)
        else:
            bucket.append(live)

    def next_due_us(self) -> int | None:
        return self._times[0] if self._times else None

    def release(self, now_us: int) -> list[LiveRun]:
        """All that was pushed and is due, by due time. Some may have left their place since: their state tells."""
        due: list[LiveRun] = []
        while self._times and self._times[0] <= now_us:
            due += self._buckets.pop(heappop(self._times))
        return due
