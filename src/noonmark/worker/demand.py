"""PURE: how many runs to ask a node for.

Room is the number of runs that the worker may hold, minus those that it holds. It may hold as many runs as it has
slots, and beyond that as many as it is likely to finish within `AHEAD_S` at its present pace: so short tasks never wait
for the network, and long ones are left to workers that can start them. Each run that waited in vain and was handed back
lowers the number of runs that may wait here, and quiet seconds raise it again.

Room is shared among the nodes, however many there are:
- A node is expected to answer at once until a claim at it hangs or comes back empty, and again after it brought runs.
  Runs asked of such nodes are taken off the room, so all of them together are never asked for more than there is; a
  node for which there is no room waits for its turn, in order.
- A node that was seen idle is asked on credit: its claims hang there and are not counted, so that a run that comes up
  anywhere starts at once, with fewer slots than nodes too. If several idle nodes get runs at one instant, their grants
  may be above the room: the excess is handed back before anything else is done, and those nodes are counted from then
  on. So that is paid for once for each node that was idle, never for each run. If claims at idle nodes were bounded in
  sum as well, some nodes would be unasked, and a run there would wait for its turn in a rotation.
"""

AHEAD_S = 0.1
"""How far ahead runs are fetched."""
WORTHWHILE_S = 0.004
"""A busy worker asks for at least as many runs as it does in this time, not for one at a time."""
SOON_S = 0.25
"""Runs above the slots are kept if they will start within this time at the present pace."""
_SMOOTHING_S = 0.3


class Demand:
    def __init__(self, slots: int, claim_max: int) -> None:
        self._slots = slots
        self._claim_max = claim_max
        self._ahead_max = 4 * claim_max
        self._waiting_max = float(slots + self._ahead_max)
        self.pace_per_s = 0.0

    def observe(self, finished: int, handed_back: int, elapsed_s: float) -> None:
        """The counts since the last observation."""
        if elapsed_s <= 0:
            return
        weight = min(1.0, elapsed_s / _SMOOTHING_S)
        self.pace_per_s += (finished / elapsed_s - self.pace_per_s) * weight
        if handed_back:
            self._waiting_max = max(1.0, min(self._waiting_max, self._slots) / 2)
        else:
            grown = self._waiting_max * (1 + elapsed_s) + elapsed_s
            self._waiting_max = min(float(self._slots + self._ahead_max), grown)

    def ask(self, *, running: int, waiting: int, expected: int = 0, nodes: int = 1, asked: int = 0) -> int:
        """For one of `nodes` nodes that are about to ask, which was asked for `asked` runs already; 0 means not now.

        `expected` are the runs that claims at nodes with work may bring any moment.
        """
        ahead = min(self.pace_per_s * AHEAD_S, self._ahead_max)
        room = min(self._slots + ahead - running - waiting, self._waiting_max - waiting) - expected
        if room < 1:
            return 0
        share = min(-int(-room // max(1, nodes)), int(room), self._claim_max - asked)
        worthwhile = min(self.pace_per_s * WORTHWHILE_S / max(1, nodes), self._claim_max / 2)
        return share if share >= max(1.0, worthwhile) else 0

    def excess(self, *, running: int, waiting: int, granted: int) -> int:
        """How many of the runs that were just granted are more than the worker can start soon."""
        soon = min(self.pace_per_s * SOON_S, self._ahead_max)
        return max(0, min(granted, running + waiting + granted - self._slots - round(soon)))
