"""The measurements behind the decision records: each compares the way taken with the way left, in one run.

`python -m bench.choices` prints one line for each: fence (ADR 2), wake-up (ADR 3), key (ADR 4).
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from noonmark.embedded import temporary_postgres
from noonmark.store.connect import OWNER_SETTINGS, Connection, connect
from noonmark.store.migrate import migrate

REPEATS = 5
TRANSACTIONS = 1_000


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    started = time.monotonic()
    await work()
    return time.monotonic() - started


async def _compare(name: str, unit: str, per: int, ways: dict[str, Callable[[], Awaitable[None]]]) -> None:
    """Interleaved, so that a noisy machine is noisy for both."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(REPEATS):
        for way, work in ways.items():
            seconds[way].append(await _timed(work))
    for way, taken in seconds.items():
        scaled = [1e6 * one / per for one in taken]
        print(f"{name:8} {way:44} {statistics.median(scaled):9.1f} [{min(scaled):.1f}..{max(scaled):.1f}] µs {unit}")


async def fence(connection: Connection) -> None:
    """The proof at the head of a transaction: one node row, or every owned shard's row."""
    node_id = await connection.fetchval(
        "INSERT INTO noonmark.node (address, version, lease_until) VALUES ('', '', now()) RETURNING node_id"
    )
    await connection.execute("UPDATE noonmark.shard SET owner = $1", node_id)
    terms = "SELECT count(*) FROM (SELECT 1 FROM noonmark.shard WHERE owner = $1 FOR SHARE) s"

    async def one_row() -> None:
        for _ in range(TRANSACTIONS):
            await connection.execute(f"BEGIN; SELECT noonmark.fence({node_id})")
            await connection.execute("COMMIT")

    async def all_rows() -> None:
        for _ in range(TRANSACTIONS):
            await connection.execute("BEGIN")
            await connection.fetchval(terms, node_id)
            await connection.execute("COMMIT")

    await _compare(
        "fence",
        "a transaction",
        TRANSACTIONS,
        {"key-share lock on the node's row": one_row, "share locks on its 64 shard rows": all_rows},
    )


async def wake_up(url: str, connection: Connection) -> None:
    """What a submission costs the user's own commit, eight connections at a time: polling against NOTIFY."""
    connections = [await connect(url) for _ in range(8)]
    insert = "INSERT INTO noonmark.inbox (shard, job_id, has_input) VALUES (0, 1, false)"

    def commits(*statements: str) -> Callable[[], Awaitable[None]]:
        async def one(user: Connection) -> None:
            for _ in range(TRANSACTIONS // 8):
                async with user.transaction():
                    for statement in statements:
                        await user.execute(statement)

        async def all_of_them() -> None:
            await asyncio.gather(*map(one, connections))
            await connection.execute("TRUNCATE noonmark.inbox")

        return all_of_them

    ways = {"insert, the owner polls": commits(insert), "insert and NOTIFY": commits(insert, "NOTIFY bell")}
    await _compare("wake-up", "a commit", TRANSACTIONS, ways)

    async def polls() -> None:
        for _ in range(TRANSACTIONS):
            await connection.fetchval(
                "SELECT EXISTS (SELECT FROM noonmark.inbox WHERE shard = ANY ($1::smallint[]))", list(range(64))
            )

    await _compare("wake-up", "a poll of an empty inbox", TRANSACTIONS, {"64 shards, 20 polls a second a node": polls})
    for user in connections:
        await user.close()


async def key(connection: Connection) -> None:
    """Making and ending 100,000 runs with the one key that also serves paging, and with a second index for that."""
    rows = 100_000
    insert = f"""
        INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason)
        SELECT i % 64, now() + i * interval '1 microsecond', i, now(), 1, 1, 1, 5, 1
        FROM generate_series(1, {rows}) i"""

    def make_and_end(second_index: bool) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            await connection.execute("TRUNCATE noonmark.run")
            if second_index:
                await connection.execute("CREATE INDEX run_by_job ON noonmark.run (shard, job_id, nominal_at)")
            started = time.monotonic()
            await connection.execute(insert)
            await connection.execute("DELETE FROM noonmark.run")
            inside.append(time.monotonic() - started)
            await connection.execute("DROP INDEX IF EXISTS noonmark.run_by_job")

        return work

    inside: list[float] = []
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(REPEATS):
        for second in (False, True):
            await make_and_end(second)()
            taken[second].append(1e6 * inside.pop() / rows)
    for second, scaled in taken.items():
        way = "with a second index by job" if second else "key (shard, nominal_at, job_id) alone"
        spread = f"[{min(scaled):.2f}..{max(scaled):.2f}]"
        print(f"{'key':8} {way:44} {statistics.median(scaled):9.2f} {spread} µs a run made and ended")


async def main(url: str) -> None:
    connection = await connect(url)
    await migrate(connection)
    await fence(connection)
    await wake_up(url, connection)
    await key(connection)
    await connection.close()
    owner = await connect(url, OWNER_SETTINGS)
    for name in ("server_version", "fsync", "synchronous_commit", "full_page_writes"):
        print(f"{name} = {await owner.fetchval(f'SHOW {name}')}")
    await owner.close()


if __name__ == "__main__":
    with temporary_postgres() as server:
        asyncio.run(main(server.url))
