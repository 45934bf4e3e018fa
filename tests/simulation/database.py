"""The way from a node to the store: calls take time, connections break, and then nobody knows what was applied."""

from noonmark.errors import NoonmarkError
from noonmark.store.fence import CommitUnknown, NotCommitted
from tests.simulation.store import Refused


class Database:
    def __init__(self, world):
        self.world = world
        self.rng = world.rng
        self.breaks = 0.0
        self.pool_us = 0
        """How long who reads outside of the serial order may wait for what was read."""
        self.slowest_us = self.rng.choice((3_000, 3_000, 80_000))
        self._epoch = 0
        self._back_us = 0

    def restart(self, downtime_us):
        self.world.log("the database restarts")
        self._epoch += 1
        self._back_us = self.world.now_us + downtime_us

    def stall(self, duration_us):
        """Every transaction waits, none is lost."""
        self.world.log("the database stalls")
        self._back_us = self.world.now_us + duration_us

    @property
    def away(self):
        return self.world.now_us < self._back_us

    def ask(self, process, transaction, done, failed):
        """Applies `transaction(now_us)` and tells the process its result, or that it failed, or that nobody knows."""
        self.world.at(
            self.rng.randrange(100, self.slowest_us), self._apply, process, transaction, done, failed, self._epoch
        )

    def _latency_us(self):
        return self.rng.randrange(100, self.slowest_us)

    def _apply(self, process, transaction, done, failed, epoch):
        if self.world.now_us < self._back_us:
            delay_us = self._back_us - self.world.now_us + self.rng.randrange(1_000)
            self.world.at(delay_us, self._apply, process, transaction, done, failed, epoch)
            return
        chance = self.rng.random()
        if epoch != self._epoch or chance < self.breaks / 2:
            self._tell(process, failed, self._not_applied())
            return
        try:
            result = transaction(self.world.now_us)
        except (Refused, NoonmarkError) as refused:
            self._tell(process, failed, refused)
            return
        if chance < self.breaks:
            self._tell(process, failed, CommitUnknown("applied"))
        else:
            self.world.at(
                self.rng.randrange(100, self.slowest_us), self._tell_done, process, done, failed, result, epoch
            )

    def _not_applied(self):
        """It broke before COMMIT was sent, and the node knows; or while it was under way, and nobody does."""
        if self.rng.random() < 0.5:
            return NotCommitted(ConnectionError("before the commit"))
        return CommitUnknown("not applied")

    def _tell_done(self, process, done, failed, result, epoch):
        if epoch != self._epoch:
            self._tell(process, failed, CommitUnknown("applied"))
        else:
            process.call(done, result)

    def _tell(self, process, failed, error):
        self.world.at(self.rng.randrange(100, 2_000), process.call, failed, error)
