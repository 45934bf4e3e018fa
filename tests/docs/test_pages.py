"""What holds for every page: its links lead somewhere, and what it says of schedules is so."""

from pathlib import Path

import pytest

from tests.docs import reading
from tests.docs.page import ROOT, Page, code

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    assert Page(path).broken_links() == []


def test_the_readme_says_how_schedules_are_understood() -> None:
    rows = Page(ROOT / "README.md").rows("you write", "it is understood as")
    assert len(rows) >= 6
    for text, canonical in rows:
        assert reading.understood(code(text))[0] == code(canonical)


def test_every_decision_is_numbered_once() -> None:
    numbers = [path.name[:4] for path in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
