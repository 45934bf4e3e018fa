"""The commands about jobs, runs and dead letters against a server."""

import pytest

from tests.conftest import eventually


async def create(served, name: str, *options: str) -> None:
    await served("job", "create", name, "--task", "greet", *options)


async def test_a_job_is_made_changed_compared_and_rolled_back(served):
    await create(served, "a", "--label", "team=money", "--label", "tier=gold", "--cron", "0 1 * * *")
    await served("job", "update", "a", "--queue", "slow", "--drop-label", "tier", "--label", "team=sales")
    job = await served.json("job", "show", "a")
    assert (job["queue"], job["labels"], job["version"]) == ("slow", {"team": "sales"}, 2)

    assert "version 1" in (await served("job", "diff", "a")).stdout.lower()
    found = await served.json("job", "diff", "a", "--from", "1", "--to", "2")
    assert {change["path"] for change in found["differences"]} == {"queue", "labels.team", "labels.tier"}
    assert [version["version"] for version in await served.json("job", "versions", "a")] == [2, 1]

    dry = await served("job", "rollback", "a", "--to", "1", "--dry-run")
    assert "Would make a as it was in version 1." in dry.stdout
    await served("job", "rollback", "a", "--to", "1")
    job = await served.json("job", "show", "a")
    assert (job["queue"], job["labels"], job["version"]) == ("default", {"team": "money", "tier": "gold"}, 3)


async def test_upsert_makes_or_changes(served):
    await create(served, "a", "--upsert")
    await served("job", "create", "a", "--task", "greet", exit_code=4)
    await create(served, "a", "--upsert", "--priority", "9")
    assert (await served.json("job", "show", "a"))["priority"] == 9


async def test_lists_are_filtered(served):
    await create(served, "a-1", "--label", "team=money", "--queue", "slow")
    await create(served, "a-2", "--label", "team=sales")
    await create(served, "b-1")
    await served("job", "pause", "b-1")

    async def names(*options: str) -> list[str]:
        return [job["name"] for job in (await served.json("job", "list", *options))["items"]]

    assert await names("--prefix", "a-") == ["a-1", "a-2"]
    assert await names("--label", "team") == ["a-1", "a-2"]
    assert await names("-l", "team=sales") == ["a-2"]
    assert await names("--queue", "slow") == ["a-1"]
    assert await names("--state", "paused") == ["b-1"]
    assert await names("--task", "nothing") == []


@pytest.mark.parametrize("output", ["table", "wide", "yaml", "json"])
async def test_every_output(served, output):
    await create(served, "a", "--label", "x=y", "--every", "1h")
    shown = (await served("job", "list", "-o", output)).stdout
    head = shown.splitlines()[0]
    match output:
        case "table":
            assert head.split() == ["NAME", "STATE", "SCHEDULE", "TASK", "QUEUE", "NEXT"]
        case "wide":
            assert head.split()[-6:] == ["ID", "VERSION", "LABELS", "PRIORITY", "FIRES", "UPDATED"]
            assert "x=y" in shown
        case "yaml":
            assert shown.startswith("items:\n  - id: job_")
        case "json":
            assert shown.startswith('{\n  "items": [')
    assert "\x1b" not in shown


async def test_some_or_all_that_match_are_paused_resumed_and_deleted(served):
    for name in ("a", "b", "c"):
        await create(served, name, "--label", "team=money")

    async def states() -> dict[str, str]:
        return {job["name"]: job["state"] for job in (await served.json("job", "list"))["items"]}

    assert "Would pause a, b." in (await served("job", "pause", "a", "b", "--dry-run")).stdout
    assert set((await states()).values()) == {"active"}
    assert "Paused a, b." in (await served("job", "pause", "a", "b")).stdout
    assert await states() == {"a": "paused", "b": "paused", "c": "active"}
    await served("job", "pause", "a", "nobody", exit_code=3)

    dry = await served("job", "resume", "--label", "team=money", "--state", "paused", "--dry-run")
    assert "Would resume 2 jobs: a, b." in dry.stdout
    unasked = await served("job", "resume", "--label", "team=money", exit_code=2)
    assert "--yes" in unasked.stderr
    assert "Resumed 3 jobs." in (await served("job", "resume", "--label", "team=money", "--yes")).stdout
    assert set((await states()).values()) == {"active"}
    await served("job", "delete", "--prefix", "a", "--yes")
    await served("job", "delete", "c")
    assert await states() == {"b": "active"}
    assert "say which jobs" in (await served("job", "delete", exit_code=2)).stderr
    assert "say which jobs" in (await served("job", "delete", "b", "--label", "team", exit_code=2)).stderr


