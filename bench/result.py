"""Repeats gathered into medians, written as JSON and printed as a table."""

import argparse
import gc
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench.machine import describe
from bench.question import Question


class Result(msgspec.Struct, kw_only=True):
    bench: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    repeats: int
    figures: dict[str, float]
    """Medians; `NAME_min` and `NAME_max` stand beside each `NAME`."""
    targets: dict[str, float] = {}
    samples: list[dict[str, float]] = []
    """The figures of each repeat, in order."""


async def collect(question: Question, options: argparse.Namespace) -> Result:
    samples: list[dict[str, float]] = []
    settings: dict[str, Any] = {}
    for number in range(options.repeats):
        print(f"── {question.name} {number + 1}/{options.repeats}", flush=True)
        sample = await question.run(options)
        samples.append(dict(sample.figures))
        settings = dict(sample.settings)
        print("   " + "  ".join(f"{name}={shown(value)}" for name, value in sample.figures.items()), flush=True)
        gc.collect()
    figures: dict[str, float] = {}
    for name in samples[0]:
        values = [sample[name] for sample in samples if name in sample]
        figures[name] = rounded(median(values))
        figures[f"{name}_min"] = rounded(min(values))
        figures[f"{name}_max"] = rounded(max(values))
    return Result(
        bench=question.name,
        machine=describe(),
        settings=settings,
        repeats=options.repeats,
        figures=figures,
        targets=dict(question.targets),
        samples=[{name: rounded(value) for name, value in sample.items()} for sample in samples],
    )


def write(path: Path, result: Result) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n")


def read(path: Path) -> Result:
    return msgspec.json.decode(path.read_bytes(), type=Result)


def print_result(result: Result) -> None:
    print()
    print(f"{result.bench}, {result.repeats} repeat(s)")
    print(f"  machine   {line(result.machine)}")
    for name, value in result.settings.items():
        print(f"  {name:<9} {line(value) if isinstance(value, dict) else value}")
    for name in medians(result):
        print(f"  {name:<28}{spread(result, name):>40}   {verdict(result, name)}")
    print(flush=True)


def print_summary(results: list[Result]) -> None:
    print("Summary: median [min..max]")
    for result in results:
        for name in result.targets:
            if name in result.figures:
                print(f"  {result.bench:<9} {name:<24}{spread(result, name):>40}   {verdict(result, name)}")
    print(flush=True)


def medians(result: Result) -> list[str]:
    return [name for name in result.figures if f"{name}_min" in result.figures]


def spread(result: Result, name: str) -> str:
    value, low, high = (shown(result.figures[name + end]) for end in ("", "_min", "_max"))
    return value if result.repeats == 1 else f"{value} [{low}..{high}]"


def verdict(result: Result, name: str) -> str:
    """How the median stands to its target; nothing where there is none."""
    target = result.targets.get(name)
    if target is None:
        return ""
    value = result.figures[name]
    at_least = name.endswith("_per_s") or "ratio" in name
    kept = value >= target if at_least else value <= target
    return f"{'kept' if kept else 'MISSED'}: {'at least' if at_least else 'at most'} {shown(target)}"


def shown(value: float) -> str:
    if value and abs(value) < 10:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{value:,.1f}" if abs(value) < 1000 and value != int(value) else f"{value:,.0f}"


def rounded(value: float) -> float:
    return round(value, 4)


def line(pairs: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs.items())
