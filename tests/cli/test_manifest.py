"""Manifests: what they may say, where they are wrong, and what a change of them comes to."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from noonmark.cli.manifest import lines
from noonmark.cli.manifest.export import to_manifest
from noonmark.cli.manifest.lines import read_documents
from noonmark.cli.manifest.plan import FieldChange, make_plan
from noonmark.cli.manifest.read import InvalidManifest, read_manifests, read_text
from noonmark.cli.output import to_json, to_yaml
from noonmark.errors import Conflict, InvalidInput
from noonmark.model.policy import Retry
from noonmark.schedule.spec import At, Cron, English, Every, Times
from noonmark.wire.manifest import manifest_schema
from noonmark.wire.resources import Job, JobSpec

ROOT = Path(__file__).parents[2]
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)

WHOLE = """\
managed_by: billing
defaults:
  task: report
  retry: {max_attempts: 3}
  labels: {team: money}
jobs:
  - name: nightly
    schedule: TZ=Europe/Berlin 0 1 * * *
    retry: {base_s: 1}
  - name: hourly
    task: sum
    schedule: {kind: every, every: 1h, exclude: [sat-sun]}
    labels: {tier: gold}
    paused: true
---
- name: other
  task: hello
  input: {on: yes, at: 22:00, day: 2030-01-01, count: 3, share: 0.5, none: ~, ok: true}
