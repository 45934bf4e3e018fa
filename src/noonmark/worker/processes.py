"""A pool of child processes, one run at a time each.

A child is booting, then idle, then busy, then idle again; it dies when it is killed (a timeout or a cancellation),
exits on its own (`os._exit`, a crash, the kernel's OOM killer) or the pool closes. A death costs the one run that the
child was busy with, and the next run that needs a child starts another. A child is given no run before it has booted,
so the time that imports take is not taken from a run's timeout.
"""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import msgspec

from noonmark.model.reason import PROCESS_DIED, Outcome
from noonmark.worker.attempt import TaskAttempt
from noonmark.worker.child import READY, Order, serve
from noonmark.worker.invoke import Ending

_endings = msgspec.msgpack.Decoder(Ending)


class TaskProcess:
    __slots__ = ("attempt", "booted", "lifeline", "pipe", "process")

    def __init__(self, process: BaseProcess, pipe: Connection, lifeline: Connection) -> None:
        self.process = process
        self.pipe = pipe
        self.lifeline = lifeline
        self.booted = False
        self.attempt: TaskAttempt | None = None

    def kill(self) -> None:
        self.process.kill()


class Processes:
    """`ended(attempt, ending)` is called once for each attempt that was run; `changed()` when a child became ready."""

    def __init__(
        self, size: int, modules: list[str], ended: Callable[[TaskAttempt, Ending], None], changed: Callable[[], None]
    ) -> None:
        self._size = size
        self._modules = modules
        self._ended = ended
        self._changed = changed
        self._spawn = multiprocessing.get_context("spawn")
        self._children: set[TaskProcess] = set()
        self._idle: list[TaskProcess] = []
        self._closed = False

    @property
    def ready(self) -> bool:
        return bool(self._idle)

    @property
    def booting(self) -> bool:
        return any(not child.booted for child in self._children)

    def grow(self, wanted: int) -> None:
        """Boots up to `wanted` more children, within the pool's size."""
        booting = sum(not child.booted for child in self._children)
        for _ in range(min(wanted - booting, self._size - len(self._children))):
            self._boot()

    def run(self, attempt: TaskAttempt) -> None:
        """Call only when `ready`."""
        child = self._idle.pop()
        child.attempt = attempt
        attempt.child = child
        task = attempt.task
        assert task is not None
        order = Order(
            task.function.__module__,
            task.function.__qualname__,
            attempt.task_name,
            attempt.job,
            attempt.nominal_us,
            attempt.attempt,
            attempt.due_us,
            attempt.max_attempts,
            attempt.input,
        )
        try:
            child.pipe.send_bytes(msgspec.msgpack.encode(order))
        except OSError:  # it died while idle, which the loop has yet to notice
            asyncio.get_running_loop().call_soon(self._reap, child)

    def tick(self) -> None:
        """Finds deaths that left the pipe open, because the task had forked."""
        for child in [child for child in self._children if not child.process.is_alive()]:
            self._reap(child)

    def close(self) -> None:
        self._closed = True
        for child in list(self._children):
            child.kill()
            self._reap(child)

    def _boot(self) -> None:
        ours, theirs = self._spawn.Pipe()
        their_lifeline, our_lifeline = self._spawn.Pipe(duplex=False)
        process = self._spawn.Process(
            target=serve, args=(theirs, their_lifeline, self._modules), name="noonmark-task", daemon=False
        )
        process.start()
        theirs.close()
        their_lifeline.close()
        child = TaskProcess(process, ours, our_lifeline)
        self._children.add(child)
        asyncio.get_running_loop().add_reader(ours.fileno(), self._readable, child)

    def _readable(self, child: TaskProcess) -> None:
        try:
            message = child.pipe.recv_bytes()
        except (EOFError, OSError):
            self._reap(child)
            return
        attempt, child.attempt = child.attempt, None
        child.booted = True
        self._idle.append(child)
        if attempt is not None:
            attempt.child = None
            self._ended(attempt, _endings.decode(message))
        else:
            assert message == READY
        self._changed()

    def _reap(self, child: TaskProcess) -> None:
        if child not in self._children:
            return
        asyncio.get_running_loop().remove_reader(child.pipe.fileno())
        self._children.discard(child)
        if child in self._idle:
            self._idle.remove(child)
        child.process.join(0.2)
        if child.process.is_alive():
            child.process.kill()
            child.process.join(1.0)
        child.pipe.close()
        child.lifeline.close()
        attempt, child.attempt = child.attempt, None
        if attempt is not None:
            attempt.child = None
            self._ended(attempt, Ending(Outcome.FAILED, f"{PROCESS_DIED} ProcessDied", _exit_text(child.process)))
        if not self._closed:
            self._changed()


def _exit_text(process: BaseProcess) -> str:
    code = process.exitcode
    if code is None or code >= 0:
        return f"the process exited with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"the process exited with code {code}: killed by {name}"
