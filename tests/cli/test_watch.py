"""`--watch`: again and again; what is piped shows only what is new."""

import asyncio

import pytest

from noonmark.cli.groups import with_interval
from noonmark.cli.output import Output, Screen
from noonmark.cli.show import table
from noonmark.errors import NotFound, Unavailable


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["job", "list", "--watch"], ["job", "list", "--watch=2"]),
        (["job", "list", "-w", "-o", "json"], ["job", "list", "--watch=2", "-o", "json"]),
        (["job", "list", "--watch", "0.5"], ["job", "list", "--watch", "0.5"]),
        (["job", "show", "--watch", "name"], ["job", "show", "--watch=2", "name"]),
        (["job", "show", "--", "--watch"], ["job", "show", "--", "--watch"]),
    ],
)
def test_the_interval_may_be_left_out(given, read):
    assert with_interval(given) == read


def rows(*names: str) -> object:
    return table(["name", "state"], [(name, "active") for name in names])


def test_piped_lines_come_once(capsys):
    screen = Screen(Output.TABLE, watching=True)
    for names in (["a"], ["a"], ["a", "b"], ["b"]):
        screen.show(None, lambda names=names: rows(*names))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["NAME", "STATE"], ["a", "active"], ["b", "active"],
    ]  # fmt: skip


@pytest.mark.parametrize(("output", "head"), [(Output.JSON, '{"a":'), (Output.YAML, "---\na:")])
def test_piped_documents_come_when_they_change(capsys, output, head):
    screen = Screen(output, watching=True)
    for number in (1, 1, 2):
        screen.show({"a": number}, lambda: None)
    shown = capsys.readouterr().out
    assert shown.count(head) == 2
    assert shown.startswith(head)


async def test_a_server_that_went_away_may_come_back(capsys):
    seen = []

    async def once() -> None:
        seen.append(len(seen))
        if len(seen) == 2:
            raise Unavailable("away")
        if len(seen) == 4:
            raise NotFound("gone for good")

    with pytest.raises(NotFound):
        await asyncio.wait_for(Screen(Output.TABLE, watching=True).repeat(once, 0.001), 10)
    assert capsys.readouterr().err == "error: away\n"


async def test_the_first_time_must_work_out():
    async def once() -> None:
        raise Unavailable("away")

    with pytest.raises(Unavailable):
        await Screen(Output.TABLE, watching=True).repeat(once, 0.001)
