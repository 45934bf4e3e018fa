"""A task as the SDK and the worker know it: its function, and the terms on which it runs."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

from noonmark.client.signature import Signature
from noonmark.model.policy import Retry

Mode = Literal["async", "thread", "process"]


class Definition:
    def __init__(
        self, function: Callable[..., Any], name: str, mode: Mode, queue: str, timeout_s: float, retry: Retry
    ) -> None:
        self.function = function
        self.name = name
        self.mode: Mode = mode
        self.queue = queue
        self.timeout_s = timeout_s
        self.retry = retry
        self.signature = Signature(name, function)

    @cached_property
    def convert(self) -> Signature | None:
        """For the worker, if it has anything to convert before it calls the function."""
        return self.signature if self.signature.converts else None

    @property
    def standing_job(self) -> str:
        """The job whose runs the submissions are: it only runs when asked to."""
        return f"task:{self.name}"
