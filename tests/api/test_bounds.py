"""The bounds in the document are those that the model checks: at each a value is good, and just beyond it is not."""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pytest

from noonmark.api.openapi.bounds import BOUNDS
from noonmark.errors import InvalidInput
from noonmark.model.job import check_name, check_policy, check_priority, check_retry
from noonmark.model.policy import Policy, Retry

CHECKS: dict[str, Callable[[Any], None]] = {
    "name": lambda value: check_name("name", value),
    "queue": lambda value: check_policy(Policy(task="t", queue=value)),
    "task": lambda value: check_policy(Policy(task=value)),
    "priority": check_priority,
    "timeout_s": lambda value: check_policy(Policy(task="t", timeout_s=value)),
    "start_deadline_s": lambda value: check_policy(Policy(task="t", start_deadline_s=value)),
    "max_attempts": lambda value: check_retry(Retry(max_attempts=value)),
    "factor": lambda value: check_retry(Retry(factor=value)),
    "base_s": lambda value: check_retry(Retry(base_s=value, max_delay_s=max(0, min(value, 7 * 86_400)))),
    "max_delay_s": lambda value: check_retry(Retry(max_delay_s=value, base_s=0)),
}
TEXTS = {"name": ("a" * 200, "a" * 201), "queue": ("0.@:_-", "-a"), "task": ("_a:b.c-d", "0a")}
FIELDS = {field: bounds for fields in BOUNDS.values() for field, bounds in fields.items()}


@pytest.mark.parametrize("field", FIELDS)
def test_a_bound_is_the_model_s(field: str) -> None:
    for good, bad in edges(field):
        CHECKS[field](good)
        with pytest.raises(InvalidInput):
            CHECKS[field](bad)


def edges(field: str) -> list[tuple[Any, Any]]:
    if "pattern" in FIELDS[field]:
        pattern = msgspec.json.Decoder(type_with(FIELDS[field]["pattern"]))
        good, bad = TEXTS[field]
        pattern.decode(msgspec.json.encode(good))
        with pytest.raises(msgspec.ValidationError):
            pattern.decode(msgspec.json.encode(bad))
        return [(good, bad)]
    found = []
    for word, value in FIELDS[field].items():
        found.append({
            "minimum": (value, value - 1), "maximum": (value, value + 1), "exclusiveMinimum": (value + 1e-3, value),
        }[word])  # fmt: skip
    return found


def type_with(pattern: str) -> Any:
    return Annotated[str, msgspec.Meta(pattern=pattern)]
