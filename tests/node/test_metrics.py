"""What operators watch is served under the names that they were given."""

from noonmark.model.policy import Retry
from noonmark.schedule import Every
from tests.conftest import eventually
from tests.node.conftest import Stage

SERIES = [
    "noonmark_fires_total",
    "noonmark_lateness_seconds_bucket",
    "noonmark_backlog_runs",
    "noonmark_backlog_oldest_seconds",
    "noonmark_granted_total",
    "noonmark_attempts_ended_total",
    "noonmark_retried_total",
    "noonmark_rescued_grants_total",
    "noonmark_refused_reports_total",
    "noonmark_ownership_changes_total",
    "noonmark_commit_seconds_bucket",
    "noonmark_loop_lag_seconds_bucket",
    "noonmark_loop_seconds_bucket",
    "noonmark_loop_late_seconds_bucket",
    "noonmark_shards_owned",
]


async def scrape(stage: Stage) -> dict[str, float]:
    """Series by name, summed over their labels."""
    found: dict[str, float] = {}
    for line in (await stage.client._http.call("GET", "/metrics")).decode().splitlines():
        if not line.startswith("#"):
            name, value = line.partition("{")[0].split()[0], float(line.split()[-1])
            found[name] = found.get(name, 0) + value
    return found


async def test_metrics_tell_what_happened(stage: Stage) -> None:
    await stage.job("ticking", schedule=Every("1s"))
    await stage.job("failing", "fail", input=[1], retry=Retry(base_s=0.0))
    await stage.job("nobody-serves-it", queue="elsewhere")
    await stage.client.trigger_job("nobody-serves-it")
    run = await stage.client.trigger_job("failing")
    assert await stage.ended(run) == ["failed", "succeeded"]
    await eventually(lambda: len(stage.seen.calls) >= 4, 8)
    found = await scrape(stage)
    assert [name for name in SERIES if name not in found] == []
    assert found["noonmark_shards_owned"] == 8
    assert found["noonmark_ownership_changes_total"] >= 8
    assert found["noonmark_fires_total"] >= 2
    assert found["noonmark_granted_total"] >= 4
    assert found["noonmark_retried_total"] == 1
    assert found["noonmark_backlog_runs"] >= 1
    assert found["noonmark_lateness_seconds_count"] == found["noonmark_granted_total"]


async def test_a_node_says_when_it_is_ready(stage: Stage) -> None:
    assert await stage.client._http.call("GET", "/healthz")
    await eventually(lambda: stage.client._http.call("GET", "/readyz"))
