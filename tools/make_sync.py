"""Makes the blocking SDK from the async one: `make sync`. A test checks that what is committed is what this makes.

Keywords are left out, names are exchanged token by token, and ruff puts the lines in order; strings stay as they are.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

CLIENT = Path(__file__).parents[1] / "src" / "noonmark" / "client"
SOURCES = ("base", "calls", "client", "handle", "job_calls", "jobs", "run_calls")
NAMES = {
    "AppCalls": "SyncAppCalls",
    "BaseClient": "SyncBaseClient",
    "AsyncGenerator": "Generator",
    "AsyncIterator": "Iterator",
    "Client": "SyncClient",
    "JobCalls": "SyncJobCalls",
    "Jobs": "SyncJobs",
    "RunCalls": "SyncRunCalls",
    "RunHandle": "SyncRunHandle",
    "TaskCalls": "SyncTaskCalls",
    "Transport": "SyncTransport",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclosing": "closing",
}
_ANNOTATION = re.compile(r'"\w+(\[\w+\])?"')
_WORD = re.compile(r"\w+")
HEADER = "# Made from ../{name}.py by tools/make_sync.py (`make sync`): change it there.\n"


def make(name: str) -> str:
    source = (CLIENT / f"{name}.py").read_text("utf-8")
    return _in_order(HEADER.format(name=name) + _modules(_without_async(source)), CLIENT / "sync" / f"{name}.py")


def main() -> None:
    for name in SOURCES:
        (CLIENT / "sync" / f"{name}.py").write_text(make(name), "utf-8")


def _without_async(source: str) -> str:
    lines = source.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(source).readline))):
        if token.type == tokenize.NAME or (token.type == tokenize.STRING and _ANNOTATION.fullmatch(token.string)):
            line, begin, end = lines[token.start[0] - 1], token.start[1], token.end[1]
            if token.string in ("async", "await"):
                changed = line[:begin] + line[end:].lstrip(" ")
            else:
                changed = line[:begin] + _WORD.sub(lambda word: NAMES.get(word[0], word[0]), token.string) + line[end:]
            lines[token.start[0] - 1] = changed
    return "".join(lines)


def _modules(source: str) -> str:
    twins = "|".join(SOURCES)
    source = re.sub(rf"from noonmark\.client\.({twins}) import", r"from noonmark.client.sync.\1 import", source)
    return source.replace("from noonmark.client.transport import", "from noonmark.client.sync_transport import")


def _in_order(source: str, path: Path) -> str:
    root = CLIENT.parents[2]
    for options in (["check", "--select", "I", "--fix"], ["format"]):
        command = [sys.executable, "-m", "ruff", *options, "--quiet", "--stdin-filename", str(path), "-"]
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=root).stdout
    return source


if __name__ == "__main__":
    main()
