"""Every example of docs/cli.md is carried out against a server, and what the page shows is what it says."""

import re
import shlex

from tests.cli.conftest import served, server
from tests.docs.page import ROOT, Page

__all__ = ["served", "server"]

PAGE = Page(ROOT / "docs" / "cli.md")
CRONTAB = """\
MAILTO=ops@example.com
PATH=/usr/bin:/bin
# Nightly backup
0 2 * * * /usr/local/bin/backup.sh
@reboot x
"""
EXIT = re.compile(r"  # exits with (\d+)$")


def examples() -> list[tuple[list[str], int, list[str]]]:
    """Each command with its exit code and the lines that the page shows of its output."""
    found: list[tuple[list[str], int, list[str]]] = []
    for block in PAGE.blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                ends = EXIT.search(line)
                words = shlex.split(EXIT.sub("", line[2:]))
                assert words[0] == "noonmark", line
                found.append((words[1:], int(ends[1]) if ends else 0, []))
            else:
                found[-1][2].append(line)
    return found


def shown_in(lines: list[str], output: str) -> bool:
    """Whether these lines are the whole of the output; `…` stands for anything, spaces for any number of them."""
    patterns = [r"(.*\n)*?" if line == "…" else _pattern(line) for line in lines]
    text = "\n".join(line.strip() for line in output.splitlines()) + "\n"
    return re.fullmatch("".join(patterns), text) is not None


def _pattern(line: str) -> str:
    return r"\s+".join(re.escape(word).replace("…", ".*?") for word in line.split()) + r"\s*\n"


def test_the_pattern_can_fail():
    assert shown_in(["a b", "…", "c"], "a   b\nx\ny\nc\n")
    assert not shown_in(["a b", "c"], "a b\nx\nc\n")
    assert not shown_in(["a …"], "b c\n")


async def test_every_example(served, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [manifest] = PAGE.blocks("yaml")
    (tmp_path / "jobs.yaml").write_text(manifest)
    (tmp_path / "my-crontab").write_text(CRONTAB)
    commands = examples()
    assert len(commands) > 25
    for words, code, lines in commands:
        result = await served(*words, exit_code=code)
        if lines:
            assert shown_in(lines, result.stdout), f"{shlex.join(words)}:\n{result.stdout}"


def test_what_is_not_run_here_is_run_elsewhere():
    """`noonmark completion` has tests of its own, in a real shell."""
    assert PAGE.blocks("sh") == ['eval "$(noonmark completion bash)"\n']


def test_links():
    assert PAGE.broken_links() in ([], ["notifications.md"])
