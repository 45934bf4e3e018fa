"""What holds for every page: its links lead somewhere, something leads to it, and the files that it names are there."""

import re
from pathlib import Path

import pytest

from tests.docs.page import ROOT, Page, codes

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
OF_THE_CODE = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
_FILE = re.compile(r"[\w/]+\.(py|sql|json)|(tests|store|node|api|shard|cli)(/\w+)+/?")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    assert Page(path).broken_links() == []


def test_every_decision_is_numbered_once() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


def test_every_page_is_linked() -> None:
    linked = {(path.parent / link.partition("#")[0]).resolve() for path in PAGES for link in Page(path).links}
    assert [path.name for path in PAGES if path not in linked and path.name != "README.md"] == []


@pytest.mark.parametrize("path", OF_THE_CODE, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    """By the end of their path: `node/life.py` is enough."""
    folders = [ROOT / name for name in ("src", "tests", "docs", "bench")]
    there = [f"/{file.relative_to(ROOT)}" for folder in folders for file in (folder, *folder.rglob("*"))]
    named = [code for code in codes(Page(path).prose) if _FILE.fullmatch(code) and "NAME" not in code]
    assert len(named) >= 10
    assert [code for code in named if not any(one.endswith(f"/{code.rstrip('/')}") for one in there)] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_targets_that_are_named_exist(name: str) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    named = re.findall(r"(?:^|`)make (\w+)", Page(ROOT / name).text, re.MULTILINE)
    assert len(named) >= 2
    assert set(named) <= set(targets)
