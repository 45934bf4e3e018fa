"""Jobs as code: the documents of a manifest, as YAML or JSON."""

from typing import Annotated, Any

import msgspec

from noonmark.wire.resources import JobPatch

MANAGED_BY = "managed-by"
"""The label that says which manifest a job belongs to."""


class JobDefaults(JobPatch, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Fields that the jobs of a document share; a job's own fields come first."""


class JobEntry(JobPatch, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One job: the fields that creating a job takes. The task may come from the defaults."""

    name: str
    paused: bool | msgspec.UnsetType = msgspec.UNSET
    """Left out: whether the job is paused stays as it is."""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One document of a manifest."""

    jobs: list[JobEntry]
    managed_by: Annotated[str, msgspec.Meta(min_length=1, max_length=63)] | msgspec.UnsetType = msgspec.UNSET
    """The owner of these jobs: becomes their label `managed-by`. Only such jobs are ever removed by --prune."""
    defaults: JobDefaults | msgspec.UnsetType = msgspec.UNSET


def manifest_schema() -> dict[str, Any]:
    """For editors. A bare list of jobs is a manifest too."""
    (whole, entry), components = msgspec.json.schema_components((Manifest, JobEntry), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Noonmark manifest",
        "description": "Jobs as code, for `noonmark apply`.",
        "anyOf": [whole, {"type": "array", "items": entry}],
        "$defs": dict(sorted(components.items())),
    }
