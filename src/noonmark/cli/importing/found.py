"""The findings in a foreign configuration: jobs, and notes on parts that could not be carried over as they were."""

import re
from typing import Any

import msgspec

from noonmark.errors import NoonmarkError
from noonmark.model.job import is_name
from noonmark.schedule import ScheduleSpec, validate
from noonmark.wire.resources import NO_INPUT, JobSpec

_UNFIT = re.compile(r"[^A-Za-z0-9._:@-]+")
MAX_NAME = 60


class Note(msgspec.Struct, frozen=True):
    """Something of the source that is not, or not quite, in the manifest."""

    where: str
    """The line or the entry."""
    carried: bool
    """Whether there is a job nonetheless."""
    what: str
    advice: str


class FoundJob(msgspec.Struct, frozen=True):
    spec: JobSpec
    comment: tuple[str, ...] = ()
    """Stands above it in the manifest."""


class Found:
    def __init__(self, now_us: int) -> None:
        self.jobs: list[FoundJob] = []
        self.notes: list[Note] = []
        self._names: set[str] = set()
        self._now_us = now_us

    def note(self, where: str, what: str, advice: str) -> None:
        self.notes.append(Note(where, True, what, advice))

    def leave(self, where: str, what: str, advice: str) -> None:
        """This one gives no job."""
        self.notes.append(Note(where, False, what, advice))

    def add(
        self,
        where: str,
        name: str,
        task: str,
        schedule: ScheduleSpec,
        *,
        input: Any = None,
        comment: tuple[str, ...] = (),
        **fields: Any,
    ) -> None:
        """Checked as the server would; a job that it would refuse is left out, with a note."""
        from noonmark.cli.manifest.read import check_spec

        spec = JobSpec(
            name=self._unique(name),
            task=task,
            schedule=schedule,
            input=NO_INPUT if input is None else msgspec.Raw(msgspec.json.encode(input)),
            **fields,
        )
        try:
            validate(schedule, self._now_us)
            check_spec(spec)
        except NoonmarkError as error:
            self._names.discard(spec.name)
            self.leave(where, str(error), "write this one by hand")
            return
        self.jobs.append(FoundJob(spec, comment))

    def _unique(self, wished: str) -> str:
        name = _UNFIT.sub("-", wished).strip("-._:@")[:MAX_NAME].rstrip("-") or "job"
        base = name if is_name(name) else f"job-{name}"
        name, number = base, 1
        while name in self._names:
            number += 1
            name = f"{base}-{number}"
        self._names.add(name)
        return name
