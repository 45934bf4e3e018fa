"""Reads waiting runs back into memory: all of a shard after a takeover, later those for which there was no room."""

from collections.abc import Awaitable, Callable
from functools import partial

from noonmark.node.life import Life
from noonmark.shard.backlog import PageRequest
from noonmark.store.pages import page_runs


def next_page(life: Life) -> Callable[[], Awaitable[None]] | None:
    """The committer asks together with taking the outbox, and reads when that is committed."""
    page = life.owner.backlog.next_page()
    return None if page is None else partial(_read, life, page)


async def _read(life: Life, page: PageRequest) -> None:
    if page.shard not in life.terms:
        return
    watermark_us = life.owner.watermarks[page.shard]
    policies = [] if page.lane is None else life.policies_of(page.lane[1])
    rows = await page_runs(life.connection, page, watermark_us, policies)
    await life.know_policies(life.connection, {row.policy_id for row in rows})
    life.owner.paged(page, rows, life.clock.now_us())
    life.committer.wake()
