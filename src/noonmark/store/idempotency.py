"""Requests by their Idempotency-Key: claimed by one node at a time, and their answers, for a day.

claim ──> None: ours ──> hold … hold ──> keep (the answer is there for whoever asks again)
  │                                  └─> release (nothing to keep: the next one carries it out)
  └────> Earlier: somebody else's request, done or under way
"""

from typing import NamedTuple
from uuid import UUID

from noonmark.store.connect import Pool
from noonmark.store.statement import statement

HELD_S = 30.0
"""A claim that was not renewed for this long belonged to a node that is gone."""
KEPT_S = 86_400.0


class RequestClaim(NamedTuple):
    tenant_id: int
    key: str
    claim: UUID


class Earlier(NamedTuple):
    fingerprint: bytes
    status: int | None
    """None while it is being carried out."""
    headers: str | None
    body: bytes | None


async def claim_request(
    pool: Pool, claim: RequestClaim, fingerprint: bytes, *, held_s: float = HELD_S, kept_s: float = KEPT_S
) -> Earlier | None:
    while True:
        if await pool.fetchval(statement("claim_request"), *claim[:2], fingerprint, claim.claim, held_s, kept_s):
            return None
        row = await pool.fetchrow(statement("read_request"), *claim[:2])
        if row is not None:
            return Earlier(*row)
        # Released between the two statements: it is free again.


async def hold_request(pool: Pool, claim: RequestClaim) -> None:
    await pool.execute(statement("hold_request"), *claim, HELD_S)


async def keep_answer(pool: Pool, claim: RequestClaim, status: int, headers: str, body: bytes | None) -> None:
    await pool.execute(statement("keep_answer"), *claim, status, headers, body)


async def release_request(pool: Pool, claim: RequestClaim) -> None:
    await pool.execute(statement("release_request"), *claim)


async def forget_old_requests(pool: Pool) -> None:
    await pool.execute(statement("forget_old_requests"))
