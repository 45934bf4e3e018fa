"""A command that talks to the server: it is given an `Api`, and gains --server, --token, --tenant and --output."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from enum import StrEnum
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import msgspec
import typer

from noonmark.client.client import DEFAULT_SERVER, Client, Page
from noonmark.errors import NoonmarkError

P = ParamSpec("P")
T = TypeVar("T")
MAX_PAGE = 1000


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"


Server = Annotated[
    str, typer.Option("--server", "-s", envvar="NOONMARK_SERVER", help="Address of a node.", rich_help_panel="Server")
]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="NOONMARK_TOKEN", help="What the server asks for.", rich_help_panel="Server"),
]
Tenant = Annotated[
    str, typer.Option("--tenant", envvar="NOONMARK_TENANT", help="Whose jobs these are.", rich_help_panel="Server")
]
OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="For people, or for programs.", rich_help_panel="Server")
]


class Api:
    """The client, and how the caller wants the answers shown."""

    def __init__(self, client: Client, output: Output) -> None:
        self.client = client
        self.output = output

    def show(self, answer: Any, as_table: Callable[[], Any]) -> None:
        """The answer as JSON, or as what `as_table` makes of it."""
        if self.output is Output.JSON:
            typer.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
            return
        from noonmark.cli.show import show

        show(as_table())


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


def asks(command: Callable[Concatenate[Api, P], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Gives `command` its Api, and its options the server's."""

    @functools.wraps(command)
    def run(server: str, token: str | None, tenant: str, output: Output, **arguments: Any) -> None:
        import asyncio

        async def with_client() -> None:
            async with Client(server, token, tenant) as client:
                await command(Api(client, output), **arguments)  # type: ignore[call-arg]

        try:
            asyncio.run(with_client())
        except msgspec.MsgspecError as error:
            raise NoonmarkError(
                f"the answer of {server} was not understood: {error}", fix="is this a Noonmark of the same version?"
            ) from error

    own = list(inspect.signature(command).parameters.values())[1:]
    common = [
        _option("server", Server, DEFAULT_SERVER),
        _option("token", Token, None),
        _option("tenant", Tenant, "default"),
        _option("output", OutputOption, Output.TABLE),
    ]
    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = inspect.Signature([*keyword, *common])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*keyword, *common]}
    return run


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
