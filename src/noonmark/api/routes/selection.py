"""Which jobs are meant: the filters that lists and bulk actions share."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from noonmark.api.dispatch.signature import Query
from noonmark.errors import InvalidInput
from noonmark.model.job import check_name, is_label
from noonmark.store.reads.jobs import JobFilter

NamePrefix = Annotated[str, msgspec.Meta(max_length=200, description="Only names that begin like this.")]
JobState = Annotated[
    Literal["active", "paused"] | None, Query("state"), msgspec.Meta(description="Only jobs in this state.")
]
Labels = Annotated[
    list[str] | None,
    Query("label"),
    msgspec.Meta(description="Only jobs with this label, `key` or `key:value`; given again, with all."),
]
Task = Annotated[str | None, msgspec.Meta(max_length=200, description="Only jobs of this task.")]
Queue = Annotated[str | None, msgspec.Meta(max_length=200, description="Only jobs of this queue.")]

_MAX_LABELS = 20


def selection(
    *,
    name_prefix: str = "",
    labels: Sequence[str] | None = None,
    state: Literal["active", "paused"] | None = None,
    task: str | None = None,
    queue: str | None = None,
    path: str = "",
    label_field: str = "label",
) -> JobFilter:
    """`path` is where the conditions stand in the request: `filter.`, or nothing for a query."""
    if name_prefix:
        check_name(path + "name_prefix", name_prefix)
    if len(labels or ()) > _MAX_LABELS:
        raise InvalidInput(path + label_field, "too many labels", f"use up to {_MAX_LABELS}")
    for label in labels or ():
        if not is_label(label):
            raise InvalidInput(path + label_field, f"{label[:80]!r} is not a label", "use `key` or `key:value`")
    for name, text in (("task", task), ("queue", queue)):
        if text is not None and not (text.isascii() and text.isprintable()):
            raise InvalidInput(path + name, f"{text[:80]!r} is not the name of a {name}", "use its name as it stands")
    return JobFilter(
        name_prefix, tuple(dict.fromkeys(labels or ())), None if state is None else state == "active", task, queue
    )
