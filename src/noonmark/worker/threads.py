"""Threads for blocking functions: started when needed, never joined, so that a hanging one holds up no exit."""

import queue
import threading
from collections.abc import Callable


class Threads:
    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self.started = 0

    def run(self, work: Callable[[], None]) -> None:
        """`work` must not raise."""
        with self._lock:
            spawn = self._idle == 0
            if not spawn:
                self._idle -= 1
        self._work.put(work)
        if spawn:
            self.started += 1
            threading.Thread(target=self._serve, name=f"noonmark-task-{self.started}", daemon=True).start()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, 0
        for _ in range(idle):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work
            with self._lock:
                self._idle += 1
