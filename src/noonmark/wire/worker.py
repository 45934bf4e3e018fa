"""The worker protocol: register, claim, heartbeat, report.

1. `POST /v1/worker/register` names the worker's queues and tasks; the answer holds its id and all nodes. The worker
   presents that id to every node.
2. `POST /v1/worker/claim` waits up to `wait_s` for up to `max` runs. An empty answer has `grant` 0.
3. `POST /v1/worker/heartbeat` at least every `heartbeat_s` to every node, naming the grants that it still holds. A
   grant that the node made but the worker does not name was lost on the way, and its runs are granted again. Before
   that is done with runs that run at most once, the worker is asked (`missing`) and must deny the grant (`never`).
4. `POST /v1/worker/report` ends attempts. An item counts only while its grant and attempt number are the current ones;
   `refused` names the positions of those that were not, `elsewhere` of those that another node decides. Reporting
   again is harmless.

A worker drops an answer to a claim that is more than `MAX_AGE_S` old when it arrives (`now_us`); its runs are granted
again.
A node that does not know the worker id answers 410; the worker registers again with the same id.
Times are microseconds since the Unix epoch by the database's clock; every answer carries `now_us`.
"""

import msgspec

from noonmark.model.reason import Outcome

MAX_AGE_S = 1.0


class Register(msgspec.Struct, frozen=True):
    name: str
    queues: list[str]
    tasks: list[str]
    concurrency: int
    worker: int = 0
    """0 the first time; the id from an earlier answer when registering with a further node."""


class Registered(msgspec.Struct, frozen=True):
    worker: int
    heartbeat_s: float
    silence_s: float
    """After this long without a heartbeat the node grants the worker's runs again."""
    nodes: list[str]
    now_us: int


class Claim(msgspec.Struct, frozen=True):
    worker: int
    max: int
    wait_s: float = 20.0


class Terms(msgspec.Struct, frozen=True):
    """Fields that all runs of one policy share."""

    task: str
    timeout_s: float
    max_attempts: int
    queue: str


class RunGrant(msgspec.Struct, frozen=True, array_like=True, gc=False):
    job_id: int
    nominal_us: int
    attempt: int
    due_us: int
    policy_id: int
    input: str | None


class ClaimAnswer(msgspec.Struct, frozen=True):
    grant: int
    runs: list[RunGrant]
    terms: dict[int, Terms]
    now_us: int


class Heartbeat(msgspec.Struct, frozen=True, omit_defaults=True):
    worker: int
    grants: list[int]
    sent_us: int = 0
    """When it was sent: one that was long on its way is a sign of life, but says nothing of newer grants."""
    never: list[int] = []
    """Those of the last answer's `missing` that the worker never had; if they come now, it drops them."""


class HeartbeatAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    cancel: list[tuple[int, int]]
    """Runs (job_id, nominal_us) to stop."""
    lost: list[int]
    """Grants that are no longer the worker's: abandon their runs, report nothing."""
    nodes: list[str]
    now_us: int
    missing: list[int] = []
    """Grants that the worker did not name, with runs that must not begin twice: it is to say if it never had them."""


class ReportItem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    grant: int
    job_id: int
    nominal_us: int
    attempt: int
    outcome: Outcome
    """SUCCEEDED, FAILED, TIMED_OUT, RELEASED or CANCELLED."""
    started_us: int | None
    finished_us: int
    error_type: str | None = None
    """`module.Type` of the exception, for the job's no_retry list; subclasses are named too, separated by spaces."""
    error: str | None = None
    result: str | None = None


class Report(msgspec.Struct, frozen=True):
    worker: int
    items: list[ReportItem]


class ReportAnswer(msgspec.Struct, frozen=True):
    refused: list[int]
    """Positions of items whose grant or attempt is no longer current: the worker forgets them."""
    elsewhere: list[int]
    """Positions of items whose shard another node owns: the worker reports them there."""
    now_us: int
