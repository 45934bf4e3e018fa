"""Cursors: the key of the last row of a page, opaque to the caller, so that pages stay right while rows change."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, TypeVar

import msgspec

from noonmark.clock import NEVER_US
from noonmark.errors import InvalidInput

MAX_PAGE = 1000
Limit = Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE, description="How many to return at most.")]
Cursor = Annotated[str | None, msgspec.Meta(max_length=1000, description="`next_cursor` of the page before.")]

_Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Instant = Annotated[int, msgspec.Meta(ge=0, le=NEVER_US)]

Row = TypeVar("Row")


class AfterName(msgspec.Struct, frozen=True, array_like=True):
    name: Annotated[str, msgspec.Meta(pattern=r"^[ -~]*$", max_length=200)] = ""


class BeforeInstant(msgspec.Struct, frozen=True, array_like=True):
    instant_us: _Instant = NEVER_US


class BelowVersion(msgspec.Struct, frozen=True, array_like=True):
    version: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 2**31 - 1


class BelowId(msgspec.Struct, frozen=True, array_like=True):
    id: _Id = 2**63 - 1


class AfterId(msgspec.Struct, frozen=True, array_like=True):
    id: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0


class BeforeEntry(msgspec.Struct, frozen=True, array_like=True):
    at_us: _Instant = NEVER_US
    audit_id: _Id = 2**63 - 1


class AfterDead(msgspec.Struct, frozen=True, array_like=True):
    died_us: _Instant = NEVER_US
    job_id: _Id = 0
    nominal_us: _Instant = 0


Key = TypeVar("Key", bound=msgspec.Struct)


def encode_cursor(key: msgspec.Struct) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(key)).rstrip(b"=").decode()


def decode_cursor(cursor: str | None, kind: type[Key]) -> Key:
    """Without one: before the first row."""
    if cursor is None:
        return kind()
    try:
        packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.msgpack.decode(packed, type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise InvalidInput(
            "cursor", "this is no cursor of this list", "pass next_cursor of the page before, unchanged"
        ) from None


def cut(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], bool]:
    """Of limit + 1 rows that were asked for: the page, and whether there is more."""
    return rows[:limit], len(rows) > limit
