"""`python -m bench NAME [--json FILE] [--repeats N] [options]`; NAME may be `all`, or `report` for tables."""

import argparse
import asyncio
import sys
from pathlib import Path

from bench import (
    adhoc,
    drain,
    herd,
    hiccup,
    idle,
    lateness,
    limit,
    report,
    requests,
    schedules,
    snapshot,
    spill,
    submit,
    sustain,
)
from bench.question import Question
from bench.result import Result, collect, print_result, print_summary, write

QUESTIONS: dict[str, Question] = {
    module.QUESTION.name: module.QUESTION
    for module in (
        limit,
        submit,
        requests,
        drain,
        sustain,
        snapshot,
        hiccup,
        lateness,
        herd,
        adhoc,
        spill,
        schedules,
        idle,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    for question in QUESTIONS.values():
        one = names.add_parser(question.name, help=question.asks, description=question.asks)
        one.add_argument("--json", type=Path, metavar="FILE", help="write the result here as well")
        one.add_argument("--repeats", type=_positive, default=question.repeats)
        question.add_options(one)
    every = names.add_parser("all", help="all of them with their defaults, and a summary")
    every.add_argument("--json", type=Path, metavar="FILE", help="all figures in one file, each named BENCH.FIGURE")
    every.add_argument("--results", type=Path, metavar="DIR", help="one file for each benchmark, as bench/results has")
    every.add_argument("--repeats", type=_positive, help="instead of each benchmark's own number")
    tables = names.add_parser("report", help="results as Markdown, for docs/benchmarks.md")
    tables.add_argument("files", type=Path, nargs="+", metavar="FILE")
    tables.add_argument("--into", type=Path, metavar="PAGE", help="replace the results section of this page")
    options = parser.parse_args()

    if options.name == "report":
        return report.main(options.files, options.into)
    if options.name == "all":
        return _all(options)
    result = _answer(QUESTIONS[options.name], options)
    if options.json:
        write(options.json, result)
    return 0


def _answer(question: Question, options: argparse.Namespace) -> Result:
    result = asyncio.run(collect(question, options))
    print_result(result)
    return result


def _all(options: argparse.Namespace) -> int:
    results: list[Result] = []
    failed: list[str] = []
    for question in QUESTIONS.values():
        parser = argparse.ArgumentParser()
        question.add_options(parser)
        defaults = parser.parse_args([])
        defaults.repeats = options.repeats or question.repeats
        try:
            result = _answer(question, defaults)
        except Exception as error:
            print(f"{question.name} failed: {type(error).__name__}: {error}", file=sys.stderr)
            failed.append(question.name)
            continue
        results.append(result)
        if options.results:
            options.results.mkdir(parents=True, exist_ok=True)
            write(options.results / f"{question.name}.json", result)
    if results:
        print_summary(results)
    if options.json and results:
        whole = Result(
            bench="all",
            machine=results[0].machine,
            settings={result.bench: result.settings for result in results},
            repeats=max(result.repeats for result in results),
            figures={f"{one.bench}.{name}": value for one in results for name, value in one.figures.items()},
        )
        write(options.json, whole)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("use 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
