"""Why a run is where it is: every change of state keeps one of these codes, in rows and in answers."""

from enum import IntEnum


class Reason(IntEnum):
    # why a run exists
    SCHEDULED = 1
    CAUGHT_UP = 2
    TRIGGERED = 3
    SUBMITTED = 4
    REDRIVEN = 5
    BACKFILLED = 6
    # why an attempt ended, or the run with it
    SUCCEEDED = 10
    FAILED = 11
    NOT_RETRYABLE = 12
    ATTEMPTS_EXHAUSTED = 13
    TIMED_OUT = 14
    WORKER_LOST = 15
    UNDELIVERED = 16
    RELEASED = 17
    AT_MOST_ONCE = 18
    # why a run never started, or was stopped
    CANCEL_REQUESTED = 20
    CANCELLED = 21
    START_DEADLINE_PASSED = 22
    JOB_PAUSED = 23
    JOB_DELETED = 24
    JOB_CHANGED = 25
    SKIPPED = 26


SENTENCES: dict[Reason, str] = {
    Reason.SCHEDULED: "its schedule named this time",
    Reason.CAUGHT_UP: "its time passed while no node owned the shard, and the job's misfire policy runs it late",
    Reason.TRIGGERED: "somebody asked for it through the API",
    Reason.SUBMITTED: "it was submitted inside an SQL transaction",
    Reason.REDRIVEN: "it was taken back from the dead letters",
    Reason.BACKFILLED: "its time passed without a run, and somebody asked to make up for it",
    Reason.SUCCEEDED: "the task returned",
    Reason.FAILED: "the task raised an error and will be tried again",
    Reason.NOT_RETRYABLE: "the task raised an error that the job does not retry",
    Reason.ATTEMPTS_EXHAUSTED: "the last allowed attempt failed",
    Reason.TIMED_OUT: "the attempt ran longer than the job's timeout",
    Reason.WORKER_LOST: "the worker was silent for longer than its grant",
    Reason.UNDELIVERED: "the grant never reached the worker",
    Reason.RELEASED: "the worker handed it back without running it to the end",
    Reason.AT_MOST_ONCE: "the job runs at most once, and this attempt had begun or may have begun: nobody repeats it",
    Reason.CANCEL_REQUESTED: "somebody asked to cancel it while it was running",
    Reason.CANCELLED: "it was cancelled",
    Reason.START_DEADLINE_PASSED: "it could not start before the job's start deadline",
    Reason.JOB_PAUSED: "its job is paused",
    Reason.JOB_DELETED: "its job was deleted",
    Reason.JOB_CHANGED: "its job was changed before it was due",
    Reason.SKIPPED: "somebody asked to skip this occurrence",
}


PROCESS_DIED = "noonmark.ProcessDied"
"""The type of the error that a worker reports when a task's own process ended before the task did."""


class Outcome(IntEnum):
    """How an attempt ended. Attempt 0 stands for a run that ended without one."""

    SUCCEEDED = 1
    FAILED = 2
    TIMED_OUT = 3
    LOST = 4
    RELEASED = 5
    CANCELLED = 6
    EXPIRED = 7
    WITHDRAWN = 8
