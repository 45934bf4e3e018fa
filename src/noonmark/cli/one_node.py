"""The processes of one node, as the one node that they are to its users."""

from collections.abc import Iterable, Sequence

import msgspec

from noonmark.wire.resources import NodeInfo


class OneNode(msgspec.Struct, frozen=True):
    address: str
    """The public one."""
    processes: Sequence[NodeInfo]

    @property
    def state(self) -> str:
        silent = [process for process in self.processes if process.state != "alive"]
        if not silent:
            return "alive"
        return "silent" if len(silent) == len(self.processes) else f"{len(silent)} of {len(self.processes)} silent"

    @property
    def shards(self) -> int:
        return sum(process.shards for process in self.processes)

    @property
    def versions(self) -> str:
        return ", ".join(sorted({process.version for process in self.processes}))


def by_node(processes: Iterable[NodeInfo]) -> list[OneNode]:
    """In the order of their first processes. A node that does not say so is one process."""
    found: dict[str, list[NodeInfo]] = {}
    for process in processes:
        found.setdefault(process.node or process.address, []).append(process)
    return [OneNode(address, sorted(those, key=lambda one: one.process)) for address, those in found.items()]
