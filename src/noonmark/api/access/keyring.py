"""From the key that a request shows to its caller.

    shown ──> known and fresh                    ──> its caller, without a look at the database
          ├─> known, older than REFRESH_S        ──> its caller; meanwhile it is looked up again in the background
          └─> unknown, or older than TRUSTED_S   ──> looked up by its prefix, and its digest compared

Invariants
- A key that was looked up is trusted for at most TRUSTED_S, so one that is revoked or rotated away is refused by every
  node within that time; an expiry that is known is exact. Only while the database cannot be reached is it trusted for
  longer: nothing can be revoked then, and a node that alone lost the database loses its shards within seconds.
- Nothing is kept of a key but a digest; digests are compared in constant time.
- The last use is written by a loop of its own, at most once a minute for each key.

A node with neither a token nor a key in its database is open: everybody is its admin. That holds only on a loopback
address and only until the first key is made.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import asyncpg
import structlog

from noonmark.clock import NEVER_US, monotonic_s
from noonmark.errors import Unauthorized, Unavailable
from noonmark.model.caller import Caller, Role
from noonmark.model.key import prefix_of
from noonmark.node.node import Node
from noonmark.store.keys import KeyRecord, find_key, has_keys, touch_keys

_log = structlog.get_logger("noonmark.api")

TRUSTED_S = 10.0
REFRESH_S = 5.0
_MAX_KEPT = 10_000
_TOUCH_LOOK_S = 5.0
_TOUCH_EVERY_S = 60.0
_AWAY = (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError, Unavailable)

ANYONE = Caller("anyone", Role.ADMIN)
_STATIC = Caller("static token", Role.ADMIN)


class _Known(NamedTuple):
    caller: Caller | None
    """None for a key that is not good."""
    seen_s: float
    good_until_us: int = NEVER_US
    prefix: str = ""


class KeyRing:
    def __init__(
        self, node: Node, token: str | None, *, loopback: bool, elapsed_s: Callable[[], float] = monotonic_s
    ) -> None:
        self._node = node
        self._static = None if token is None else _digest(token.encode())
        self._may_be_open = loopback and token is None
        self._elapsed_s = elapsed_s
        self._known: dict[bytes, _Known] = {}
        self._refreshing: dict[bytes, asyncio.Task[None]] = {}
        self._changes = 0
        """How often keys were changed here: a look-up from before such a change is not kept."""
        self._open_s: float | None = None
        """When it was last seen that there are no keys."""
        self._used_us: dict[int, int] = {}
        self._touched_s: dict[int, float] = {}
        self._touching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._touching = asyncio.create_task(self._keep_touching())

    async def stop(self) -> None:
        if self._touching is not None:
            self._touching.cancel()
            await asyncio.gather(self._touching, *self._refreshing.values(), return_exceptions=True)
            with suppress(Exception):
                await self.touch(all_=True)

    async def caller(self, shown: bytes) -> Caller:
        """The caller of the key in the header; Unauthorized if the key is not good."""
        digest = _digest(shown)
        known = self._known.get(digest)
        now_s = self._elapsed_s()
        if known is None or now_s - known.seen_s > TRUSTED_S:
            if self._static is not None and hmac.compare_digest(digest, self._static):
                return _STATIC
            known = await self._look_up(digest, shown, known)
        elif now_s - known.seen_s > REFRESH_S and digest not in self._refreshing:
            self._refreshing[digest] = asyncio.create_task(self._refresh(digest, shown, known))
        caller = known.caller
        if caller is not None and (known.good_until_us == NEVER_US or self._node.clock.now_us() < known.good_until_us):
            if caller.key_id is not None:
                self._used_us[caller.key_id] = self._node.clock.now_us()
            return caller
        if await self.open():
            return ANYONE
        raise refused()

    async def open(self) -> bool:
        """Whether the node lets everybody in; that it does is said once in its log."""
        if not self._may_be_open:
            return False
        now_s = self._elapsed_s()
        if self._open_s is None:
            if await has_keys(self._node.pool):
                self._may_be_open = False
            elif self._open_s is None:
                _log.warning("this node asks for no key: it has no token, and its database has no keys", fix=_HOW)
                self._open_s = now_s
        elif now_s - self._open_s > REFRESH_S:
            self._open_s = now_s
            with suppress(*_AWAY):
                self._may_be_open = not await has_keys(self._node.pool)
        return self._may_be_open

    def close_door(self) -> None:
        """A key was made here: from now on one is needed."""
        self._may_be_open = False

    def forget(self, prefix: str) -> None:
        """A key was changed here: the next request looks it up."""
        self._changes += 1
        for digest in [digest for digest, known in self._known.items() if known.prefix == prefix]:
            del self._known[digest]

    async def touch(self, *, all_: bool = False) -> None:
        """Writes the last uses of keys whose last write is a minute old."""
        now_s = self._elapsed_s()
        due = {
            key_id: used_us
            for key_id, used_us in self._used_us.items()
            if all_ or now_s - self._touched_s.get(key_id, -_TOUCH_EVERY_S) >= _TOUCH_EVERY_S
        }
        if due:
            await touch_keys(self._node.pool, due)
            for key_id in due:
                self._touched_s[key_id] = now_s
                if self._used_us.get(key_id) == due[key_id]:
                    del self._used_us[key_id]

    async def _keep_touching(self) -> None:
        while True:
            await asyncio.sleep(_TOUCH_LOOK_S)
            try:
                await self.touch()
            except Exception as error:
                _log.warning("the last use of keys could not be written", error=repr(error))

    async def _refresh(self, digest: bytes, shown: bytes, known: _Known) -> None:
        try:
            await self._look_up(digest, shown, known)
        except Exception as error:
            _log.warning("a key could not be looked up again", error=repr(error))
        finally:
            self._refreshing.pop(digest, None)

    async def _look_up(self, digest: bytes, shown: bytes, before: _Known | None) -> _Known:
        prefix = prefix_of(shown.decode("latin-1"))
        seen_s, changes = self._elapsed_s(), self._changes
        if prefix is None:
            return _Known(None, seen_s)
        try:
            record = await find_key(self._node.pool, prefix)
        except _AWAY:
            if before is not None and before.caller is not None:
                return before
            raise
        known = _worth(record, digest, self._node.clock.now_us(), seen_s)
        if changes != self._changes:
            return known
        self._known.pop(digest, None)
        self._known[digest] = known
        if len(self._known) > _MAX_KEPT:
            del self._known[next(iter(self._known))]
        return known


_HOW = "make one: noonmark key create NAME --role admin --database-url …"


def refused() -> Unauthorized:
    """The same for all of them: unknown, wrong, revoked, expired."""
    return Unauthorized(
        "the request shows no key, or one that does not hold",
        field="Authorization",
        fix="send Authorization: Bearer nmk_…",
    )


def _worth(record: KeyRecord | None, digest: bytes, now_us: int, seen_s: float) -> _Known:
    if record is None:
        return _Known(None, seen_s)
    until_us = NEVER_US if record.expires_us is None else record.expires_us
    good = hmac.compare_digest(record.digest, digest)
    if record.old_digest is not None and hmac.compare_digest(record.old_digest, digest) and not good:
        good = True
        until_us = min(until_us, record.old_until_us or 0)
    if not good or record.revoked_us is not None or now_us >= until_us:
        return _Known(None, seen_s, prefix=record.prefix)
    caller = Caller(record.name, Role(record.role), record.tenant_id, record.key_id, tenant=record.tenant)
    return _Known(caller, seen_s, until_us, record.prefix)


def _digest(shown: bytes) -> bytes:
    return hashlib.sha256(shown).digest()
