"""How the processes of one node see each other: each writes a page, in memory that outlives the process.

The parent of the processes makes the pages (files without a name) and every process inherits all of them. Each writes
its own page every `WRITE_S` and whenever it is asked; any of them answers for the whole node from the pages. No
process waits for another: one that hangs or is dead is known by the age of its page.

Invariants
- Page k is written by process k alone. Its replacement goes on from the counts in the page, so sums over the
  processes only grow.
- Gauges and readiness count only from a page that is younger than `STALE_S`; counts do from any.
- A page that is read while it is written shows by its checksum, and the one read before it stands in.
"""

import os
import struct
import zlib
from collections.abc import Sequence

import msgspec

from noonmark.clock import monotonic_s
from noonmark.node.sum_metrics import Samples, counts_of, parse, render, sum_samples

WRITE_S = 1.0
STALE_S = 4.0

_HEADER = struct.Struct("<II")


class ProcessPage(msgspec.Struct, frozen=True):
    at_s: float = 0.0
    """By the monotonic clock, which all processes of a machine share."""
    ready: bool = False
    was_ready: bool = False
    """It, or the process that it replaces, was ready once."""
    metrics: str = ""
    node_id: int = 0
    """Of its present life."""


class Board:
    def __init__(self, pages: Sequence[int], number: int) -> None:
        """`pages` are open files, one for each process; `number` is ours, from 1."""
        self._pages = pages
        self._mine = number - 1
        self._read = [ProcessPage()] * len(pages)
        before = self._look(self._mine)
        self._past: Samples = counts_of(parse(before.metrics))
        self._was_ready = before.was_ready
        self.predecessor = before.node_id
        """The last life of the process that we replace, or 0. The parent has seen its end: no lease need pass."""

    def write(self, metrics: str, *, ready: bool, node_id: int = 0) -> None:
        self._was_ready |= ready
        counted = render(sum_samples([parse(metrics), self._past]))
        page = ProcessPage(monotonic_s(), ready, self._was_ready, counted, node_id)
        body = msgspec.msgpack.encode(page)
        self._read[self._mine] = page
        os.pwrite(self._pages[self._mine], _HEADER.pack(len(body), zlib.crc32(body)) + body, 0)

    def ready(self) -> bool:
        """Some process is ready now, and each has been: one that is being replaced does not count against the node."""
        pages = self._all()
        return any(page.ready and _fresh(page) for page in pages) and all(page.was_ready for page in pages)

    def metrics(self) -> bytes:
        pages = self._all()
        samples = [parse(page.metrics) if _fresh(page) else counts_of(parse(page.metrics)) for page in pages]
        up = [f'noonmark_process_up{{process="{n}"}} {float(_fresh(page))}' for n, page in enumerate(pages, 1)]
        described = "# HELP noonmark_process_up 1 for each process of the node that goes on\n"
        described += "# TYPE noonmark_process_up gauge\n"
        return (render(sum_samples(samples)) + described + "\n".join(up) + "\n").encode()

    def _all(self) -> list[ProcessPage]:
        return [self._look(at) for at in range(len(self._pages))]

    def _look(self, at: int) -> ProcessPage:
        header = os.pread(self._pages[at], _HEADER.size, 0)
        if len(header) == _HEADER.size:
            size, checksum = _HEADER.unpack(header)
            body = os.pread(self._pages[at], size, _HEADER.size)
            if zlib.crc32(body) == checksum:
                self._read[at] = msgspec.msgpack.decode(body, type=ProcessPage)
        return self._read[at]


def _fresh(page: ProcessPage) -> bool:
    return monotonic_s() - page.at_s < STALE_S
