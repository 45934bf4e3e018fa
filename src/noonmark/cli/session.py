"""A command that talks to the server: it is given an `Api`, and gains --server, --token, --tenant and --output.

`asks` is for one that reads once, `watches` for one that --watch repeats, `changes` for one that --dry-run holds back.
"""

import functools
import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import msgspec
import typer

from noonmark.cli.output import Output, Screen
from noonmark.client.agent import CLI
from noonmark.client.client import DEFAULT_SERVER, Client
from noonmark.client.pages import Page
from noonmark.errors import NoonmarkError

P = ParamSpec("P")
T = TypeVar("T")
MAX_PAGE = 1000
_COMMON = "Server and output"

Server = Annotated[
    str, typer.Option("--server", "-s", envvar="NOONMARK_SERVER", help="Address of a node.", rich_help_panel=_COMMON)
]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="NOONMARK_TOKEN", help="What the server asks for.", rich_help_panel=_COMMON),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", envvar="NOONMARK_TENANT", help="Whose jobs these are; the key's own.", rich_help_panel=_COMMON
    ),
]
OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="For people (wide: all columns), or programs.", rich_help_panel=_COMMON)
]
WatchOption = Annotated[
    float | None,
    typer.Option(
        "--watch", "-w", min=0.1, metavar="[SECONDS]", help="Again and again; 2 s by default.", rich_help_panel=_COMMON
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen, and change nothing.", rich_help_panel=_COMMON)
]


class Api:
    """The client, and how the caller wants the answers shown."""

    def __init__(
        self, client: Client, screen: Screen, *, connect: Callable[[str], Client], dry_run: bool = False
    ) -> None:
        self.client = client
        self.screen = screen
        self.connect = connect
        """A client of the same caller at another node."""
        self.dry_run = dry_run

    @property
    def output(self) -> Output:
        return self.screen.output

    @property
    def wide(self) -> bool:
        return self.screen.output is Output.WIDE

    def show(self, answer: Any, as_table: Callable[[], Any]) -> None:
        """The answer for programs, or the table that `as_table` makes of it for people."""
        self.screen.show(answer, as_table)

    def show_list(
        self,
        answer: Any,
        items: list[T],
        columns: dict[str, Callable[[T], Any]],
        wide: dict[str, Callable[[T], Any]] | None = None,
        empty: str = "Nothing to show.",
    ) -> None:
        """A row for each item; the columns of `wide` only with `-o wide`."""
        shown = columns | (wide or {}) if self.wide else columns

        def as_table() -> object:
            from noonmark.cli.show import table

            return table(list(shown), [[value(item) for value in shown.values()] for item in items], empty)

        self.show(answer, as_table)

    def held_back(self, would: str, **details: Any) -> bool:
        """With --dry-run: shows the change that would be made; True tells the caller not to make it."""
        if self.dry_run:
            self.show({"dry_run": True, "would": would, **details}, lambda: f"Would {would}.")
        return self.dry_run


async def gather(fetch: Callable[[int, str | None], Awaitable[Page[T]]], limit: int) -> Page[T]:
    """Up to `limit` items over as many pages as it takes."""
    items: list[T] = []
    cursor: str | None = None
    while True:
        page = await fetch(min(limit - len(items), MAX_PAGE), cursor)
        items += page.items
        cursor = page.next_cursor
        if cursor is None or len(items) >= limit:
            return Page(items, cursor)


Command = Callable[Concatenate[Api, P], Coroutine[Any, Any, None]]


def asks(command: Command[P], *, watch: bool = False, dry_run: bool = False) -> Callable[..., None]:
    """Gives `command` its Api, and its options the server's."""

    @functools.wraps(command)
    def run(server: str, token: str | None, tenant: str | None, output: Output, **arguments: Any) -> None:
        import asyncio

        interval_s: float | None = arguments.pop("watch", None) if watch else None
        held_back: bool = arguments.pop("dry_run", False) if dry_run else False
        screen = Screen(output, watching=interval_s is not None)

        async def with_client() -> None:
            def connect(address: str) -> Client:
                return Client(address, token, tenant, agent=CLI)

            async with connect(server) as client:
                api = Api(client, screen, connect=connect, dry_run=held_back)

                async def once() -> None:
                    await command(api, **arguments)  # type: ignore[call-arg]

                await (once() if interval_s is None else screen.repeat(once, interval_s))

        try:
            asyncio.run(with_client())
        except KeyboardInterrupt:
            if interval_s is None:
                raise  # else it is how watching ends
        except msgspec.MsgspecError as error:
            raise NoonmarkError(
                f"the answer of {server} was not understood: {error}", fix="is this a Noonmark of the same version?"
            ) from error

    own = list(inspect.signature(command).parameters.values())[1:]
    common = [
        *([_option("watch", WatchOption, None)] if watch else []),
        *([_option("dry_run", DryRunOption, False)] if dry_run else []),
        _option("server", Server, DEFAULT_SERVER),
        _option("token", Token, None),
        _option("tenant", Tenant, None),
        _option("output", OutputOption, Output.TABLE),
    ]
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = inspect.Signature([*keyword, *common])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*keyword, *common]}
    return run


def client_of(given: dict[str, Any]) -> Client:
    """The client of a command that was not called yet: by its options so far, the environment and the defaults."""
    server = given.get("server") or os.environ.get("NOONMARK_SERVER") or DEFAULT_SERVER
    token = given.get("token") or os.environ.get("NOONMARK_TOKEN")
    return Client(server, token, given.get("tenant") or os.environ.get("NOONMARK_TENANT"), agent=CLI)


def watches(command: Command[P]) -> Callable[..., None]:
    return asks(command, watch=True)


def changes(command: Command[P]) -> Callable[..., None]:
    return asks(command, dry_run=True)


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