"""


def job(spec: JobSpec, **changes: object) -> Job:
    fields = {name: getattr(spec, name) for name in JobSpec.__struct_fields__}
    own = {"id": "job_1", "tenant": "default", "version": 4, "state": "active", "next_at": None}
    return Job(**{**fields, **own, "created_at": NOON, "updated_at": NOON, **changes})


def test_defaults_labels_and_documents_come_together():
    found = read_text("jobs.yaml", WHOLE)
    nightly, hourly, other = (found.jobs[name].spec for name in ("nightly", "hourly", "other"))
    assert nightly.retry == Retry(max_attempts=3, base_s=1)
    assert nightly.schedule == Cron("0 1 * * *", "Europe/Berlin")
    assert nightly.labels == {"team": "money", "managed-by": "billing"}
    assert (hourly.task, hourly.schedule) == ("sum", Every("1h", exclude=("sat-sun",)))
    assert hourly.labels == {"team": "money", "tier": "gold", "managed-by": "billing"}
    assert found.jobs["hourly"].paused is True
    assert found.jobs["nightly"].paused is None
    assert other.labels == {}
    assert found.owners == {"billing"}


def test_scalars_are_those_of_yaml_1_2():
    given = msgspec.json.decode(bytes(read_text("x", WHOLE).jobs["other"].spec.input))
    assert given == {
        "on": "yes",
        "at": "22:00",
        "day": "2030-01-01",
        "count": 3,
        "share": 0.5,
        "none": None,
        "ok": True,
    }


def test_json_with_tabs_is_a_manifest_too():
    text = '{\n\t"jobs": [\n\t\t{"name": "a", "task": "t"}\n\t]\n}'
    assert list(read_text("jobs.json", text).jobs) == ["a"]


def test_merge_keys_and_aliases():
    text = "jobs:\n  - &base {name: a, task: t, queue: q}\n  - {<<: *base, name: b}\n"
    assert read_text("x", text).jobs["b"].spec.queue == "q"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jobs:\n  - name: b b\n    task: t\n", "x:2: b b: name: 'b b' is not a name"),
        ("jobs:\n  - name: a\n    task: t\n    schedule: 61 * * * *\n", "x:4: a: schedule.cron: the minute field"),
        ("- name: a\n  task: t\n  priority: high\n", "x:3: a: priority: Expected `int`, got `str`"),
        ("- name: a\n  task: t\n  priority: 11\n", "x:3: a: priority: 11 is out of bounds"),
        ("- name: a\n  task: t\n  schedule:\n    kind: cron\n    cron: '@daily'\n    gapp: x\n", "x:6: a: schedule.g"),
        ("- name: a\n  task: t\n  retry:\n    max_attempts: 0\n", "x:4: a: retry.max_attempts: 0 is out of bounds"),
        ("defaults:\n  retry: {max_attempts: x}\njobs:\n  - {name: a, task: t}\n", "x:2: retry.max_attempts: Exp"),
        ("- name: a\n", "x:1: a: task: the job has no task"),
        ("- name: a\n  task: t\n- name: b\n  task: t\n- name: a\n  task: t\n", "x:5: two jobs are named 'a' (it is al"),
        ("job: []\n", "x:1: 'job' is no part of a manifest"),
        ("jobs: 5\n", "x:1: jobs must be a list"),
        ("jobs:\n  - 5\n", "x:2: a job must be a mapping"),
        ("defaults: {name: a}\n", "x:1: a name is each job's own"),
        ("managed_by: two words\n", "x:1: managed_by: 'two words' is not a name"),
        ("managed_by: a\njobs:\n  - name: b\n    task: t\n    labels: {managed-by: c}\n", "x:5: managed_by says some"),
        ("a: b\na: c\n", "x:2: 'a' is here twice"),
        ("a: [\n", "x:2: this is not YAML"),
        ("5\n", "x:1: a manifest is a mapping or a list"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text, said):
    with pytest.raises(InvalidInput) as error:
        read_text("x", text)
    assert said in str(error.value)


def test_everything_that_is_wrong_is_told_at_once():
    with pytest.raises(InvalidManifest) as error:
        read_text("x", "- name: a\n- name: b\n  task: t\n  queue: no spaces\n")
    assert [line[:4] for line in str(error.value).splitlines()] == ["x:1:", "x:4:"]
    assert error.value.exit_code == 2


def test_a_few_aliases_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(lines, "MAX_VALUES", 10_000)
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(InvalidInput, match="more than"):
        list(read_documents("x", bomb))


def test_folders_and_files(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yml").write_text("- {name: a, task: t}\n")
    (tmp_path / "b.json").write_text('[{"name": "b", "task": "t"}]')
    (tmp_path / "notes.txt").write_text("not: a: manifest")
    assert sorted(read_manifests([str(tmp_path)]).jobs) == ["a", "b"]
    with pytest.raises(InvalidInput, match="cannot read it"):
        read_manifests([str(tmp_path / "none.yaml")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="no manifest is in this folder"):
        read_manifests([str(tmp_path / "empty")])


def test_a_plan_tells_each_field():
    wanted = read_text("x", "- {name: a, task: t, schedule: 0 2 * * *, retry: {max_attempts: 3}, labels: {a: b}}\n")
    spec = wanted.jobs["a"].spec
    before = msgspec.structs.replace(spec, schedule=Cron("0 1 * * *"), retry=Retry(), labels={"c": "d"}, queue="slow")
    plan = make_plan(wanted, {"a": job(before)}, [])
    [step] = plan.steps
    assert step.action == "change"
    assert step.version == 4
    assert sorted(step.changes, key=lambda change: change.field) == [
        FieldChange("labels.a", None, "b"),
        FieldChange("labels.c", "d", None),
        FieldChange("queue", "slow", "default"),
        FieldChange("retry.max_attempts", 5, 3),
        FieldChange("schedule", "0 1 * * *", "0 2 * * *"),
    ]


def test_parts_of_a_schedule_are_told_apart():
    wanted = read_text("x", "- {name: a, task: t, schedule: {kind: cron, cron: 0 2 * * *, exclude: [sat]}}\n")
    before = msgspec.structs.replace(wanted.jobs["a"].spec, schedule=Cron("0 2 * * *"))
    [step] = make_plan(wanted, {"a": job(before)}, []).steps
    assert [change.field for change in step.changes] == ["schedule.exclude"]


@pytest.mark.parametrize(("said", "state", "turned"), [("true", "active", True), ("false", "paused", False)])
def test_pausing_alone_is_no_new_version(said, state, turned):
    wanted = read_text("x", f"- {{name: a, task: t, paused: {said}}}\n")
    [step] = make_plan(wanted, {"a": job(wanted.jobs["a"].spec, state=state)}, []).steps
    assert (step.spec, step.paused) == (None, turned)


def test_whether_it_is_paused_stays_as_it_is_unless_said():
    wanted = read_text("x", "- {name: a, task: t}\n")
    assert make_plan(wanted, {"a": job(wanted.jobs["a"].spec, state="paused")}, []).steps == []


def test_the_job_of_another_manifest_is_refused():
    wanted = read_text("x", "managed_by: ours\njobs:\n  - {name: a, task: t}\n")
    theirs = msgspec.structs.replace(wanted.jobs["a"].spec, labels={"managed-by": "theirs"})
    with pytest.raises(Conflict, match="managed by 'theirs'"):
        make_plan(wanted, {"a": job(theirs)}, [])


@pytest.mark.parametrize(
    "schedule",
    [
        Cron("0 1 * * *", "Europe/Berlin"),
        Cron("0 1 * * *", exclude=("sat",), gap="skip"),
        Every("5m"),
        Every(90, anchor=NOON),
        Every("5m", pace="delay"),
        At(NOON),
        Times((NOON, NOON.replace(year=2031))),
        English("every weekday at 9:30"),
        English("every weekday at 9:30", max_runs=3),
    ],
)
def test_what_is_exported_reads_as_the_same(schedule):
    spec = JobSpec(
        name="a", task="t", schedule=schedule, input=msgspec.Raw(b'{"a": "x\\ny", "b": ["1", 1, null], "on": "off"}'),
        retry=Retry(max_attempts=2, no_retry=("ValueError",)), labels={"managed-by": "m", "v": "1.0"}, priority=0,
        start_deadline_s=5.0,
    )  # fmt: skip
    stored = job(spec, state="paused")
    for owner in (None, "m"):
        text = to_yaml(to_manifest([stored], owner))
        assert make_plan(read_text("x", text), {"a": stored}, []).steps == [], text


def test_the_schema_for_editors_is_current():
    committed = json.loads((ROOT / "docs" / "manifest.schema.json").read_text())
    assert committed == json.loads(to_json(manifest_schema())), "make schema"


def test_the_schema_knows_every_field():
    entry = manifest_schema()["$defs"]["JobEntry"]
    assert set(entry["properties"]) == {*JobSpec.__struct_fields__, "paused"}
    assert entry["required"] == ["name"]
