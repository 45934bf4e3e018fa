"""/v1/jobs/{ref}/versions: every definition that a job has had, the difference of two, and the way back."""

from typing import Annotated, Any

import msgspec

from noonmark.api.bodies import JobVersion, JobVersionPage
from noonmark.api.call import Call
from noonmark.api.dispatch.answer import Response
from noonmark.api.middleware.etags import expected_version
from noonmark.api.middleware.pages import BelowVersion, Cursor, Limit, cut, decode_cursor, encode_cursor
from noonmark.api.routes.job_answers import reread, tagged
from noonmark.api.routes.jobs import IfMatch
from noonmark.clock import to_datetime
from noonmark.errors import NotFound
from noonmark.model.ids import JobId
from noonmark.store.reads.jobs import VersionRecord, fetch_job_versions, list_job_versions
from noonmark.wire.commands import ReplaceJob
from noonmark.wire.jobs import Difference, Rollback, VersionDiff
from noonmark.wire.resources import Job, JobSpec

Version = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1, description="The number of a version.")]


async def list_versions(ref: str, call: Call, limit: Limit = 100, cursor: Cursor = None) -> JobVersionPage:
    """The definitions that the job has had, newest first."""
    job_id = (await call.job(ref)).job_id
    below = decode_cursor(cursor, BelowVersion).version
    rows, more = cut(await list_job_versions(call.node.pool, job_id, below=below, limit=limit + 1), limit)
    return JobVersionPage(list(map(_shown, rows)), encode_cursor(BelowVersion(rows[-1].version)) if more else None)


async def read_version(ref: str, version: Version, call: Call) -> JobVersion:
    """The definition that the job had in one version."""
    return _shown((await _versions(call, (await call.job(ref)).job_id, version))[0])


async def diff_versions(ref: str, before: Version, after: Version, call: Call) -> VersionDiff:
    """The differences of two versions, field by field; an input is compared as a whole."""
    old, new = await _versions(call, (await call.job(ref)).job_id, before, after)
    return VersionDiff(before=before, after=after, differences=differences(_plain(old), _plain(new)))


async def roll_back(ref: str, data: Rollback, call: Call, if_match: IfMatch = None) -> Response[Job]:
    """Gives the job the definition of an earlier version, as a new version."""
    expected = expected_version(if_match)
    record = await call.job(ref)
    job_id = record.job_id
    [row] = await _versions(call, job_id, data.version)
    spec = msgspec.json.decode(row.spec, type=JobSpec)
    standing = {spec.name: msgspec.json.decode(record.spec, type=JobSpec)}
    await call.validator.check_jobs([spec], call.now_us, "", standing)
    await call.perform(ReplaceJob(**call.asked(), job_id=job_id, spec=spec, expected_version=expected))
    return tagged(await reread(call, job_id))


def differences(before: Any, after: Any, path: str = "") -> list[Difference]:
    """Objects are compared key by key, anything else as a whole."""
    if isinstance(before, dict) and isinstance(after, dict) and path != "input":
        found: list[Difference] = []
        for key in dict.fromkeys((*before, *after)):
            found += differences(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
        return found
    return [] if before == after else [Difference(path=path, before=before, after=after)]


def _shown(row: VersionRecord) -> JobVersion:
    return JobVersion(row.version, to_datetime(row.created_us), msgspec.Raw(row.spec))


def _plain(row: VersionRecord) -> Any:
    """With defaults for fields that did not exist at the time, so that a new field is no difference."""
    return msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(row.spec, type=JobSpec)))


async def _versions(call: Call, job_id: JobId, *versions: int) -> list[VersionRecord]:
    found = await fetch_job_versions(call.node.pool, job_id, versions)
    for version in versions:
        if version not in found:
            raise NotFound(
                f"the job has no version {version}", field="version", fix="list them: GET /v1/jobs/{job}/versions"
            )
    return [found[version] for version in versions]
