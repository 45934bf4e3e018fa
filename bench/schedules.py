"""schedules: how many next times of cron expressions one core finds, beside cronsim and croniter in the same run."""

import argparse
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from statistics import geometric_mean
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from bench.question import Question, Sample
from noonmark.schedule.forms.cron import CronPattern
from noonmark.schedule.forms.cron_text import canonical_cron
from noonmark.schedule.wall import WallRecurrence

_EXPRESSIONS = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 9 * * 1-5",
    "0,30 8-18 * * 1-5",
    "30 2 1 * *",
    "0 0 29 2 *",
)
_ZONES = {"utc": "UTC", "berlin": "Europe/Berlin"}
_START_S = 1_767_225_600  # 2026-01-01T00:00:00Z
_PEER_SHARE = 20
"""The peers are slower by about this factor; asked for fewer times, they do not make the run longer."""
_PEER_MOST = {"0 0 29 2 *": 400}
"""Their calendar ends with the year 9999."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=40_000, help="next times of each expression")
    parser.add_argument("--parses", type=int, default=1_440, help="expressions to read")


async def run(options: argparse.Namespace) -> Sample:
    figures: dict[str, float] = {}
    for short, tz in _ZONES.items():
        ours = [_rate(_ours(text, tz), options.times) for text in _EXPRESSIONS]
        figures[f"{short}_per_s"] = geometric_mean(ours)
        figures[f"{short}_slowest_per_s"] = min(ours)
        for name, peer in (("cronsim", _cronsim), ("croniter", _croniter)):
            share = max(options.times // _PEER_SHARE, 10)
            theirs = [_rate(peer(text, tz), min(share, _PEER_MOST.get(text, share))) for text in _EXPRESSIONS]
            figures[f"{short}_{name}_per_s"] = geometric_mean(theirs)
            figures[f"{short}_ratio_to_{name}"] = geometric_mean(a / b for a, b in zip(ours, theirs, strict=True))
    at = datetime.fromtimestamp(_START_S, UTC)
    figures["parse_us"] = _parse_us(lambda text: CronPattern(canonical_cron(text)), options.parses)
    figures["parse_cronsim_us"] = _parse_us(lambda text: CronSim(text, at), options.parses)
    figures["parse_croniter_us"] = _parse_us(lambda text: croniter(text, at), options.parses)
    settings = {"times": options.times, "parses": options.parses, "expressions": ", ".join(_EXPRESSIONS)}
    return Sample(figures, settings)


def _ours(expression: str, tz: str) -> Iterator[object]:
    recurring = WallRecurrence(CronPattern(canonical_cron(expression)), tz)
    start_us = _START_S * 1_000_000
    at_us = recurring.next_after(start_us)
    while True:  # rare dates begin again where the calendar ends
        yield at_us
        at_us = recurring.next_after(start_us if at_us is None else at_us)


def _cronsim(expression: str, tz: str) -> Iterator[object]:
    return iter(CronSim(expression, _start(tz)))


def _croniter(expression: str, tz: str) -> Iterator[object]:
    steps = croniter(expression, _start(tz), ret_type=datetime)
    while True:
        yield steps.get_next()


def _start(tz: str) -> datetime:
    """cronsim tells UTC by identity with datetime.UTC."""
    return datetime.fromtimestamp(_START_S, UTC if tz == "UTC" else ZoneInfo(tz))


def _rate(times: Iterator[object], count: int) -> float:
    """Per second of this process's own time, so that neighbours on the machine count less."""
    next(times)
    began_s = time.process_time()
    for _ in islice(times, count):
        pass
    return count / (time.process_time() - began_s)


def _parse_us(parse: Callable[[str], object], count: int) -> float:
    expressions = [f"{number % 60} {number // 60 % 24} * * 1-5" for number in range(count)]
    began_s = time.process_time()
    for text in expressions:
        parse(text)
    return (time.process_time() - began_s) / count * 1e6


QUESTION = Question(
    "schedules",
    "How many next times of cron expressions per second and core, beside cronsim and croniter?",
    run,
    add_options,
    repeats=5,
    targets={"utc_slowest_per_s": 100_000, "berlin_slowest_per_s": 100_000, "parse_us": 100},
)
