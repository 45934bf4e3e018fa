"""Bounds of fields as JSON Schema. The model checks them, with errors that say more than a schema could."""

from typing import Any

from noonmark.model.job import MAX_PRIORITY

_Bounds = dict[str, Any]

_NAME: _Bounds = {"pattern": "^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$"}
_TASK: _Bounds = {"pattern": "^[A-Za-z_][A-Za-z0-9_.:-]{0,199}$"}
_PRIORITY: _Bounds = {"minimum": 0, "maximum": MAX_PRIORITY}
_TIMEOUT: _Bounds = {"exclusiveMinimum": 0, "maximum": 7 * 86_400}
_DEADLINE: _Bounds = {"exclusiveMinimum": 0, "maximum": 30 * 86_400}
_JOB = {"task": _TASK, "queue": _NAME, "priority": _PRIORITY, "timeout_s": _TIMEOUT, "start_deadline_s": _DEADLINE}

BOUNDS: dict[str, dict[str, _Bounds]] = {
    "JobSpec": {"name": _NAME, **_JOB},
    "JobDefinition": _JOB,
    "JobPatch": _JOB,
    "Submission": {"priority": _PRIORITY},
    "Trigger": {"priority": _PRIORITY},
    "Retry": {
        "max_attempts": {"minimum": 1, "maximum": 100},
        "base_s": {"minimum": 0, "maximum": 7 * 86_400},
        "factor": {"minimum": 1, "maximum": 10},
        "max_delay_s": {"minimum": 0, "maximum": 7 * 86_400},
    },
}
"""By the name of the struct and of its field."""


def bind(struct: str, properties: dict[str, Any]) -> None:
    """Where a field may be null, its bounds go to the other alternative."""
    for name, bounds in BOUNDS.get(struct, {}).items():
        schema = properties[name]
        kinds = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
        for part in kinds:
            part.update(bounds)
