"""Tasks that write down what they were given, for workers in the test's own process."""

import asyncio
from typing import Any

from noonmark import App, context
from noonmark.clock import from_datetime


class Seen:
    """What was executed, in order: (run id, attempt, what)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, Any]] = []
        self.nominals_us: list[int] = []
        self.gate = asyncio.Event()
        self.app = App()
        for task in (self.record, self.fail, self.refuse, self.wait, self.hold, self.give):
            self.app.task(name=task.__name__)(task)

    def note(self, what: Any) -> None:
        run = context()
        self.calls.append((run.run_id, run.attempt, what))
        self.nominals_us.append(from_datetime(run.nominal_at))

    def whats(self) -> list[Any]:
        return [what for _, _, what in self.calls]

    def attempts_of(self, run: str) -> list[int]:
        return [attempt for one, attempt, _ in self.calls if one == run]

    async def record(self, what: Any = None) -> None:
        self.note(what)

    async def fail(self, times: int = 1_000) -> None:
        self.note("fail")
        if context().attempt <= times:
            raise OSError("no luck")

    async def refuse(self) -> None:
        self.note("refuse")
        raise ValueError("never again")

    async def wait(self, seconds: float = 60.0) -> None:
        self.note("wait")
        await asyncio.sleep(seconds)

    async def hold(self, what: Any = None) -> None:
        """Runs until the test opens the gate."""
        self.note(what)
        await self.gate.wait()

    async def give(self, poison: str) -> str:
        self.note("give")
        if poison == "raise":
            raise RuntimeError("a \0 in the text")
        return "a \0 in the result"
