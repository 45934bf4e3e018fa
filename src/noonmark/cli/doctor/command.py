"""The command: asks the server, each node and its own clock, and shows what the checks say."""

import asyncio
from typing import Annotated, Any

import typer

from noonmark.cli.doctor.checks import Check, Facts, judge, worst
from noonmark.cli.exits import Exit
from noonmark.cli.one_node import by_node
from noonmark.cli.session import Api, watches
from noonmark.clock import SECOND_US, own_time_us, to_datetime
from noonmark.errors import NoonmarkError, Unavailable
from noonmark.schedule.zones import tz_version
from noonmark.version import __version__
from noonmark.wire.doctor import NodeFacts

NODE_ANSWERS_WITHIN_S = 5.0
_EXITS = {"ok": 0, "warn": int(Exit.DIFFERENT), "fail": int(Exit.UNHEALTHY)}


@watches
async def doctor(
    api: Api,
    database_url: Annotated[
        str | None,
        typer.Option(
            "--database-url", envvar="NOONMARK_DATABASE_URL", metavar="URL", help="To look at it if no node answers."
        ),
    ] = None,
) -> None:
    """Check the installation and say what to do. Ends with 0 if all is well, 10 for warnings, 11 for failures."""
    try:
        checks = judge(await gather_facts(api))
    except Unavailable as error:
        checks = [Check("server", "fail", error.message, error.fix or "is the node running?")]
        if database_url is not None:
            checks.append(await _database_alone(database_url))
    grade = worst(checks)
    api.show({"grade": grade, "checks": checks}, lambda: _drawn(checks))
    if not api.screen.watching:
        raise typer.Exit(_EXITS[grade])


async def gather_facts(api: Api) -> Facts:
    before_us = own_time_us()
    examination = await api.client.examine()
    after_us = own_time_us()
    nodes, workers = await asyncio.gather(api.client.nodes(), api.client.workers())
    others: list[NodeFacts] = []
    unreached: list[str] = []

    async def ask(address: str) -> None:
        try:
            async with asyncio.timeout(NODE_ANSWERS_WITHIN_S), api.connect(address) as client:
                others.append(await client.examine_node())
        except (NoonmarkError, OSError, TimeoutError):
            unreached.append(address)

    # Any process answers for its node, at the address that is open to users.
    asked = examination.node.address
    others_of = [node for node in by_node(nodes) if asked not in {process.address for process in node.processes}]
    await asyncio.gather(*(ask(node.address) for node in others_of))
    offset_s = (to_datetime((before_us + after_us) // 2) - examination.database.now).total_seconds()
    return Facts(
        examination=examination,
        nodes=nodes,
        workers=workers,
        others=others,
        unreached=unreached,
        client_version=__version__,
        client_tz_version=tz_version(),
        client_offset_s=offset_s,
        client_error_s=(after_us - before_us) / 2 / SECOND_US,
    )


async def _database_alone(url: str) -> Check:
    from noonmark.cli.node import reach_database

    try:
        await reach_database(url, patient=False)
    except Unavailable as error:
        return Check("database", "fail", error.message, error.fix or "")
    return Check("database", "ok", "it can be reached: the node is what is missing")


def _drawn(checks: list[Check]) -> Any:
    from noonmark.cli.show import table

    return table(
        ["check", "", "figure", "what to do"],
        [(check.name, check.grade, check.figure, check.advice) for check in checks],
    )
