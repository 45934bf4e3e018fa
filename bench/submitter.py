"""The closed-loop submitter: each connection sends its next request as soon as the last one was answered.

Over HTTP it speaks to a node, with requests made beforehand and as little work as can be for an answer, so that it
leaves the cores to what is measured. Over SQL it does the same durable work with nothing in between: an INSERT and its
commit for each run, or one COPY for each batch.
"""

import argparse
import asyncio
import itertools
import random
import sys
import time
from collections.abc import Awaitable, Callable
from typing import cast
from urllib.parse import urlsplit

import msgspec
import psutil
import uvloop

from noonmark.store.connect import OWNER_SETTINGS, connect

_REQUESTS = 256
_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"
_INPUT = '{"customer":%d}'
_COLUMNS = (
    "shard", "nominal_at", "job_id", "due_at", "tenant_id", "version", "policy_id", "priority", "reason", "input",
)  # fmt: skip


class Submitted(msgspec.Struct):
    runs: int
    seconds: float
    calls_ms: list[float]
    refused: int
    first_refusal: str
    cpu_s: float


class Exchange(asyncio.Protocol):
    """One connection: what is sent, and the whole of what comes back."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        head = received.find(_END_OF_HEAD)
        if head < 0:
            return
        lower = bytes(received[:head]).lower()
        at = lower.find(_LENGTH) + len(_LENGTH)
        length = int(lower[at : (lower + b"\r\n").find(b"\r\n", at)])
        if len(received) >= head + len(_END_OF_HEAD) + length and self._answer is not None:
            answer, self._answer = self._answer, None
            answer.set_result(bytes(received))
            received.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("the node closed the connection"))

    def ask(self, request: bytes) -> asyncio.Future[bytes]:
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer


Send = Callable[[int], Awaitable[str | None]]
"""Sends request number N and says why it was refused, if it was."""
Connect = Callable[[], Awaitable[Send]]


def over_http(server: str, batch: int, jobs: int) -> Connect:
    where = urlsplit(server)
    requests = [_request(where.netloc, batch, jobs, random.Random(number)) for number in range(_REQUESTS)]

    async def open_one() -> Send:
        loop = asyncio.get_running_loop()
        _, exchange = await loop.create_connection(Exchange, where.hostname, where.port)

        async def send(number: int) -> str | None:
            answer = await exchange.ask(requests[number % _REQUESTS])
            return None if answer.startswith(b"HTTP/1.1 202") else answer.decode(errors="replace")

        return send

    return open_one


def _request(host: str, batch: int, jobs: int, chance: random.Random) -> bytes:
    def one() -> bytes:
        return (_INPUT % chance.randrange(10_000)).encode()

    if batch == 1:
        path = f"/v1/jobs/load-{chance.randint(1, jobs)}/trigger"
        body = b'{"input":%s}' % one()
    else:
        path = "/v1/runs/batch"
        runs = [b'{"job":"load-%d","input":%s}' % (chance.randint(1, jobs), one()) for _ in range(batch)]
        body = b'{"runs":[%s]}' % b",".join(runs)
    head = [f"POST {path} HTTP/1.1", f"Host: {host}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join(head).encode() + _END_OF_HEAD + body


async def over_sql(database_url: str, batch: int) -> Connect:
    """Rows as the node writes them, of the jobs that are there."""
    reader = await connect(database_url)
    jobs = await reader.fetch("SELECT shard, job_id, tenant_id, version, policy_id FROM noonmark.job ORDER BY job_id")
    times_us = itertools.count(await reader.fetchval("SELECT clock_timestamp()"))
    await reader.close()
    chance = random.Random(1)

    def row() -> tuple[object, ...]:
        shard, job_id, tenant_id, version, policy_id = jobs[chance.randrange(len(jobs))]
        at_us = next(times_us)
        given = _INPUT % chance.randrange(10_000)
        return shard, at_us, job_id, at_us, tenant_id, version, policy_id, 5, 3, given

    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    insert = f"INSERT INTO noonmark.run ({', '.join(_COLUMNS)}) VALUES ({places})"

    async def open_one() -> Send:
        connection = await connect(database_url, OWNER_SETTINGS)
        prepared = await connection.prepare(insert)

        async def send(_: int) -> None:
            if batch == 1:
                await prepared.fetch(*row())
            else:
                rows = [row() for _ in range(batch)]
                await connection.copy_records_to_table("run", schema_name="noonmark", columns=_COLUMNS, records=rows)

        return send

    return open_one


async def submit(open_one: Connect, connections: int, batch: int, seconds: float, warmup: float) -> Submitted:
    numbers = itertools.count()
    sends = [await open_one() for _ in range(connections)]
    began_s = time.perf_counter() + warmup
    until_s = began_s + seconds
    calls_ms: list[float] = []
    refusals: list[str] = []

    async def keep_sending(send: Send) -> None:
        while (sent_s := time.perf_counter()) < until_s:
            refusal = await send(next(numbers))
            answered_s = time.perf_counter()
            if refusal is not None:
                refusals.append(refusal)
            elif began_s <= answered_s < until_s:
                calls_ms.append((answered_s - sent_s) * 1000)

    used_s = _cpu_s()
    await asyncio.gather(*map(keep_sending, sends))
    return Submitted(len(calls_ms) * batch, seconds, calls_ms, len(refusals), (refusals or [""])[0], _cpu_s() - used_s)


def _cpu_s() -> float:
    times = psutil.Process().cpu_times()
    return times.user + times.system


async def _main(options: argparse.Namespace) -> Submitted:
    if options.server:
        open_one = over_http(options.server, options.batch, options.jobs)
    else:
        open_one = await over_sql(options.database_url, options.batch)
    return await submit(open_one, options.connections, options.batch, options.seconds, options.warmup)


def main() -> None:
    parser = argparse.ArgumentParser()
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--server")
    target.add_argument("--database-url")
    for name in ("--connections", "--batch", "--jobs"):
        parser.add_argument(name, type=int, required=True)
    for name in ("--seconds", "--warmup"):
        parser.add_argument(name, type=float, required=True)
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_main(parser.parse_args()))))


if __name__ == "__main__":
    main()
