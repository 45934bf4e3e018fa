"""The parent: starts the processes, replaces those that end, stops them all."""

import asyncio
import contextlib
import socket
from collections.abc import Mapping, Sequence

import structlog

from noonmark.cli.child import ManagedProcess, kill_on
from noonmark.cli.lifeline import hold_lifeline
from noonmark.cli.processes.door import Door
from noonmark.cli.processes.inheritance import Inheritance, bequeath, new_page
from noonmark.cli.processes.ports import own_address, port_of
from noonmark.cli.stopping import Signals
from noonmark.node.config import NodeConfig

GRACE_S = 15.0

log = structlog.get_logger("noonmark.node")


class NodeProcess(ManagedProcess):
    """Gets a fresh channel at each start; its port and its page stay."""

    def __init__(
        self, number: int, arguments: Sequence[str], environment: Mapping[str, str], public_address: str
    ) -> None:
        super().__init__(f"process {number}", arguments, environment, None, log.warning, must_start=True)
        self.number = number
        self._public_address = public_address
        self.door: Door | None = None
        self.pages: list[int] = []

    def _bequeath(self, opened: contextlib.ExitStack) -> tuple[Mapping[str, str], Sequence[int]]:
        assert self.door is not None
        channel = opened.enter_context(self.door.seat(self.number))
        left = Inheritance(self.number, self._public_address, channel.fileno(), self.pages)
        return bequeath(left), (channel.fileno(), *self.pages)


def make_processes(
    config: NodeConfig, public: socket.socket, reserved: Sequence[socket.socket], options: Sequence[str]
) -> list[NodeProcess]:
    """`options` are those of the command that all processes share."""
    address = config.advertise or own_address(config.host, port_of(public), None)
    environment = {"NOONMARK_DATABASE_URL": config.database_url}
    if config.token:
        environment["NOONMARK_TOKEN"] = config.token
    made = []
    for number, port in enumerate(map(port_of, reserved), 1):
        own = ["--port", str(port), "--advertise", own_address(config.host, port, config.advertise)]
        arguments = ["node", "start", "--processes", "1", "--host", config.host, *own, *options]
        made.append(NodeProcess(number, arguments, environment, address))
    return made


async def supervise(processes: Sequence[NodeProcess], public: socket.socket) -> None:
    """Until a signal. Raises ChildFailed if a process cannot be started."""
    signals = Signals()
    hold_lifeline()
    by_number = {process.number: process for process in processes}

    def on_ready(number: int) -> None:
        by_number[number].was_ready = True

    door = Door(public, on_ready)
    pages = [new_page() for _ in processes]
    for process in processes:
        process.door, process.pages = door, pages
    keeping = [asyncio.create_task(process.keep()) for process in processes]
    stopping = asyncio.create_task(signals.stop.wait())
    killing = asyncio.create_task(kill_on(signals.kill, processes))
    log.info("started", processes=len(processes), port=port_of(public))
    try:
        await asyncio.wait({*keeping, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        log.info("stopping", processes=sum(process.pid is not None for process in processes))
        door.close()
        await asyncio.gather(*(process.stop(GRACE_S, signals.hurry) for process in processes))
        ended = await asyncio.gather(*keeping, return_exceptions=True)
        stopping.cancel()
        killing.cancel()
    failures = [error for error in ended if isinstance(error, BaseException)]
    if failures:
        raise failures[0]
