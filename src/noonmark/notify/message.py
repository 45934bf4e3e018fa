"""A notice in words, for people."""

from typing import Any

import msgspec

from noonmark.model.notice import TYPES

TEST_TYPE = "subscription.test"
_TITLES = {
    TYPES["failed"]: "{job} failed",
    TYPES["dead"]: "{job} is dead: it used up its attempts",
    TYPES["recovered"]: "{job} works again",
    TYPES["late"]: "{job} is late",
    TYPES["silent"]: "{job} is silent",
    TEST_TYPE: "a test from Noonmark",
}
_MAX_ERROR = 1_500


class Words(msgspec.Struct, frozen=True):
    title: str
    text: str
    good: bool
    """News of something that works."""


def words(payload: dict[str, Any]) -> Words:
    job, run, silence = payload.get("job") or {}, payload.get("run") or {}, payload.get("silence") or {}
    title = _TITLES.get(payload["type"], payload["type"]).format(job=job.get("name", "a job"))
    lines = [f"Why: {payload.get('why') or payload.get('reason')}."]
    if payload.get("folded"):
        lines.append(f"And {payload['folded']} more like it since the last notice.")
    if job:
        lines.append(f"Job: {job['name']} ({job['id']}), tenant {payload.get('tenant')}")
    if run:
        lines.append(f"Run: {run['id']}, attempt {run['attempt']}, due {run['due_at']}")
    if run.get("late_s") is not None:
        lines.append(f"Late by {run['late_s']:g} s")
    if silence:
        lines.append(f"Expected by {silence['expected_at']}, last success {silence['last_success_at'] or 'never'}")
    lines.append(f"At: {payload['at']}  Event: {payload['id']}")
    if payload.get("error"):
        error = str(payload["error"]).strip()
        lines.append("\n" + (error if len(error) <= _MAX_ERROR else "…" + error[-_MAX_ERROR:]))
    return Words(f"Noonmark: {title}", "\n".join(lines), payload["type"] in (TYPES["recovered"], TEST_TYPE))
