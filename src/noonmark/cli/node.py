"""`noonmark node`: starts one node until a signal stops it; lists the others."""

import asyncio
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from noonmark.cli.fleet import list_nodes, list_shards
from noonmark.cli.groups import Starting
from noonmark.cli.logs import FormatOption, LevelOption, LogFormat, LogLevel, set_up_logs
from noonmark.errors import NoonmarkError, Unavailable
from noonmark.model.ids import DEFAULT_SHARDS

if TYPE_CHECKING:
    from noonmark.cli.processes.inheritance import Inheritance
    from noonmark.node.config import NodeConfig

READS_OF_A_NODE, READS_OF_A_PROCESS = 4, 2
"""Connections for reads: a node of several processes has enough of them with few each."""

DatabaseUrl = Annotated[
    str, typer.Option("--database-url", envvar="NOONMARK_DATABASE_URL", metavar="URL", help="postgresql://…")
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Shards = Annotated[int, typer.Option("--shards", min=1, help="Set once, when the schema is installed.")]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        envvar="NOONMARK_PROCESSES",
        min=1,
        max=256,
        help="How many processes the node is; one for each core unless you say otherwise.",
        show_default=False,
    ),
]
ProcessPorts = Annotated[
    str | None,
    typer.Option(
        "--process-ports",
        envvar="NOONMARK_PROCESS_PORTS",
        metavar="7172-7179",
        help="Where workers and other nodes reach each process; any free ones unless you say otherwise.",
    ),
]
Token = Annotated[
    str | None, typer.Option("--token", envvar="NOONMARK_TOKEN", help="What callers and workers must show.")
]


nodes = typer.Typer(cls=Starting, help="Run a node, or see which ones there are.")
nodes.command("list")(list_nodes)
nodes.command("shards")(list_shards)


@nodes.command("start")
def node(
    database_url: DatabaseUrl,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 7171,
    advertise: Annotated[
        str | None, typer.Option(metavar="URL", help="Where others reach this node, if not at http://host:port.")
    ] = None,
    token: Token = None,
    shards: Shards = DEFAULT_SHARDS,
    processes: Processes = None,
    process_ports: ProcessPorts = None,
    private_webhooks: Annotated[
        bool,
        typer.Option(
            "--private-webhooks",
            envvar="NOONMARK_PRIVATE_WEBHOOKS",
            help="Let notifications go to addresses that are not on the public internet.",
        ),
    ] = False,
    log_format: FormatOption = LogFormat.CONSOLE,
    log_level: LevelOption = LogLevel.INFO,
) -> None:
    """Run one node: API, ticking, dispatch. The first signal hands its shards over, a second one ends it at once.

    `start` may be left out.
    """
    import uvloop

    from noonmark.cli.processes.cores import usable_cores
    from noonmark.cli.processes.inheritance import inherit
    from noonmark.node.config import NodeConfig

    inheritance = inherit()
    set_up_logs(log_format, log_level, inheritance.number if inheritance else 0)
    config = NodeConfig(
        database_url=database_url,
        host=host,
        port=port,
        advertise=advertise,
        token=token,
        shards=shards,
        private_webhooks=private_webhooks,
        process=inheritance.number if inheritance else 0,
        public_address=inheritance.public_address if inheritance else None,
        pool_size=READS_OF_A_PROCESS if inheritance else READS_OF_A_NODE,
    )
    processes = processes or usable_cores()
    if processes > 1:
        options = ["--shards", str(shards), "--log-format", log_format.value, "--log-level", log_level.value]
        uvloop.run(_supervise(config, processes, process_ports, [*options, *["--private-webhooks"] * private_webhooks]))
    else:
        uvloop.run(_serve(config, inheritance))


async def _supervise(config: "NodeConfig", processes: int, ports: str | None, options: list[str]) -> None:
    import structlog

    from noonmark.cli.child import ChildFailed
    from noonmark.cli.processes.ports import listen, parse_ports, reserve
    from noonmark.cli.processes.supervise import make_processes, supervise

    reserved = reserve(config.host, parse_ports(ports, processes))
    public = listen(config.host, config.port)
    await reach_database(config.database_url, patient=True)
    try:
        await supervise(make_processes(config, public, reserved, options), public)
    except ChildFailed as error:
        structlog.get_logger("noonmark.node").error("the node failed", error=str(error))
        raise typer.Exit(error.exit_status) from None


async def _serve(config: "NodeConfig", inheritance: "Inheritance | None") -> None:
    import structlog

    from noonmark.api.server import serve
    from noonmark.cli.lifeline import hold_lifeline
    from noonmark.cli.processes.inheritance import take_up

    await reach_database(config.database_url, patient=True)
    stop = asyncio.Event()
    serving = asyncio.ensure_future(serve(config, stop, take_up(inheritance) if inheritance else None))

    def on_signal() -> None:
        if stop.is_set():
            serving.cancel()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    hold_lifeline()
    try:
        await serving
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    except NoonmarkError:
        structlog.get_logger("noonmark.node").debug("the node failed", exc_info=True)
        raise  # it is told in one line
    except Exception:
        structlog.get_logger("noonmark.node").exception("the node failed")
        raise typer.Exit(1) from None


async def reach_database(url: str, *, patient: bool) -> None:
    """One connection, so that an error in the address shows early and clearly.

    A patient caller goes on if the server is only away, because it waits for it by itself.
    """
    import asyncpg

    away = (OSError, TimeoutError, asyncpg.PostgresConnectionError, asyncpg.CannotConnectNowError)
    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (*away, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        if patient and isinstance(error, away):
            return
        why = str(error) or type(error).__name__
        raise Unavailable(
            f"cannot connect: {why}", field="--database-url", fix="is PostgreSQL running, and is the address right?"
        ) from error
    await connection.close()
