"""A page of the documentation as data: its tables by their header, its blocks of code by their language, its links."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")


class Table(NamedTuple):
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


class Page:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text("utf-8")
        self.prose = _FENCE.sub("", self.text)
        self.tables = _tables(self.prose)

    def rows(self, *header: str) -> list[tuple[str, ...]]:
        """The rows of all tables whose header begins with these words."""
        return [row for table in self.tables if table.header[: len(header)] == header for row in table.rows]

    def blocks(self, kind: str) -> list[str]:
        return [text for found, text in _FENCE.findall(self.text) if found.strip() == kind]

    @property
    def links(self) -> list[str]:
        return _LINK.findall(self.prose)

    @property
    def anchors(self) -> set[str]:
        """The headings as GitHub names them in links."""
        headings = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def broken_links(self) -> list[str]:
        """Those to files of the project that are not there, or to headings that they do not have."""
        return [link for link in self.links if not link.startswith("https://") and not self._resolves(link)]

    def _resolves(self, link: str) -> bool:
        target, _, anchor = link.partition("#")
        path = (self.path.parent / target).resolve() if target else self.path
        return path.exists() and (not anchor or anchor in Page(path).anchors)


def code(cell: str) -> str:
    """The one piece of code in a cell."""
    [found] = codes(cell)
    return found


def codes(cell: str) -> list[str]:
    return _CODE.findall(cell)


def _tables(text: str) -> list[Table]:
    found: list[Table] = []
    before = False
    for line in text.splitlines():
        here = line.startswith("|")
        if here:
            # Outside of code a star is written with a backslash, lest it make the text italic.
            cells = tuple(cell.strip().replace(r"\*", "*") for cell in line.strip().strip("|").split("|"))
            if not before:
                found.append(Table(cells, []))
            elif set("".join(cells)) - set("-: "):
                assert len(cells) == len(found[-1].header), line
                found[-1].rows.append(cells)
        before = here
    return found
