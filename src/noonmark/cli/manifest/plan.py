"""The plan: the steps that make the server's jobs those of a manifest."""

from typing import Any

import msgspec

from noonmark.cli.manifest.read import Manifests, Wanted
from noonmark.errors import Conflict
from noonmark.schedule import ScheduleSpec, write_schedule
from noonmark.wire.manifest import MANAGED_BY
from noonmark.wire.resources import Job, JobSpec

_IN_TEXT = frozenset({"kind", "cron", "every", "rrule", "iso", "english", "at", "times", "solar", "latitude",
                      "longitude", "offset", "tz", "pace"})  # fmt: skip
"""Parts of a schedule that its text tells."""


class FieldChange(msgspec.Struct, frozen=True):
    field: str
    before: Any
    after: Any


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """The change of one job."""

    action: str
    """add, change or remove"""
    name: str
    changes: list[FieldChange] = []
    version: int | None = None
    """The version that the plan was made for."""
    spec: JobSpec | None = None
    paused: bool | None = None
    """Set if the job is to be paused, or resumed."""


class ManifestPlan(msgspec.Struct, frozen=True):
    steps: list[PlanStep]
    unchanged: int

    def count(self, action: str) -> int:
        return sum(step.action == action for step in self.steps)

    def summary(self) -> str:
        return f"{self.count('add')} to add, {self.count('change')} to change, {self.count('remove')} to remove"


def make_plan(wanted: Manifests, known: dict[str, Job], removable: list[Job]) -> ManifestPlan:
    """`known` holds the jobs that the manifests name, `removable` those that they manage but do not name."""
    steps: list[PlanStep] = []
    unchanged = 0
    for name, entry in sorted(wanted.jobs.items()):
        job = known.get(name)
        if job is None:
            paused = True if entry.paused else None
            steps.append(PlanStep(action="add", name=name, changes=_added(entry), spec=entry.spec, paused=paused))
        elif changes := _changes(job, entry):
            _check_owner(job, entry)
            only_state = all(change.field == "paused" for change in changes)
            turned = any(change.field == "paused" for change in changes)
            steps.append(
                PlanStep(
                    action="change",
                    name=name,
                    changes=changes,
                    version=job.version,
                    spec=None if only_state else entry.spec,
                    paused=entry.paused if turned else None,
                )
            )
        else:
            unchanged += 1
    steps += [PlanStep(action="remove", name=job.name, version=job.version) for job in removable]
    return ManifestPlan(steps, unchanged)


def spec_of(job: Job) -> JobSpec:
    """The definition that would create such a job."""
    fields = {name: getattr(job, name) for name in JobSpec.__struct_fields__}
    return JobSpec(**fields)


def _check_owner(job: Job, entry: Wanted) -> None:
    theirs, ours = job.labels.get(MANAGED_BY), entry.spec.labels.get(MANAGED_BY)
    if theirs is not None and ours is not None and theirs != ours:
        raise Conflict(
            f"{job.name} is managed by {theirs!r}, not by {ours!r}",
            field=entry.place,
            fix=f"take it out of one of the two, or hand it over: noonmark job update {job.name} "
            f"--label {MANAGED_BY}={ours}",
        )


def _added(entry: Wanted) -> list[FieldChange]:
    """The fields that are not as they are by default."""
    plain = JobSpec(name=entry.spec.name, task="")
    found = _differences(_flat(plain), _flat(entry.spec))
    return [msgspec.structs.replace(change, before=None) for change in found]


def _changes(job: Job, entry: Wanted) -> list[FieldChange]:
    before, after = spec_of(job), entry.spec
    found = [] if before == after else _differences(_flat(before), _flat(after))
    if entry.paused is not None and entry.paused != (job.state == "paused"):
        found.append(FieldChange("paused", job.state == "paused", entry.paused))
    return found


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[FieldChange]:
    names = [*after, *(name for name in before if name not in after)]
    return [
        FieldChange(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    ]


def _flat(spec: JobSpec) -> dict[str, Any]:
    """Fields by name; those of the smaller values by `retry.base_s`. A schedule is its text and its parts."""
    found: dict[str, Any] = {}
    for name in JobSpec.__struct_fields__:
        value = getattr(spec, name)
        match name:
            case "name":
                continue
            case "schedule":
                found |= _flat_schedule(value)
            case "input":
                found[name] = msgspec.json.decode(bytes(value))
            case "retry" | "misfire":
                found |= {f"{name}.{part}": getattr(value, part) for part in type(value).__struct_fields__}
            case "labels":
                found |= {f"labels.{key}": text for key, text in sorted(value.items())}
            case _:
                found[name] = value
    return found


def _flat_schedule(spec: ScheduleSpec) -> dict[str, Any]:
    parts = msgspec.to_builtins(spec)
    said = write_schedule(spec)
    return {"schedule": said, **{f"schedule.{name}": parts[name] for name in parts if name not in _IN_TEXT}}
