"""One tree of errors; each carries a stable code, an HTTP status and an exit code.

NoonmarkError
├── InvalidInput          422  the caller's request is wrong; names the field and the fix
│   ├── TooLarge          413  a payload above its bound
│   └── KeyReused         422  an Idempotency-Key that belongs to another request
├── NotFound              404  no such job, run or tenant
├── Conflict              409  the request clashes with the stored state
│   ├── DuplicateName     409  another job of the tenant has this name
│   ├── VersionConflict   412  the job changed since the caller read it
│   ├── JobPaused         409  a paused job starts nothing
│   └── AnswerNotKept     409  a request that was carried out, and whose answer cannot be told again
├── UnknownWorker         410  the node does not know this worker id; register again
├── Unauthorized          401  no key, or one that does not hold (any more)
├── Forbidden             403  the key's role does not reach this far
├── TooBusy               429  a bound was reached; try again after `retry_after_s`
├── Unavailable           503  nothing was done: no owner answers for the shard right now; safe to try again
│   ├── NotOwner          503  this node stopped owning the shard
│   └── DeadlinePassed    503  the request lay too long before the owner came to it
├── OutcomeUnknown        504  it may have been done or not: the answer was lost, or the database's
├── PartlyDone            503  some owners did their part of a batch and others did not
├── RunEnded              409  the run that was waited for is over, and did not succeed (raised by the SDK)
│   ├── RunFailed         409  it used up its attempts
│   ├── RunCancelled      409  it was cancelled, or its job was deleted
│   └── RunExpired        409  it could not start in time
└── SchemaTooNew          500  the database was migrated by a newer, incompatible Noonmark
"""

from typing import ClassVar


class NoonmarkError(Exception):
    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, field: str | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.fix = fix

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        fix = f" ({self.fix})" if self.fix else ""
        return f"{where}{self.message}{fix}"


class InvalidInput(NoonmarkError):
    code, status, exit_code = "invalid_input", 422, 2

    def __init__(self, field: str, message: str, fix: str) -> None:
        super().__init__(message, field=field, fix=fix)


class TooLarge(InvalidInput):
    code, status = "too_large", 413


class KeyReused(InvalidInput):
    code = "idempotency_mismatch"


class NotFound(NoonmarkError):
    code, status, exit_code = "not_found", 404, 3


class Conflict(NoonmarkError):
    code, status, exit_code = "conflict", 409, 4


class DuplicateName(Conflict):
    code = "duplicate_name"


class VersionConflict(Conflict):
    code, status = "version_conflict", 412


class JobPaused(Conflict):
    code = "job_paused"


class AnswerNotKept(Conflict):
    code = "idempotency_not_kept"


class UnknownWorker(NoonmarkError):
    code, status = "unknown_worker", 410


class Unauthorized(NoonmarkError):
    code, status, exit_code = "unauthorized", 401, 5


class Forbidden(NoonmarkError):
    code, status, exit_code = "forbidden", 403, 5


class TooBusy(NoonmarkError):
    code, status, exit_code = "too_busy", 429, 6

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(NoonmarkError):
    code, status, exit_code = "unavailable", 503, 7
    retry_after_s: float = 1.0


class NotOwner(Unavailable):
    code = "not_owner"


class DeadlinePassed(Unavailable):
    code = "deadline_passed"


class OutcomeUnknown(NoonmarkError):
    code, status, exit_code = "outcome_unknown", 504, 7


class PartlyDone(NoonmarkError):
    code, status, exit_code = "partly_done", 503, 7


class SchemaTooNew(NoonmarkError):
    code, exit_code = "schema_too_new", 8


class RunEnded(NoonmarkError):
    code, status, exit_code = "run_ended", 409, 9

    def __init__(
        self,
        message: str,
        *,
        run: str = "",
        state: str = "",
        error: str | None = None,
        field: str | None = None,
        fix: str | None = None,
    ) -> None:
        super().__init__(message, field=field, fix=fix)
        self.run = run
        self.state = state
        self.error = error
        """The error of the last attempt, with its traceback."""


class RunFailed(RunEnded):
    code = "run_failed"


class RunCancelled(RunEnded):
    code = "run_cancelled"


class RunExpired(RunEnded):
    code = "run_expired"


def run_ended(run: str, state: str, why: str, error: str | None) -> RunEnded:
    """The exception for a run that ended in another way than by succeeding."""
    kinds = {"dead": RunFailed, "cancelled": RunCancelled, "withdrawn": RunCancelled, "expired": RunExpired}
    last = f": {error.strip().splitlines()[-1]}" if error and error.strip() else ""
    return kinds.get(state, RunEnded)(f"{run} is {state}, because {why}{last}", run=run, state=state, error=error)
