"""The metrics of a node, for Prometheus. The owner counts in plain integers, which are read only when asked for."""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from noonmark.clock import SECOND_US
from noonmark.node.life import Life
from noonmark.schedule.zones import tz_version
from noonmark.shard.limits import LATENESS_BOUNDS_S


class NodeMetrics(Collector):
    """Counts of all lives of this process: those of ended lives are kept in `past`."""

    def __init__(self, life: Callable[[], Life | None], tenant_name: Callable[[int], str]) -> None:
        self._life = life
        self._tenant_name = tenant_name
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._past: dict[str, float] = {}
        self.lives = 0
        self.commit_seconds = Histogram(
            "noonmark_commit_seconds",
            "Time of one group commit",
            buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5),
            registry=self._registry,
        )
        self.commit_rows = Histogram(
            "noonmark_commit_rows",
            "Runs ended, granted and created by one group commit",
            buckets=(1, 10, 50, 100, 500, 1000, 5000, 10000),
            registry=self._registry,
        )
        self.loop_lag_seconds = Histogram(
            "noonmark_loop_lag_seconds",
            "How late the event loop runs what is due",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
            registry=self._registry,
        )

        self.loop_seconds = Histogram(
            "noonmark_loop_seconds",
            "Time of one tick of a loop; the deliverer's includes its wait for deliveries",
            labelnames=["loop"],
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10),
            registry=self._registry,
        )
        self.loop_late_seconds = Histogram(
            "noonmark_loop_late_seconds",
            "How late a tick of a loop began",
            labelnames=["loop"],
            buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10),
            registry=self._registry,
        )

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def note_tick(self, loop: str, took_s: float, late_s: float) -> None:
        self.loop_seconds.labels(loop).observe(took_s)
        self.loop_late_seconds.labels(loop).observe(late_s)

    def keep(self, life: Life) -> None:
        """A life is over; its counts go on."""
        for name, value in _totals(life).items():
            self._past[name] = self._past.get(name, 0) + value

    def collect(self) -> Iterator[Metric]:
        life = self._life()
        totals = dict(self._past)
        if life is not None:
            for name, value in _totals(life).items():
                totals[name] = totals.get(name, 0) + value
        ended = CounterMetricFamily("noonmark_attempts_ended", "Attempts by outcome", labels=["outcome"])
        for name, value in totals.items():
            kind, _, label = name.partition(":")
            if kind == "ended":
                ended.add_metric([label], value)
        yield ended
        for name, text in _COUNTERS.items():
            yield CounterMetricFamily(f"noonmark_{name}", text, value=totals.get(name, 0))
        yield CounterMetricFamily("noonmark_lives", "Node ids that this process has had", value=self.lives)
        yield _lateness(totals)
        yield InfoMetricFamily("noonmark_tz", "The time zone database in use", value={"version": tz_version()})
        if life is not None:
            yield from self._now(life)

    def _now(self, life: Life) -> Iterator[Metric]:
        yield GaugeMetricFamily("noonmark_shards_owned", "Shards that this node owns", value=len(life.terms))
        yield GaugeMetricFamily("noonmark_workers", "Workers heard of lately", value=len(life.owner.fleet.workers))
        yield GaugeMetricFamily("noonmark_schedules", "Distinct schedules in memory", value=len(life.timetable))
        granted = sum(sum(grant.remaining.values()) for grant in life.owner.fleet.grants.values())
        yield GaugeMetricFamily("noonmark_runs_granted", "Runs that workers hold", value=granted)
        labels = ["tenant", "queue"]
        backlog = GaugeMetricFamily("noonmark_backlog_runs", "Waiting runs in memory", labels=labels)
        spilled = GaugeMetricFamily("noonmark_backlog_spilled", "1 if more wait in rows", labels=labels)
        oldest = GaugeMetricFamily("noonmark_backlog_oldest_seconds", "Age of the oldest ready run", labels=labels)
        sizes: dict[tuple[str, str], tuple[int, bool]] = {}
        for (tenant_id, (queue, _), _), size, more in life.owner.backlog.sizes():
            before = sizes.get(key := (self._tenant_name(tenant_id), queue), (0, False))
            sizes[key] = (before[0] + size, before[1] or more)
        for key, (size, more) in sizes.items():
            backlog.add_metric(key, size)
            spilled.add_metric(key, more)
        now_us = life.clock.now_us()
        ages: dict[tuple[str, str], int] = {}
        for tenant_id, (queue, _), due_us in life.owner.heads():
            key = (self._tenant_name(tenant_id), queue)
            ages[key] = max(ages.get(key, 0), now_us - due_us)
        for key, age_us in ages.items():
            oldest.add_metric(key, age_us / SECOND_US)
        yield from (backlog, spilled, oldest)


_COUNTERS = {
    "fires": "Runs that ticks made or woke",
    "ownership_changes": "Shards taken or given",
    "granted": "Attempts handed to workers",
    "retried": "Failed attempts that will be tried again",
    "died": "Runs that became dead letters",
    "rescued_grants": "Grants taken back from silent workers or never delivered",
    "refused_reports": "Reports that were not of the current attempt",
    "notices": "Notices written for subscriptions",
    "notices_dropped": "Notices not written because too many jobs were told of at once",
}


def _totals(life: Life) -> dict[str, float]:
    counts = life.owner.counts
    totals: dict[str, float] = {
        "fires": life.fired,
        "ownership_changes": life.ownership_changes,
        "granted": counts.granted,
        "retried": counts.retried,
        "died": counts.died,
        "rescued_grants": counts.rescued_grants,
        "refused_reports": counts.refused_reports,
        "notices": life.owner.notice_rules.sent,
        "notices_dropped": life.owner.notice_rules.dropped,
        "lateness_sum": counts.lateness_us / SECOND_US,
    }
    totals |= {f"ended:{outcome.name.lower()}": number for outcome, number in counts.ended.items()}
    totals |= {f"lateness:{i}": number for i, number in enumerate(counts.lateness)}
    return totals


def _lateness(totals: dict[str, float]) -> HistogramMetricFamily:
    buckets: list[tuple[str, float]] = []
    seen = 0.0
    for i, bound in enumerate((*LATENESS_BOUNDS_S, float("inf"))):
        seen += totals.get(f"lateness:{i}", 0)
        buckets.append(("+Inf" if bound == float("inf") else str(bound), seen))
    family = HistogramMetricFamily("noonmark_lateness_seconds", "From due time to grant")
    family.add_metric([], buckets=buckets, sum_value=totals.get("lateness_sum", 0))
    return family
