"""Exit codes: the table of docs/cli.md says what the errors and the commands do."""

from collections.abc import Iterator

import pytest

from noonmark import errors
from noonmark.cli.exits import Exit
from tests.docs.page import ROOT, Page, codes


def tree(kind: type[errors.NoonmarkError]) -> Iterator[type[errors.NoonmarkError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == "noonmark.errors":
            yield from tree(child)


def documented() -> dict[int, set[str]]:
    rows = Page(ROOT / "docs" / "cli.md").rows("exit code")
    return {int(row[0]): set(codes(row[2])) for row in rows}


def test_every_error_stands_in_the_table():
    expected: dict[int, set[str]] = {}
    for kind in tree(errors.NoonmarkError):
        expected.setdefault(kind.exit_code, set()).add(kind.code)
    table = documented()
    assert {code: table.get(code) for code in expected} == expected


def test_so_do_the_ends_that_are_no_errors():
    assert set(documented()) == {kind.exit_code for kind in tree(errors.NoonmarkError)} | {0} | {int(e) for e in Exit}


@pytest.mark.parametrize("kind", list(tree(errors.NoonmarkError)), ids=lambda kind: kind.code)
def test_an_error_of_the_server_ends_with_its_code(noonmark, monkeypatch, kind):
    from noonmark.client.client import Client

    class Told(kind):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            errors.NoonmarkError.__init__(self, "no", field="name", fix="say yes")

    async def refuse(*_args, **_named):
        raise Told

    monkeypatch.setattr(Client, "get_job", refuse)
    said = noonmark.refuses("job", "show", "x", exit_code=kind.exit_code)
    assert said == "error: name: no (say yes)\n"


def test_a_wrong_command_line_is_2(noonmark):
    noonmark.refuses("job", "list", "--limit", "none")
    noonmark.refuses("job", "list", "-o", "xml")
    noonmark.refuses("nonsense")


def test_ctrl_c_is_130(noonmark, monkeypatch):
    from noonmark.client.client import Client

    async def interrupted(*_args, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "get_job", interrupted)
    assert noonmark("job", "show", "x").exit_code == 130
    assert noonmark("job", "show", "x", "--watch").exit_code == 0
