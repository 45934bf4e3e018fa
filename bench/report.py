"""Results as Markdown tables; with a page, its part between the two marks is replaced."""

import sys
from pathlib import Path

from bench.result import Result, line, medians, read, spread, verdict

BEGIN = "<!-- results: begin (made by `python -m bench report bench/results/*.json --into docs/benchmarks.md`) -->"
END = "<!-- results: end -->"


def main(files: list[Path], into: Path | None) -> int:
    text = "\n".join(table(read(file)) for file in files)
    if into is None:
        print(text)
        return 0
    page = into.read_text()
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"{into} has no results section: put these lines where it goes\n{BEGIN}\n{END}", file=sys.stderr)
        return 1
    into.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")
    return 0


def table(result: Result) -> str:
    settings = "; ".join(
        f"{name}: {line(value)}" if isinstance(value, dict) else f"{name} {value}"
        for name, value in result.settings.items()
    )
    rows = [
        f"### {result.bench}",
        "",
        f"{line(result.machine)}. {settings}. Repeats: {result.repeats}.",
        "",
        "| figure | median [min..max] | target |",
        "| --- | ---: | --- |",
        *(f"| `{name}` | {spread(result, name)} | {verdict(result, name)} |" for name in medians(result)),
    ]
    return "\n".join(rows) + "\n"
