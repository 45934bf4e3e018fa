"""`noonmark worker`: runs the tasks of an app until a signal stops it; lists all workers."""

import asyncio
import importlib
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noonmark.cli.fleet import list_workers
from noonmark.cli.groups import Starting
from noonmark.cli.logs import FormatOption, LevelOption, LogFormat, LogLevel, set_up_logs
from noonmark.errors import InvalidInput

if TYPE_CHECKING:
    from noonmark.app import App
    from noonmark.worker import Worker

_SHAPE = "write it as module:app, as in noonmark.sample:app"


workers = typer.Typer(cls=Starting, help="Run the tasks of an app, or see which workers there are.")
workers.command("list")(list_workers)


@workers.command("start")
def worker(
    target: Annotated[str, typer.Argument(metavar="MODULE:APP", help="The app, as in noonmark.sample:app.")],
    server: Annotated[
        str | None,
        typer.Option(
            "--server", "-s", envvar="NOONMARK_SERVER", help="A node, or several by commas; it finds the rest."
        ),
    ] = None,
    token: Annotated[str | None, typer.Option(envvar="NOONMARK_TOKEN", help="What the server asks for.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="How many runs at the same time.")] = 100,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many processes for heavy tasks; one per core by default.")
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option(help="A queue to serve; may be repeated. By default those of the tasks.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="How it is listed; host:pid by default.")] = None,
    grace_s: Annotated[float, typer.Option("--grace-s", min=0, help="Time for runs to end when it is stopped.")] = 30.0,
    log_format: FormatOption = LogFormat.CONSOLE,
    log_level: LevelOption = LogLevel.INFO,
) -> None:
    """Run the tasks of an app. The first signal lets runs end, a second one hands them back at once.

    `start` may be left out.
    """
    import uvloop

    from noonmark.worker import Worker

    set_up_logs(log_format, log_level)
    app = load_app(target)
    if not app.tasks:
        raise InvalidInput(target, "this app has no tasks", "decorate a function with @app.task")

    async def work() -> None:
        await _work(
            Worker(
                app,
                server=server,
                token=token,
                name=name,
                concurrency=concurrency,
                processes=processes,
                queues=queue or None,
                grace_s=grace_s,
            )
        )

    uvloop.run(work())


async def _work(worker: "Worker") -> None:
    from noonmark.cli.lifeline import hold_lifeline

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    hold_lifeline()
    await worker.run()


def load_app(target: str) -> "App":
    """The app that `module:app` names; the current folder counts, as it does for `python -m`."""
    from noonmark.app import App

    module_name, colon, attribute = target.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidInput("MODULE:APP", f"{target!r} does not name an app", _SHAPE)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = importlib.import_module(module_name)
    except Exception as error:
        raise _import_error(module_name, error) from error
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise InvalidInput("MODULE:APP", f"the module {module_name!r} has no {attribute!r}", _SHAPE) from None
    if not isinstance(found, App):
        kind = type(found).__name__
        raise InvalidInput("MODULE:APP", f"{target!r} is not an App but of type {kind}", "name the noonmark.App()")
    return found


def _import_error(module_name: str, error: Exception) -> InvalidInput:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and (module_name == missing or module_name.startswith(f"{missing}.")):
        return InvalidInput(
            "MODULE:APP",
            f"there is no module {missing!r} here or among the installed packages",
            f"run this where {missing} can be imported from; the current folder is {os.getcwd()}",  # noqa: PTH109
        )
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else module_name
    return InvalidInput(
        "MODULE:APP",
        f"importing {module_name!r} raised {type(error).__name__}: {error}",
        f"look at {where}",
    )
