"""How long workers were really silent: the time in which some node could have heard them, and did not."""

from noonmark.clock import NEVER_US
from tests.simulation.invariants import TTL_US, require

SECOND_US = 1_000_000
LOOK_US = SECOND_US // 4
KEPT_LATE_US = 3 * SECOND_US
"""A row says so late when a worker was heard: heartbeats, the writing of rows and the database take their time."""
GIVEN_UP_LATE_US = 3 * SECOND_US
RENEWED_US = SECOND_US
"""So long before its end a node may have renewed its lease last."""


class Listeners:
    def __init__(self, world):
        self.world = world
        self._silent_us = {}
        """worker_id -> how long somebody may have listened since it was heard, and how long somebody surely did."""
        self._spoke_up_us = {}
        """worker_id -> when it was last heard after a long silence: not every node may know it yet."""
        self._least_us = world.limits.silence_us - KEPT_LATE_US
        self._overdue_us = {}
        """(life, grant_id) -> for how long its worker should have been given up by then."""
        world.at(LOOK_US, self._look)

    def arrives(self, life, party):
        if self._listens(life):
            if self._silent_us.get(party, (0, 0))[0] > self._least_us:
                self._spoke_up_us[party] = self.world.now_us
            self._silent_us[party] = (0, 0)

    def loses_worker(self, life, worker_id):
        """It never spoke to this life. Time in which nobody could have heard it is no silence of the worker's."""
        age_us = life.now_us() - life.began_us
        require(age_us > self.world.limits.appear_us, "time to appear", worker_id, "is given up after", age_us)
        silent_us, _ = self._silent_us.get(worker_id, (NEVER_US, 0))
        spoke_up = self.world.now_us - self._spoke_up_us.get(worker_id, 0) <= TTL_US
        require(silent_us > self._least_us or spoke_up, "not silent", "worker", worker_id, "was silent for", silent_us)

    def _listens(self, life):
        return life.owner is not None and not life.ended and not life.frozen and life.trusted

    def _look(self):
        """However often shards change hands, a worker that is silent loses what it holds."""
        world = self.world
        there = [host.life for host in world.hosts if host.life.owner is not None and not host.life.ended]
        lives = [life for life in there if self._listens(life) and not life.stopping]
        appeared = [life for life in lives if life.now_us() - life.began_us > world.limits.appear_us + RENEWED_US]
        # A node that thaws, or whose renewal waited in the database, seems to have listened all the time.
        maybe_us, surely_us = LOOK_US * (bool(there) or world.database.away), LOOK_US * bool(appeared)
        for worker_id, (most_us, least_us) in self._silent_us.items():
            self._silent_us[worker_id] = (most_us + maybe_us, least_us + surely_us)
        bound_us = world.limits.silence_us + KEPT_LATE_US
        overdue_us = {}
        for life in appeared:
            for grant_id, grant in life.owner.fleet.grants.items():
                if life.owner.fleet.workers[grant.worker_id].heard_us:
                    continue  # it counts from what it heard itself, which may have waited while it was frozen
                if self._silent_us.get(grant.worker_id, (0, 0))[1] > bound_us:
                    late_us = overdue_us[life, grant_id] = self._overdue_us.get((life, grant_id), 0) + LOOK_US
                    require(late_us <= GIVEN_UP_LATE_US, "given up in time", grant.worker_id, "holds", grant_id)
        self._overdue_us = overdue_us
        world.at(LOOK_US, self._look)
