"""A list as it is answered: some of it, and the way to the rest."""

from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a longer list; `next_cursor` leads to the rest."""

    items: list[T]
    next_cursor: str | None = None
