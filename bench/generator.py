"""The open-loop load generator: a call of POST /v1/runs/batch at every tick, however the calls before it fare.

Times are Unix microseconds of this machine's clock, which is the database's clock too. Latency counts from the moment
a call was meant to begin, so a generator or a node that falls behind cannot hide it.
"""

import argparse
import asyncio
import random
import sys
import time

import aiohttp
import msgspec
import uvloop

from noonmark.model.ids import parse_run

_BODIES = 64


class Call(msgspec.Struct, array_like=True):
    intended_us: int
    answered_us: int
    runs: int
    first_nominal_us: int
    last_nominal_us: int


class Offered(msgspec.Struct):
    calls: list[Call]
    refused: int
    counted_from_us: int


class _Answer(msgspec.Struct):
    runs: list[str]


async def offer(server: str, rate: int, seconds: int, warmup: int, tick_ms: int, jobs: int) -> Offered:
    per_call = max(1, rate * tick_ms // 1000)
    bodies = _bodies(per_call, jobs)
    answers = msgspec.json.Decoder(_Answer)
    calls: list[Call] = []
    refused = 0
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), headers=headers, timeout=aiohttp.ClientTimeout(total=60)
    ) as session:

        async def one(number: int, intended_us: int) -> None:
            nonlocal refused
            try:
                async with session.post(f"{server}/v1/runs/batch", data=bodies[number % _BODIES]) as answer:
                    body = await answer.read()
            except (aiohttp.ClientError, TimeoutError):
                refused += 1
                return
            if answer.status != 202:
                refused += 1
                return
            answered_us = time.time_ns() // 1000
            runs = answers.decode(body).runs
            calls.append(Call(intended_us, answered_us, len(runs), parse_run(runs[0])[1], parse_run(runs[-1])[1]))

        flying: set[asyncio.Task[None]] = set()
        began_s = time.monotonic() + 0.1
        offset_us = time.time_ns() // 1000 - round(time.monotonic() * 1e6)
        for number in range((warmup + seconds) * 1000 // tick_ms):
            at_s = began_s + number * tick_ms / 1000
            await asyncio.sleep(max(0.0, at_s - time.monotonic()))
            task = asyncio.create_task(one(number, round(at_s * 1e6) + offset_us))
            flying.add(task)
            task.add_done_callback(flying.discard)
        if flying:
            await asyncio.wait(flying)
    return Offered(calls, refused, round((began_s + warmup) * 1e6) + offset_us)


def _bodies(per_call: int, jobs: int) -> list[bytes]:
    """Encoded beforehand; jobs at random, the same in every run of the benchmark."""
    chance = random.Random(1)
    return [
        msgspec.json.encode({"runs": [{"job": f"load-{chance.randrange(jobs)}"} for _ in range(per_call)]})
        for _ in range(_BODIES)
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    for name in ("--rate", "--seconds", "--warmup", "--tick-ms", "--jobs"):
        parser.add_argument(name, type=int, required=True)
    options = parser.parse_args()
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(offer(**vars(options)))))


if __name__ == "__main__":
    main()
