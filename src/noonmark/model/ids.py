"""Ids that say where a thing lives.

A job's id ends in its shard (the low 12 bits), and a run's id is its job's id and nominal time, so every id leads to
its shard without a look-up. A job's shard is a hash of its tenant and name, so the name is unique within one shard.
"""

import hashlib
from functools import lru_cache
from typing import NewType

from noonmark.errors import InvalidInput

TenantId = NewType("TenantId", int)
JobId = NewType("JobId", int)
WorkerId = NewType("WorkerId", int)
GrantId = NewType("GrantId", int)
PolicyId = NewType("PolicyId", int)
ScheduleId = NewType("ScheduleId", int)

RunKey = tuple[JobId, int]
"""(job, nominal time in µs): the identity of a run."""

SHARD_BITS = 12
MAX_SHARDS = 1 << SHARD_BITS
DEFAULT_SHARDS = 512
"""It is set once, so it is enough for a large fleet; a shard with nothing to do costs next to nothing."""
_GRANT_BITS = 30

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_PAIRS = [high + low for high in _DIGITS for low in _DIGITS]
"""A batch of runs is answered with a thousand ids, so they are written two digits at a time."""


def shard_of(job_id: int) -> int:
    return job_id & (MAX_SHARDS - 1)


def job_id_of(sequence: int, shard: int) -> JobId:
    return JobId(sequence << SHARD_BITS | shard)


def is_scheduled(nominal_us: int) -> bool:
    """Whether a schedule names this time: its times are whole milliseconds, and those of submitted runs never are."""
    return nominal_us % 1000 == 0


def submitted_nominal_us(now_us: int, last_us: int) -> int:
    """The nominal time of a run that no schedule names: later than the last such one, and never a whole millisecond."""
    nominal_us = max(now_us, last_us + 1)
    return nominal_us + 1 if is_scheduled(nominal_us) else nominal_us


@lru_cache(maxsize=65_536)
def shard_for(tenant_id: int, name: str, shard_count: int) -> int:
    """The same hash stands in SQL as `noonmark.shard_for`, for submissions made inside a user's transaction."""
    digest = hashlib.md5(f"{tenant_id}/{name}".encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big") % shard_count


def grant_id_of(node_id: int, counter: int) -> GrantId:
    """Unique without asking: a node id is never used twice."""
    return GrantId((node_id << _GRANT_BITS) + counter)


def _encode(number: int) -> str:
    text = ""
    while number:
        number, pair = divmod(number, 1024)
        text = _PAIRS[pair] + text
    return text.lstrip("0") or "0"


def _decode(text: str) -> int:
    number = 0
    for digit in text:
        number = number * 32 + _VALUES[digit]
    return number


def job_text(job_id: int) -> str:
    return f"job_{_encode(job_id)}"


def run_text(key: tuple[int, int]) -> str:
    return f"run_{_encode(key[0])}_{_encode(key[1])}"


def key_text(key_id: int) -> str:
    return f"key_{_encode(key_id)}"


def parse_job(text: str) -> JobId:
    prefix, _, rest = text.partition("_")
    if prefix == "job" and rest and all(digit in _VALUES for digit in rest) and len(rest) <= 12:
        return JobId(_decode(rest))
    raise InvalidInput("job_id", f"{text!r} is not a job id", "use the id that creating the job returned: job_…")


def parse_run(text: str) -> RunKey:
    parts = text.split("_")
    if (
        len(parts) == 3
        and parts[0] == "run"
        and all(p and len(p) <= 12 and set(p) <= _VALUES.keys() for p in parts[1:])
    ):
        return JobId(_decode(parts[1])), _decode(parts[2])
    raise InvalidInput("run_id", f"{text!r} is not a run id", "use the id that listing the runs returned: run_…")


def event_text(node_id: int, counter: int) -> str:
    """Unique without asking, as grants are."""
    return f"evt_{_encode(grant_id_of(node_id, counter))}"


def subscription_text(subscription_id: int) -> str:
    return f"sub_{_encode(subscription_id)}"


def parse_subscription(text: str) -> int:
    """0, which no subscription has, for what is no id of one."""
    body = text.removeprefix("sub_")
    known = text.startswith("sub_") and 0 < len(body) <= 6 and all(digit in _VALUES for digit in body)
    number = _decode(body) if known else 0
    return number if number < 2**31 else 0


def parse_key(text: str) -> int:
    prefix, _, rest = text.partition("_")
    if prefix == "key" and rest and len(rest) <= 6 and set(rest) <= _VALUES.keys():
        return _decode(rest)
    raise InvalidInput(
        "key", f"{text[:80]!r} is not the id of a key", "use the id that listing the keys returned: key_…"
    )
