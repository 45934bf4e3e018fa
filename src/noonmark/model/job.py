"""A job's definition as its owner writes it, and the checks that need nothing but the definition."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from noonmark.errors import InvalidInput, TooLarge
from noonmark.model.policy import Policy, Retry

MAX_INPUT_BYTES = 64 * 1024
MAX_CATCH_UP = 1000
MAX_CATCH_UP_WINDOW_S = 366 * 86_400
MAX_PRIORITY = 9
DEFAULT_PRIORITY = 5
MAX_LABELS = 20
MAX_LABEL_KEY = 63
MAX_LABEL_VALUE = 255

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}")
_LABEL_KEY = re.compile(rf"[a-z0-9._/-]{{1,{MAX_LABEL_KEY}}}")
_LABEL_VALUE = re.compile(rf"[^\x00-\x1f\x7f]{{0,{MAX_LABEL_VALUE}}}")
_TASK = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,199}")


class Misfire(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The policy for occurrences that passed while no node could fire them."""

    policy: Literal["skip", "once", "all"] = "once"
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_CATCH_UP)] = 100
    """With `all`: at most this many, the latest ones."""
    window_s: Annotated[float, msgspec.Meta(ge=0, le=MAX_CATCH_UP_WINDOW_S)] | None = None
    """An occurrence missed by longer than this is not caught up."""

    @property
    def catch_up(self) -> int:
        return {"skip": 0, "once": 1, "all": self.limit}[self.policy]


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def check_name(field: str, name: str) -> None:
    if not is_name(name):
        raise InvalidInput(
            field,
            f"{name[:80]!r} is not a name",
            "use 1 to 200 letters, digits and . _ : @ -, starting with a letter or digit",
        )


def check_policy(policy: Policy) -> None:
    if not _TASK.fullmatch(policy.task):
        raise InvalidInput("task", f"{policy.task[:80]!r} is not a task name", "use the name given to @app.task")
    check_name("queue", policy.queue)
    if not 0 < policy.timeout_s <= 7 * 86_400:
        raise InvalidInput(
            "timeout_s", f"{policy.timeout_s} is out of bounds", "use above 0 and at most 604800 (7 days)"
        )
    if policy.start_deadline_s is not None and not 0 < policy.start_deadline_s <= 30 * 86_400:
        raise InvalidInput(
            "start_deadline_s", f"{policy.start_deadline_s} is out of bounds", "use above 0, at most 30 days"
        )
    check_retry(policy.retry)


def check_retry(retry: Retry) -> None:
    if not 1 <= retry.max_attempts <= 100:
        raise InvalidInput("retry.max_attempts", f"{retry.max_attempts} is out of bounds", "use 1 to 100")
    if not 0 <= retry.base_s <= retry.max_delay_s:
        raise InvalidInput("retry.base_s", f"{retry.base_s} is out of bounds", "use 0 up to retry.max_delay_s")
    if not 1 <= retry.factor <= 10:
        raise InvalidInput("retry.factor", f"{retry.factor} is out of bounds", "use 1 to 10")
    if not 0 <= retry.max_delay_s <= 7 * 86_400:
        raise InvalidInput("retry.max_delay_s", f"{retry.max_delay_s} is out of bounds", "use at most 604800 (7 days)")


def check_priority(priority: int) -> None:
    if not 0 <= priority <= MAX_PRIORITY:
        raise InvalidInput("priority", f"{priority} is out of bounds", f"use 0 (last) to {MAX_PRIORITY} (first)")


def check_labels(labels: Mapping[str, str]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidInput("labels", f"{len(labels)} labels are too many", f"use up to {MAX_LABELS}")
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            raise InvalidInput(
                "labels", f"{key[:80]!r} is not the key of a label", f"use 1 to {MAX_LABEL_KEY} of a-z 0-9 . _ / -"
            )
        if not _LABEL_VALUE.fullmatch(value):
            raise InvalidInput(
                f"labels.{key}",
                f"{value[:80]!r} is not the value of a label",
                f"use up to {MAX_LABEL_VALUE} characters, none of them control characters",
            )


def label_texts(labels: Mapping[str, str]) -> list[str]:
    """Each as `key` and as `key:value`, which is how they are stored and asked for."""
    return sorted({text for key, value in labels.items() for text in (key, f"{key}:{value}")})


def is_label(text: str) -> bool:
    """`key` or `key:value`."""
    key, _, value = text.partition(":")
    return bool(_LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value))


def check_input(text: str | None, limit_bytes: int = MAX_INPUT_BYTES) -> None:
    if text is not None and len(text) * 4 > limit_bytes and (size := len(text.encode())) > limit_bytes:
        raise TooLarge(
            "input", f"{size} bytes is above the bound of {limit_bytes}", "store it elsewhere and pass a reference"
        )
