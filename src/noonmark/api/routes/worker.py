"""/v1/worker/register|claim|heartbeat|report: the worker protocol, in JSON or MessagePack.

The answer comes in the format of the body; problems are always JSON. A worker that hangs up while it waits for work
cancels its claim, so that no run is granted to a worker that is gone.
"""

import msgspec

from noonmark.api.dispatch.request import Request
from noonmark.errors import InvalidInput
from noonmark.node.node import Node
from noonmark.wire.worker import (
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
)

MAX_NAME = 1000
MAX_CONCURRENCY = 100_000


async def register(node: Node, request: Request, data: Register) -> Registered:
    """Registers a worker with its queues and tasks; the answer holds its id."""
    _check_names(data)
    return await node.register(data, request.caller.tenant_id)


async def claim(node: Node, request: Request, data: Claim) -> ClaimAnswer:
    """Waits up to `wait_s` for up to `max` runs. An empty answer has `grant` 0."""
    return await node.claim(data, request.caller.tenant_id)


async def heartbeat(node: Node, request: Request, data: Heartbeat) -> HeartbeatAnswer:
    """Says that the worker is there, and which grants it holds."""
    return await node.heartbeat(data, request.caller.tenant_id)


async def report(node: Node, request: Request, data: Report) -> ReportAnswer:
    """Ends attempts. Reporting again is harmless."""
    return await node.report(_storable(data), request.caller.tenant_id)


def _check_names(register: Register) -> None:
    """Names go to the store as they are, so none may hold characters that PostgreSQL refuses."""
    if register.concurrency < 1 or register.concurrency > MAX_CONCURRENCY:
        raise InvalidInput("concurrency", f"{register.concurrency} is out of bounds", f"use 1 to {MAX_CONCURRENCY}")
    for field, names in (("name", [register.name]), ("queues", register.queues), ("tasks", register.tasks)):
        if any("\0" in name or len(name) > MAX_NAME for name in names):
            raise InvalidInput(field, "a name is too long or holds a NUL", f"use up to {MAX_NAME} characters")


def _storable(report: Report) -> Report:
    """Reports of many workers are written together, so none may hold a text that would fail the write."""
    for position, item in enumerate(report.items):
        if item.result is not None:
            try:
                msgspec.json.decode(item.result)
            except (msgspec.DecodeError, RecursionError):
                raise InvalidInput(
                    f"items[{position}].result", "it is not JSON", "send the result as JSON text"
                ) from None
        if item.error is not None and "\0" in item.error:
            report.items[position] = msgspec.structs.replace(item, error=item.error.replace("\0", "�"))
    return report
