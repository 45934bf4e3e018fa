"""requests: what one request costs the node, by its route: over one connection, one at a time."""

import argparse
import asyncio
import time
from urllib.parse import urlsplit

from bench.database import fresh_database
from bench.fleet import Fleet
from bench.load import intern_policy, load_jobs, stand_at_now
from bench.question import Question, Sample
from bench.submitter import Exchange

_ROUTES = {
    "read": ("GET", "/v1/jobs/load-1", b""),
    "page": ("GET", "/v1/jobs?limit=10&name_prefix=load", b""),
    "version": ("GET", "/v1/version", b""),
    "pause": ("POST", "/v1/jobs/load-2/pause", b""),
    "trigger": ("POST", "/v1/jobs/load-3/trigger", b'{"input":{"customer":1}}'),
    "refusal": ("POST", "/v1/jobs/load-3/trigger", b'{"priority":"high"}'),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=4.0, help="how long each route is asked")
    parser.add_argument("--warmup", type=float, default=1.0, help="seconds of load before those that count")


async def run(options: argparse.Namespace) -> Sample:
    figures: dict[str, float] = {}
    async with fresh_database() as database:
        await load_jobs(database, 100, [], await intern_policy(database), name="load")
        await stand_at_now(database)
        with Fleet(database.url) as fleet:
            fleet.start_node()
            await fleet.ready()
            where = urlsplit(fleet.server)
            _, exchange = await asyncio.get_running_loop().create_connection(Exchange, where.hostname, where.port)
            for name, (method, path, body) in _ROUTES.items():
                request = (
                    f"{method} {path} HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                )
                await _ask(exchange, request + body, options.warmup)
                node_s, postgres_s = fleet.node.cpu_s(), (await database.usage()).cpu_s
                calls_ms = sorted(await _ask(exchange, request + body, options.seconds))
                node_s, postgres_s = fleet.node.cpu_s() - node_s, (await database.usage()).cpu_s - postgres_s
                figures |= {
                    f"{name}_per_s": len(calls_ms) / options.seconds,
                    f"{name}_p50_ms": calls_ms[len(calls_ms) // 2],
                    f"{name}_node_us": node_s / len(calls_ms) * 1e6,
                    f"{name}_postgres_us": postgres_s / len(calls_ms) * 1e6,
                }
        settings = {"postgres": database.settings, "seconds": options.seconds}
    return Sample(figures, settings)


async def _ask(exchange: Exchange, request: bytes, seconds: float) -> list[float]:
    calls_ms: list[float] = []
    until_s = time.perf_counter() + seconds
    while (sent_s := time.perf_counter()) < until_s:
        await exchange.ask(request)
        calls_ms.append((time.perf_counter() - sent_s) * 1000)
    return calls_ms


QUESTION = Question("requests", "What does one request cost the node, route by route?", run, add_options)