async def test_dry_runs_send_nothing(served):
    assert "Would create the job a." in (await served("job", "create", "a", "--task", "greet", "--dry-run")).stdout
    await served("job", "show", "a", exit_code=3)
    await served("job", "create", "a", "--task", "greet", "--timeout-s", "-1", "--dry-run", exit_code=2)
    await create(served, "a")
    assert "Would change queue of a." in (await served("job", "update", "a", "--queue", "q", "--dry-run")).stdout
    assert "Would run a now." in (await served("job", "trigger", "a", "--dry-run")).stdout
    assert "Would delete a." in (await served("job", "delete", "a", "--dry-run")).stdout
    assert (await served.json("job", "runs", "a"))["items"] == []
    assert (await served.json("job", "show", "a"))["version"] == 1


async def test_a_run_is_waited_for_followed_and_explained(served):
    await create(served, "a", "--input", '{"name": "Ada"}')
    waited = await served("job", "trigger", "a", "--wait")
    assert "result: Hello, Ada!" in waited.stdout
    followed = (await served("job", "trigger", "a", "--follow")).stdout
    assert "succeeded" in followed
    run_id = (await served.json("job", "trigger", "a", "--input", '{"name": "Eve"}', "--wait"))["run"]["id"]
    assert "Hello, Eve!" in (await served("run", "show", run_id)).stdout
    assert (await served.json("run", "explain", run_id))["state"] == "succeeded"
    assert "succeeded" in (await served("run", "follow", run_id)).stdout
    listed = (await served.json("run", "list", "--job", "a", "--state", "succeeded"))["items"]
    assert len(listed) == 3
    assert (await served.json("run", "list", "--state", "dead"))["items"] == []


async def test_a_run_that_fails_is_exit_code_9_and_comes_back(served):
    await served("job", "create", "bad", "--task", "fail", "--max-attempts", "1")
    said = await served("job", "trigger", "bad", "--wait", exit_code=9)
    assert "ValueError: it went wrong" in said.stdout
    [letter] = (await served.json("dead", "list"))["items"]
    assert letter["run"] in (await served("dead", "list", "--error", "went")).stdout

    assert "Would run 1 run again." in (await served("dead", "redrive", "--all", "--dry-run")).stdout
    assert "1 run will run again." in (await served("dead", "redrive", "--job", "bad")).stdout

    async def died() -> bool:
        return bool((await served.json("dead", "list"))["items"])

    await eventually(died)
    await served("run", "follow", letter["run"], exit_code=9)
    await served("run", "retry", letter["run"])
    await eventually(died)
    assert "Would discard 1 run." in (await served("dead", "discard", "--all", "--dry-run")).stdout
    assert "--yes" in (await served("dead", "discard", "--all", exit_code=2)).stderr
    assert "1 run discarded." in (await served("dead", "discard", "--all", "--yes")).stdout
    assert (await served("dead", "list")).stdout == "No dead letters.\n"


async def test_times_are_listed_skipped_filled_and_explained(served):
    await create(served, "a", "--cron", "0 1 * * *", "--tz", "Europe/Berlin")
    fires = (await served.json("job", "fires", "a", "--count", "3"))["fires"]
    assert len(fires) == 3
    assert "Would skip the next fire of a." in (await served("job", "skip", "a", "--dry-run")).stdout
    skipped = await served.json("job", "skip", "a")
    assert skipped["nominal_at"] == fires[0]["nominal_at"]
    assert "skipped" in (await served("job", "fires", "a")).stdout
    await served("job", "unskip", "a", "--at", fires[0]["nominal_at"])
    assert "skipped" not in (await served("job", "fires", "a")).stdout

    window = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-03T12:00:00Z")
    assert "Would make 3 runs" in (await served("job", "backfill", "a", *window, "--dry-run")).stdout
    assert (await served.json("run", "list"))["items"] == []
    assert "Made 3 runs" in (await served("job", "backfill", "a", *window)).stdout
    assert "3 of the times have one already" in (await served("job", "backfill", "a", *window)).stdout
    told = await served.json("job", "explain", "a", "--at", "2026-01-02T00:00:00Z")
    assert told["run"] is not None
    assert told["sentence"]


async def test_a_run_is_cancelled(served):
    await create(served, "a")
    run_id = (await served.json("job", "trigger", "a", "--at", "2030-01-01T00:00:00Z"))["run"]
    assert "which is waiting" in (await served("run", "cancel", run_id, "--dry-run")).stdout
    assert (await served.json("run", "cancel", run_id))["state"] == "cancelled"
    await served("job", "trigger", "a", "--at", "2030-01-02T00:00:00Z")
    assert "1 cancelled" in (await served("job", "cancel", "a")).stdout


async def test_the_fleet(served):
    assert "alive" in (await served("node", "list")).stdout
    assert len(await served.json("node", "shards")) == 8
    assert "greet" not in (await served("worker", "list")).stdout
    assert "greet" in (await served("worker", "list", "-o", "wide")).stdout
