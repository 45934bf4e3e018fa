"""The command: options in, a running Noonmark out."""

import asyncio
import signal
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from noonmark.cli.node import Host, Processes, Shards, Token
from noonmark.errors import NoonmarkError
from noonmark.model.ids import DEFAULT_SHARDS


def up(
    data_dir: Annotated[
        Path, typer.Option(envvar="NOONMARK_DATA_DIR", file_okay=False, help="Where the data and the logs are kept.")
    ] = Path(".noonmark"),
    database_url: Annotated[
        str | None,
        typer.Option(envvar="NOONMARK_DATABASE_URL", metavar="URL", help="Use this PostgreSQL instead of our own."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the API; 0 takes any free one.")] = 7171,
    workers: Annotated[int, typer.Option(min=0, help="How many worker processes.")] = 1,
    no_sample: Annotated[bool, typer.Option("--no-sample", help="Make no sample job.")] = False,
    token: Token = None,
    shards: Shards = DEFAULT_SHARDS,
    processes: Processes = None,
) -> None:
    """Start PostgreSQL, a node and a worker, with a sample job. Ctrl-C stops them; the data stays."""
    from noonmark.cli.processes.cores import usable_cores
    from noonmark.cli.show import console
    from noonmark.cli.up.conduct import Conductor, Settings
    from noonmark.cli.up.database import Database
    from noonmark.cli.up.key import local_key
    from noonmark.cli.up.place import LEFTOVER_WAIT_S, DataDir, free_port, local_url
    from noonmark.cli.up.screen import welcome
    from noonmark.embedded import EmbeddedPostgresError

    screen = console()

    def say(text: str) -> None:
        screen.print(text, markup=False, soft_wrap=True)

    place = DataDir(data_dir)
    place.take()
    try:
        _signals_interrupt()
        port = free_port(host, port, LEFTOVER_WAIT_S if place.left_behind else 0.0)
        url = local_url(host, port)
        place.sign(url)
        database = Database(place.path, database_url)
        try:
            if database.embedded:
                say(f"Starting PostgreSQL in {place.path}")
            address = database.start()
            settings = Settings(
                host=host,
                port=port,
                url=url,
                database_url=address,
                data_dir=place.path,
                workers=workers,
                sample=not no_sample,
                token=token,
                key=token or local_key(place, address, url, shards),
                shards=shards,
                processes=processes or usable_cores(),
            )
            text = welcome(url, place.path, database.embedded, token, settings.sample)
            conductor = Conductor(settings, database, say, lambda: screen.print(text, soft_wrap=True))
            try:
                asyncio.run(conductor.run())
            finally:
                _signals_interrupt()  # the event loop took its handlers with it
                for log in place.path.glob("*.log"):
                    place.share(log)
        finally:
            database.stop()
    except KeyboardInterrupt:
        pass
    except EmbeddedPostgresError as error:
        raise NoonmarkError(str(error)) from error
    finally:
        place.release()
    say("Stopped. The data is kept." if database_url is None else "Stopped.")


def _signals_interrupt() -> None:
    """While nothing but PostgreSQL is being started or stopped, every signal to stop is as Ctrl-C."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
