"""The owner's answers to workers, and the shape of their reports."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from noonmark.model.ids import GrantId, RunKey
from noonmark.shard.live_run import LiveRun
from noonmark.shard.verdict import AttemptEnd


class Granted(NamedTuple):
    """The answer to a claim: an empty one has no runs."""

    grant_id: GrantId
    runs: Sequence[LiveRun]


class Heartbeaten(NamedTuple):
    """The answer to a heartbeat: runs to stop, grants that the worker lost, and grants that it should have named."""

    cancel: list[RunKey]
    lost: list[int]
    missing: list[int]


class Reported(NamedTuple):
    """Positions of the items that were not the current attempt, and of those that another node decides."""

    refused: list[int]
    elsewhere: list[int]


class ReportedAttempt(AttemptEnd, Protocol):
    @property
    def grant(self) -> int: ...
    @property
    def job_id(self) -> int: ...
    @property
    def nominal_us(self) -> int: ...
    @property
    def attempt(self) -> int: ...
