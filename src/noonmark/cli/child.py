"""One child process: started, started again when it ends, stopped."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from noonmark.cli.lifeline import LIFELINE
from noonmark.clock import monotonic_s
from noonmark.errors import NoonmarkError

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 10.0
STEADY_S = 30.0
"""A child that lived this long did not fail at its start; the next pause is short again."""
HURRY_S = 3.0
LOG_KEPT_BYTES = 10_000_000
_TAIL_BYTES = 3000

Say = Callable[[str], None]


class ChildFailed(NoonmarkError):
    """A child ended before it had ever been ready."""

    def __init__(self, message: str, exit_status: int = 1) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class ManagedProcess:
    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log_file: Path | None,
        say: Say,
        *,
        must_start: bool = False,
    ) -> None:
        self.name = name
        self.log_file = log_file
        """None: it writes where we do."""
        self.was_ready = not must_start
        """Until it has been ready once, its end is the end of everything."""
        self._command = [sys.executable, "-P", "-m", "noonmark", *arguments]
        self._environment = {**os.environ, **environment, LIFELINE: "1"}
        self._say = say
        self._stopping = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._log_from = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def keep(self) -> None:
        """Runs it, again and again, until `stop()`."""
        pause_s = FIRST_PAUSE_S
        while not self._stopping.is_set():
            started_s = monotonic_s()
            code = await self._run()
            if self._stopping.is_set():
                return
            if not self.was_ready:
                raise self._failed(code)
            if monotonic_s() - started_s > STEADY_S:
                pause_s = FIRST_PAUSE_S
            see = f". See {self.log_file}" if self.log_file else ""
            self._say(f"The {self.name} ended with {_ending(code)}; starting it again in {pause_s:g} s{see}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def stop(self, grace_s: float, hurry: asyncio.Event) -> None:
        """Asks it to stop; asks again when hurried or after `grace_s`; kills it when that does not help."""
        self._stopping.set()
        if self.pid is None:
            return
        self._signal(signal.SIGTERM)
        ended = asyncio.ensure_future(self._ended())
        hurried = asyncio.ensure_future(hurry.wait())
        await asyncio.wait({ended, hurried}, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED)
        hurried.cancel()
        if not ended.done():
            self._signal(signal.SIGTERM)
            await asyncio.wait({ended}, timeout=HURRY_S)
        if not ended.done():
            self._say(f"The {self.name} does not stop; killing it.")
            self.kill()
        await ended

    def kill(self) -> None:
        self._stopping.set()
        self._signal(signal.SIGKILL)

    def trim_log(self) -> None:
        """Keeps the log bounded. The child appends, so it goes on at the new end."""
        if self.log_file is None:
            return
        with contextlib.suppress(OSError):
            if self.log_file.stat().st_size > LOG_KEPT_BYTES:
                shutil.copyfile(self.log_file, self.log_file.with_suffix(".log.1"))
                os.truncate(self.log_file, 0)
                self._log_from = 0

    def log_tail(self) -> str:
        if self.log_file is None:
            return ""
        try:
            with self.log_file.open("rb") as log:
                log.seek(max(self._log_from, self.log_file.stat().st_size - _TAIL_BYTES))
                return log.read().decode(errors="replace").strip()
        except OSError:
            return ""

    async def _run(self) -> int:
        self.trim_log()
        with contextlib.ExitStack() as opened:
            log = None
            if self.log_file is not None:
                log = opened.enter_context(self.log_file.open("ab"))
                self._log_from = log.tell()
            environment, descriptors = self._bequeath(opened)
            self._process = process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,  # the lifeline
                stdout=log,
                stderr=log,
                env={**self._environment, **environment},
                pass_fds=descriptors,
                start_new_session=True,
            )
        if self._stopping.is_set():  # stop() came while it was being started, and found nobody
            self._signal(signal.SIGTERM)
        code = await process.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it may have left in its session
        return code

    def _bequeath(self, opened: contextlib.ExitStack) -> tuple[Mapping[str, str], Sequence[int]]:
        """Environment and open files for the next start; `opened` closes on our side what is the child's alone."""
        return {}, ()

    def _failed(self, code: int) -> ChildFailed:
        tail = f" The end of its log:\n{self.log_tail()}" if self.log_file else ""
        return ChildFailed(f"the {self.name} ended with {_ending(code)}.{tail}", code if code > 0 else 1)

    async def _ended(self) -> None:
        if self._process is not None:
            await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)


async def kill_on(kill: asyncio.Event, children: Sequence[ManagedProcess]) -> None:
    await kill.wait()
    for child in children:
        child.kill()


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
