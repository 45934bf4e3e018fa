"""Commands to the owner of a job, as values: they are carried out here, or travel to the node that owns the shard.

Every command carries its caller, its tenant, until when it is worth carrying out (by the database's clock), and the
key of its request, if it has one. A batch has items, each of which leads to a shard; its answer is a list in the order
of its items, and a part of it is a batch again. Any other command has one shard and one answer.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from noonmark.model.caller import Caller
from noonmark.model.ids import JobId, RunKey, job_text, parse_job, run_text, shard_for, shard_of
from noonmark.wire.resources import JobPatch, JobSpec, Submission

Answer = TypeVar("Answer")
Each = TypeVar("Each")


class RequestKey(msgspec.Struct, frozen=True):
    """The Idempotency-Key of a request, and a digest of all that the request says."""

    text: str
    fingerprint: bytes


class Command(msgspec.Struct, Generic[Answer], frozen=True, kw_only=True, tag=True, tag_field="command"):
    tenant_id: int
    caller: Caller
    deadline_us: int
    """Past this it is dropped, and nothing was done."""
    key: RequestKey | None = None

    def shards(self, shard_count: int) -> list[int]:
        """Those of the items, in their order; one, if it is no batch."""
        raise NotImplementedError

    def part(self, positions: Sequence[int]) -> "Command[Any]":
        """Of a batch: the same with those of its items alone."""
        return self

    def label(self, position: int) -> str:
        """Names an item to its caller."""
        return str(position)


class BatchCommand(Command[list[Each]], Generic[Each], frozen=True, kw_only=True):
    """`items` is the name of the field that holds them."""

    items: ClassVar[str]

    def part(self, positions: Sequence[int]) -> "BatchCommand[Each]":
        whole = getattr(self, self.items)
        return replace(self, **{self.items: [whole[position] for position in positions]})


class OfJob(Command[Answer], Generic[Answer], frozen=True, kw_only=True):
    job_id: JobId

    def shards(self, shard_count: int) -> list[int]:
        return [shard_of(self.job_id)]

    def label(self, position: int) -> str:
        return job_text(self.job_id)


class OfRun(Command[Answer], Generic[Answer], frozen=True, kw_only=True):
    run: RunKey

    def shards(self, shard_count: int) -> list[int]:
        return [shard_of(self.run[0])]

    def label(self, position: int) -> str:
        return run_text(self.run)


class OfJobs(BatchCommand[Each], Generic[Each], frozen=True, kw_only=True):
    items = "job_ids"
    job_ids: list[JobId]

    def shards(self, shard_count: int) -> list[int]:
        return [shard_of(job_id) for job_id in self.job_ids]

    def label(self, position: int) -> str:
        return job_text(self.job_ids[position])


class OfRuns(BatchCommand[Each], Generic[Each], frozen=True, kw_only=True):
    items = "runs"
    runs: list[RunKey]

    def shards(self, shard_count: int) -> list[int]:
        return [shard_of(job_id) for job_id, _ in self.runs]

    def label(self, position: int) -> str:
        return run_text(self.runs[position])


class OfSpecs(BatchCommand[Each], Generic[Each], frozen=True, kw_only=True):
    items = "specs"
    specs: list[JobSpec]

    def shards(self, shard_count: int) -> list[int]:
        return [shard_for(self.tenant_id, spec.name, shard_count) for spec in self.specs]

    def label(self, position: int) -> str:
        return f"jobs[{position}] {self.specs[position].name}"


# Answers ----------------------------------------------------------------------------------------------------------


class Refusal(msgspec.Struct, frozen=True):
    """Why one job of several is not as was asked for."""

    code: str
    detail: str


class AppliedTo(msgspec.Struct, frozen=True):
    """The result for a definition that was declared."""

    job_id: JobId | None
    """None for a job that would be created."""
    outcome: Literal["created", "changed", "unchanged"]


class SubmittedRun(msgspec.Struct, frozen=True):
    """A run as it stood when it was committed, so that it need not be read again."""

    job_id: JobId
    nominal_us: int
    due_us: int
    version: int
    priority: int
    reason: int
    job_name: str


class Backfilled(msgspec.Struct, frozen=True):
    """The results for the occurrences of a range in the past."""

    made_us: list[int]
    """Nominal times of the new runs; in a dry run, of those that would be made."""
    known: int
    """Occurrences that have or had a run."""
    next_us: int | None
    """Where to go on, if the range has more occurrences than were looked at."""


class StoppedCounts(msgspec.Struct, frozen=True):
    cancelled: int
    """Waited, and have ended."""
    stopping: int
    """Run, and were asked to stop."""


# Jobs -------------------------------------------------------------------------------------------------------------


class CreateJobs(OfSpecs[JobId], frozen=True):
    """All of them, or none; a name that is taken is refused."""


class ApplyJobs(OfSpecs[AppliedTo], frozen=True, kw_only=True):
    """Each is made if it is missing, changed if it differs, else left alone."""

    dry_run: bool = False
    expected_version: int | None = None
    """Of the one job that is declared: anything else is refused."""
    create_only: bool = False


class PatchJob(OfJob[None], frozen=True, kw_only=True):
    patch: JobPatch
    expected_version: int | None = None


class ReplaceJob(OfJob[None], frozen=True, kw_only=True):
    """The job gets exactly this definition, as a new version."""

    spec: JobSpec
    expected_version: int | None = None


class PauseJobs(OfJobs[Refusal | None], frozen=True):
    """None of their runs starts from now on; running ones go on."""


class ResumeJobs(OfJobs[Refusal | None], frozen=True):
    """They fire again, and their parked runs go on."""


class DeleteJobs(OfJobs[Refusal | None], frozen=True, kw_only=True):
    """Their waiting runs are withdrawn, their running ones asked to stop."""

    expected_version: int | None = None
    """Of the one job that is deleted: anything else is refused."""


class SkipFire(OfJob[RunKey], frozen=True, kw_only=True):
    """The next occurrence, or the named one, never fires."""

    nominal_us: int | None = None


class UnskipFire(OfJob[RunKey], frozen=True, kw_only=True):
    """Takes a skip back whose time is to come."""

    nominal_us: int | None = None


class BackfillJob(OfJob[Backfilled], frozen=True, kw_only=True):
    """Runs for occurrences of the past that have none; the first `limit` of [from, to] are looked at."""

    from_us: int
    to_us: int
    limit: int
    dry_run: bool = False


# Runs -------------------------------------------------------------------------------------------------------------


class SubmitRuns(BatchCommand[RunKey], frozen=True, kw_only=True):
    """New runs, or those that deduplication keys lead to."""

    items = "submissions"
    submissions: list[Submission]

    def shards(self, shard_count: int) -> list[int]:
        known = {ref: _shard_of_ref(self.tenant_id, ref, shard_count) for ref in {one.job for one in self.submissions}}
        return [known[one.job] for one in self.submissions]

    def label(self, position: int) -> str:
        return f"runs[{position}]"


class SubmitRun(Command[SubmittedRun], frozen=True, kw_only=True):
    """One run without a deduplication key."""

    submission: Submission

    def shards(self, shard_count: int) -> list[int]:
        return [_shard_of_ref(self.tenant_id, self.submission.job, shard_count)]


class CancelRun(OfRun[None], frozen=True):
    """A waiting run ends now; a running one is asked to stop."""


class RetryRun(OfRun[None], frozen=True):
    """One that waits out its backoff is due now, a dead one is taken back; Conflict for any other."""


class CancelRuns(OfJob[StoppedCounts], frozen=True):
    """All live runs of a job."""


class RedriveRuns(OfRuns[bool], frozen=True):
    """Dead letters become runs again; whether each was one."""


class DiscardRuns(OfRuns[bool], frozen=True):
    """Dead letters are removed for good; whether each was one."""


AnyCommand = (
    CreateJobs
    | ApplyJobs
    | PatchJob
    | ReplaceJob
    | PauseJobs
    | ResumeJobs
    | DeleteJobs
    | SkipFire
    | UnskipFire
    | BackfillJob
    | SubmitRuns
    | SubmitRun
    | CancelRun
    | RetryRun
    | CancelRuns
    | RedriveRuns
    | DiscardRuns
)

ANSWERS: dict[type[Command[Any]], Any] = {
    CreateJobs: list[JobId],
    ApplyJobs: list[AppliedTo],
    PatchJob: None,
    ReplaceJob: None,
    PauseJobs: list[Refusal | None],
    ResumeJobs: list[Refusal | None],
    DeleteJobs: list[Refusal | None],
    SkipFire: RunKey,
    UnskipFire: RunKey,
    BackfillJob: Backfilled,
    SubmitRuns: list[RunKey],
    SubmitRun: SubmittedRun,
    CancelRun: None,
    RetryRun: None,
    CancelRuns: StoppedCounts,
    RedriveRuns: list[bool],
    DiscardRuns: list[bool],
}
"""The type of each command's answer, to read it back from bytes."""


def _shard_of_ref(tenant_id: int, ref: str, shard_count: int) -> int:
    """`ref` is a job's id or its name; both lead to its shard."""
    return shard_of(parse_job(ref)) if ref.startswith("job_") else shard_for(tenant_id, ref, shard_count)
