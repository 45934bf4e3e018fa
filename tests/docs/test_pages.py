"""What holds for every page: its links lead somewhere, and something leads to it."""

from pathlib import Path

import pytest

from tests.docs.page import ROOT, Page

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    assert Page(path).broken_links() == []


def test_every_decision_is_numbered_once() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]


def test_every_page_is_linked() -> None:
    linked = {(path.parent / link.partition("#")[0]).resolve() for path in PAGES for link in Page(path).links}
    assert [path.name for path in PAGES if path not in linked and path.name != "README.md"] == []
