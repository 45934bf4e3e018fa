"""One tree of errors; each carries a stable code, an HTTP status and an exit code.

NoonmarkError
├── InvalidInput          422  the caller's request is wrong; names the field and the fix
│   └── TooLarge          413  a payload above its bound
├── NotFound              404  no such job, run or tenant
├── Conflict              409  the request clashes with what is stored
│   ├── DuplicateName     409  another job of the tenant has this name
│   ├── VersionConflict   412  the job changed since the caller read it
│   └── JobPaused         409  a paused job starts nothing
├── UnknownWorker         410  the node does not know this worker id; register again
├── Unauthorized          401  no token, or a wrong one
├── TooBusy               429  a bound was reached; try again after `retry_after_s`
├── Unavailable           503  no owner answers for the shard right now; safe to try again
│   └── NotOwner          503  this node stopped owning the shard
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


class UnknownWorker(NoonmarkError):
    code, status = "unknown_worker", 410


class Unauthorized(NoonmarkError):
    code, status, exit_code = "unauthorized", 401, 5


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


class SchemaTooNew(NoonmarkError):
    code, exit_code = "schema_too_new", 8
