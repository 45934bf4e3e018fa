"""`noonmark apply` and `export` against a server: the plan, what it does, and that others' jobs are left alone."""

import re

import pytest

MANIFEST = """\
managed_by: ours
defaults: {task: greet}
jobs:
  - name: nightly
    schedule: TZ=Europe/Berlin 0 1 * * *
    input: {name: Ada}
  - name: weekday
    schedule: {kind: english, english: every weekday at 9:30, exclude: [holidays DE]}
    retry: {max_attempts: 2}
    paused: true
"""


@pytest.fixture
def manifest(tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text(MANIFEST)
    return file


async def names(served) -> list[str]:
    return [job["name"] for job in (await served.json("job", "list"))["items"]]


async def test_a_plan_then_the_jobs_then_nothing(served, manifest):
    plan = await served("apply", "-f", str(manifest), "--dry-run", "--exit-code", exit_code=10)
    assert re.search(r"^\+ nightly\n    task: greet\n    schedule: TZ=Europe/Berlin 0 1 ", plan.stdout, re.MULTILINE)
    assert "2 to add, 0 to change, 0 to remove." in plan.stdout
    assert await names(served) == []

    done = await served("apply", "-f", str(manifest))
    assert "Done: 2 added, 0 changed, 0 removed." in done.stderr
    assert await names(served) == ["nightly", "weekday"]
    weekday = await served.json("job", "show", "weekday")
    assert (weekday["state"], weekday["labels"]) == ("paused", {"managed-by": "ours"})

    again = await served("apply", "-f", str(manifest), "--exit-code")
    assert "Nothing to do: 2 jobs are as the manifest says." in again.stdout


async def test_changes_are_told_field_by_field_and_only_they_are_made(served, manifest):
    await served("apply", "-f", str(manifest))
    before = await served.json("job", "show", "nightly")
    manifest.write_text(MANIFEST.replace("Ada", "Eve").replace("max_attempts: 2", "max_attempts: 3"))
    plan = (await served("apply", "-f", str(manifest), "-o", "json", exit_code=0)).stdout
    assert '"retry.max_attempts": {\n          "before": 2,\n          "after": 3' in plan
    after = await served.json("job", "show", "nightly")
    assert (after["input"], after["version"]) == ({"name": "Eve"}, before["version"] + 1)
    assert (await served.json("job", "show", "weekday"))["retry"]["max_attempts"] == 3


async def test_only_jobs_of_the_manifest_are_ever_removed(served, manifest):
    await served("job", "create", "mine", "--task", "greet")
    await served("job", "create", "theirs", "--task", "greet", "--label", "managed-by=other")
    await served("apply", "-f", str(manifest))
    manifest.write_text("managed_by: ours\njobs:\n  - {name: nightly, task: greet}\n")

    kept = await served("apply", "-f", str(manifest), "--dry-run")
    assert "- weekday" not in kept.stdout
    refused = await served("apply", "-f", str(manifest), "--prune", exit_code=2)
    assert "--prune: this removes 1 jobs" in refused.stderr
    assert "weekday" in await names(served)

    await served("apply", "-f", str(manifest), "--prune", "--yes")
    assert await names(served) == ["mine", "nightly", "theirs"]


async def test_what_is_refused_changes_nothing(served, manifest):
    manifest.write_text("jobs:\n  - {name: a, task: greet}\n  - {name: b, task: greet, schedule: 61 * * * *}\n")
    said = await served("apply", "-f", str(manifest), exit_code=2)
    assert f"{manifest}:3: b: schedule.cron" in said.stderr
    assert await names(served) == []


async def test_prune_needs_the_name_of_the_manifest(served, manifest):
    manifest.write_text("- {name: a, task: greet}\n")
    said = await served("apply", "-f", str(manifest), "--prune", exit_code=2)
    assert "managed_by" in said.stderr
    assert await names(served) == []


async def test_what_the_server_refuses_is_told_and_the_rest_is_done(served, manifest):
    manifest.write_text("- {name: a, task: greet}\n- {name: b, task: nowhere}\n")
    said = await served("apply", "-f", str(manifest), exit_code=2)
    assert "1 of 2 were not done:\nb: task: " in said.stderr
    assert await names(served) == ["a"]


async def test_an_export_applies_back_to_no_difference(served, manifest, tmp_path):
    await served("apply", "-f", str(manifest))
    for name, schedule in {
        "every": "5m", "rule": "FREQ=MONTHLY;BYDAY=-1FR", "iso": "R/2030-01-01T00:00Z/PT5M", "hashed": "H H * * *",
        "sun": "sunset 52.52,13.405 -30m", "once": "2030-01-01T00:00:00Z", "plain": "every 2 hours", "none": "manual",
    }.items():  # fmt: skip
        await served("job", "create", name, "--task", "greet", "--schedule", schedule, "--label", "a=b")
    await served("job", "create", "bounds", "--task", "greet", "--cron", "0 9 * * *", "--exclude", "sat",
                 "--gap", "skip", "--input", "[1, null]", "--misfire", "all", "--jitter-s", "3")  # fmt: skip

    for form, suffix in (("yaml", "yaml"), ("json", "json")):
        file = tmp_path / f"all.{suffix}"
        file.write_text((await served("export", "-o", form)).stdout)
        back = await served("apply", "-f", str(file), "--exit-code", "--dry-run")
        assert "Nothing to do: 11 jobs" in back.stdout, back.output

    some = (await served("export", "--label", "a=b")).stdout
    assert "name: sun" in some
    assert "name: nightly" not in some
    assert some.startswith("# yaml-language-server: $schema=")
    own = (await served("export", "--managed-by", "ours")).stdout
    assert "managed_by: ours" in own
    assert "managed-by" not in own


async def test_a_manifest_from_stdin(served):
    await served("apply", "-f", "-", input="- {name: piped, task: greet}\n")
    assert await names(served) == ["piped"]


async def test_an_imported_crontab_is_applied(served, tmp_path):
    tab = tmp_path / "tab"
    tab.write_text("# Say hello\n0 2 * * * echo hello\n@reboot x\n")
    dry = await served("import", "crontab", str(tab), "--task", "greet", "--apply", "--dry-run")
    assert "+ say-hello" in dry.stdout
    assert await names(served) == []
    told = await served.json("import", "crontab", str(tab), "--task", "greet", "--apply")
    assert [step["name"] for step in told["steps"]] == ["say-hello"]
    assert any("@reboot" in note["what"] for note in told["notes"])
    assert (await served.json("job", "show", "say-hello"))["input"] == {"command": "echo hello"}
