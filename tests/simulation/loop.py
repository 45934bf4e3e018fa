"""An event loop in the world's time, for the coroutines of a node: what they await is an event of the simulation.

Each process has its own: frozen, nothing of it goes on; ended, nothing of it ever does.
"""

import asyncio
from collections import deque

SECOND_US = 1_000_000


class Loop(asyncio.AbstractEventLoop):
    def __init__(self, process):
        self._process = process
        self._ready = deque()
        self._woken = False
        self.crashes = []
        self._tasks = {}

    def time(self):
        return self._process.world.now_us / SECOND_US

    def get_debug(self):
        return False

    def is_closed(self):
        return False

    def is_running(self):
        return True

    def create_future(self):
        return asyncio.Future(loop=self)

    def create_task(self, coroutine, *, name=None, context=None):
        task = asyncio.Task(coroutine, loop=self, name="task", context=context)
        task._log_destroy_pending = False  # its process may be killed
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)
        return task

    def drop(self):
        """The process has ended: its coroutines are closed one by one, or the garbage collector would choose when."""
        self._ready.clear()
        for task in list(self._tasks):
            task.get_coro().close()

    def call_soon(self, callback, *args, context=None):
        handle = asyncio.Handle(callback, args, self, context)
        if not self._process.ended:
            self._ready.append(handle)
            if not self._woken:
                self._woken = True
                self._process.later(0, self._run)
        return handle

    def call_later(self, delay_s, callback, *args, context=None):
        return self.call_at(self.time() + delay_s, callback, *args, context=context)

    def call_at(self, when_s, callback, *args, context=None):
        handle = asyncio.TimerHandle(when_s, callback, args, self, context)
        if not self._process.ended:
            self._process.later(max(0, round((when_s - self.time()) * SECOND_US)), self._fire, handle)
        return handle

    def _timer_handle_cancelled(self, handle):
        pass

    def _fire(self, handle):
        if not handle.cancelled():
            self._ready.append(handle)
            self._run()

    def _run(self):
        """All that is ready, and what becomes ready by it, at one instant."""
        asyncio._set_running_loop(self)
        try:
            while self._ready:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
        finally:
            asyncio._set_running_loop(None)
            self._woken = False
        if self.crashes:
            raise self.crashes.pop()

    def call_exception_handler(self, context):
        """A callback that failed fails the world; whoever died with its process does not."""
        if not self._process.ended and "exception" in context and "never retrieved" not in context["message"]:
            self.crashes.append(context["exception"])
