"""PURE: how many runs to ask a node for.

Room is what the worker may hold minus what it holds. It may hold as many runs as it has slots, and beyond that what it
is likely to finish within `AHEAD_S` at its present pace, so that short tasks never wait for the network and long ones
are left to workers that can start them. Each node is asked for an even share of the room. What had to be handed back
narrows the number of runs that may wait here, and quiet seconds widen it again.
"""

AHEAD_S = 0.1
"""How far ahead runs are fetched."""
WORTHWHILE_S = 0.004
"""A busy worker asks for at least what it does in this time, not for one run at a time."""
_SMOOTHING_S = 0.3


class Demand:
    def __init__(self, slots: int, claim_max: int) -> None:
        self._slots = slots
        self._claim_max = claim_max
        self._ahead_max = 4 * claim_max
        self._waiting_max = float(slots + self._ahead_max)
        self.pace_per_s = 0.0

    def observe(self, finished: int, handed_back: int, elapsed_s: float) -> None:
        """What happened since the last observation."""
        if elapsed_s <= 0:
            return
        weight = min(1.0, elapsed_s / _SMOOTHING_S)
        self.pace_per_s += (finished / elapsed_s - self.pace_per_s) * weight
        if handed_back:
            self._waiting_max = max(1.0, min(self._waiting_max, self._slots) / 2)
        else:
            grown = self._waiting_max * (1 + elapsed_s) + elapsed_s
            self._waiting_max = min(float(self._slots + self._ahead_max), grown)

    def ask(self, running: int, waiting: int, nodes: int, asked: int) -> int:
        """For one of `nodes` nodes, of which `asked` runs were asked already; 0 means not now."""
        ahead = min(self.pace_per_s * AHEAD_S, self._ahead_max)
        room = min(self._slots + ahead - running - waiting, self._waiting_max - waiting)
        if room < 1:
            return 0
        share = min(-int(-room // max(1, nodes)), self._claim_max) - asked
        worthwhile = min(self.pace_per_s * WORTHWHILE_S / max(1, nodes), self._claim_max / 2)
        return share if share >= max(1.0, worthwhile) else 0
