"""PURE: the metrics of several processes, in Prometheus' text form, as one text.

Counters and histograms are summed, and gauges that count things too. A gauge that tells a worst or a common value is
the largest of them; a time of creation is the oldest.
"""

from collections.abc import Iterable

from prometheus_client.utils import floatToGoString

_LARGEST = frozenset(
    {"noonmark_backlog_oldest_seconds", "noonmark_backlog_spilled", "noonmark_workers", "noonmark_tz_info"}
)
_COUNTS = frozenset({"counter", "histogram"})


class Family:
    """The samples of one metric: its comment lines, and from a sample's name with its labels to the value."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind = ""
        self.comments: list[str] = []
        self.values: dict[str, float] = {}

    def add(self, sample: str, value: float) -> None:
        before = self.values.get(sample)
        if before is None:
            self.values[sample] = value
        elif self.name in _LARGEST:
            self.values[sample] = max(before, value)
        elif self.name.endswith("_created"):
            self.values[sample] = min(before, value)
        else:
            self.values[sample] = before + value


Samples = dict[str, Family]


def parse(text: str) -> Samples:
    found: Samples = {}
    family = Family("")
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, *rest = line.split(" ", 3)
            family = found.setdefault(name, Family(name))
            family.comments.append(line)
            if word == "TYPE":
                family.kind = rest[0]
        elif line:
            sample, _, value = line.rpartition(" ")
            family.add(sample, float(value))
    return found


def counts_of(samples: Samples) -> Samples:
    """The samples that only grow: they stay true when the process that counted them is gone."""
    return {name: family for name, family in samples.items() if family.kind in _COUNTS}


def sum_samples(every: Iterable[Samples]) -> Samples:
    total: Samples = {}
    for samples in every:
        for name, family in samples.items():
            summed = total.get(name)
            if summed is None:
                summed = total[name] = Family(name)
                summed.kind, summed.comments = family.kind, family.comments
            for sample, value in family.values.items():
                summed.add(sample, value)
    return total


def render(samples: Samples) -> str:
    lines: list[str] = []
    for family in samples.values():
        lines += family.comments
        lines += [f"{sample} {_number(value)}" for sample, value in family.values.items()]
    return "\n".join(lines) + "\n" if lines else ""


def _number(value: float) -> str:
    text: str = floatToGoString(value)  # type: ignore[no-untyped-call]
    return text
