"""How a run is carried out. Policies are interned: ten million jobs share few distinct ones."""

from typing import Literal

import msgspec


class Retry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Exponential backoff with full jitter: attempt n waits a random time up to base_s * factor ** (n - 1)."""

    max_attempts: int = 5
    base_s: float = 2.0
    factor: float = 2.0
    max_delay_s: float = 3600.0
    no_retry: tuple[str, ...] = ()
    """Names of exception types that must not be retried: `ValueError` or `mypackage.errors.Fatal`."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    task: str
    queue: str = "default"
    timeout_s: float = 3600.0
    start_deadline_s: float | None = None
    retry: Retry = Retry()
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    """At most once: an attempt that may have begun and whose end nobody told is never repeated, whatever ended it; the
    run becomes a dead letter. An error that the task raised, and a timeout, are retried as `retry` says."""
    fixed_delay: bool = msgspec.field(default=False, name="chained")
    """The schedule is a fixed delay: the end of such a run is followed by the next one. Stored under its first name."""

    @property
    def at_most_once(self) -> bool:
        return self.delivery == "at_most_once"

    @property
    def kind(self) -> tuple[str, str]:
        """Queue and task: a worker that serves both can be granted such a run."""
        return (self.queue, self.task)
