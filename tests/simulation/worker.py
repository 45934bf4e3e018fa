"""A worker: asks every node for work, runs it, says which grants it holds, and reports until it is answered.

The owner takes back what a worker does not name in time, so an answer older than `ANSWER_AGE_US` starts nothing.
"""

from noonmark.model.reason import Outcome
from noonmark.shard.verdict import Ended
from tests.simulation.network import Process

SECOND_US = 1_000_000
ANSWER_AGE_US = SECOND_US


class Item(Ended):
    """A reported attempt."""

    grant: int
    job_id: int
    nominal_us: int
    attempt: int


class DueHeap:
    """A run in the worker's hands: running until `end` is set, then reported until that is answered."""

    def __init__(self, grant, key, attempt, policy, host):
        self.grant = grant
        self.key = key
        self.attempt = attempt
        self.policy = policy
        self.host = host
        self.end = None
        self.asked_us = 0


class Worker(Process):
    def __init__(self, world, worker_id, tasks):
        super().__init__(world, f"worker {worker_id}")
        self.worker_id = worker_id
        self.queues, self.tasks = ("default",), tasks
        self.rng = world.rng
        self.most = self.rng.randrange(1, 5)
        self.held = {}
        self._claims = {}
        self._had = set()
        """Grants that it has started anything of."""
        self._denied = set()
        self._never = {}
        """host -> what the next heartbeat to it denies."""
        self._reports = {}
        self._number = 0
        self._beat_us = 0
        self.later(self.rng.randrange(1000), self._turn)

    def crash(self):
        self.world.log(f"{self.name} crashes")
        self.ended = True
        for held in self.held.values():
            self.world.checks.stops(self.worker_id, held.key)

    def stop(self):
        """In a hurry: what runs is handed back in one report, which may be lost, and nothing is named any more."""
        self.world.log(f"{self.name} stops")
        for held in list(self.held.values()):
            self._finish(held, Outcome.RELEASED)
        self.held.clear()
        self._beat()
        self.ended = True

    def _turn(self):
        now_us = self.world.now_us
        if now_us >= self._beat_us:
            self._beat_us = now_us + SECOND_US
            self._beat()
        waiting = {host for host, at_us in self._claims.values() if now_us - at_us <= self.world.poll_us + SECOND_US}
        most = self.most if self.world.users_active else 4
        free = most - sum(held.end is None for held in self.held.values())
        hosts = self.world.hosts
        for host in hosts:
            if free > 0 and host not in waiting:
                self._claims[self._next()] = (host, now_us)
                self.send(host, "hear_claim", self._number, free, now_us)
        for held in list(self.held.values()):
            if held.end is not None and now_us - held.asked_us > SECOND_US:
                self._report([held], self.rng.choice(hosts))
        self.later(self.rng.randrange(200_000, 400_000), self._turn)

    def _next(self):
        self._number += 1
        return self._number

    def send(self, host, event, *args):
        self.world.network.send(host, event, self.worker_id, self, *args)

    def _beat(self):
        grants = sorted({held.grant for held in self.held.values()})
        for host in self.world.hosts:
            self.send(host, "hear_heartbeat", grants, self.world.now_us, self._never.pop(host, ()))

    # -- answers -----------------------------------------------------------------------------------------------------

    def hear_grant(self, number, grant, runs, host, sent_us):
        if self._claims.pop(number, None) is None or self.world.now_us - sent_us > ANSWER_AGE_US:
            return
        if grant in self._denied:
            return
        self._had.add(grant)
        for job_id, nominal_us, attempt, policy_id in runs:
            held = DueHeap(grant, (job_id, nominal_us), attempt, self.world.policies[policy_id], host)
            if self.rng.random() < 0.05:
                self._hand_back(held)
                continue
            self.world.log(f"{self.name} starts {held.key} attempt {attempt} of grant {grant}")
            self.world.checks.starts(self.worker_id, held.key, attempt)
            self.held[held.key, attempt] = held
            self.later(self._duration_us(held), self._finish, held, None)

    def _hand_back(self, held):
        """There is no room for it: it never starts."""
        self.world.log(f"{self.name} hands back {held.key} attempt {held.attempt}")
        self.held[held.key, held.attempt] = held
        self._end(held, Item(Outcome.RELEASED, self.world.now_us, None))

    def _duration_us(self, held):
        longest = (5_000, 50_000, 500_000, 3_000_000) if self.world.users_active else (5_000, 50_000)
        duration_us = self.rng.choice(longest)
        return min(self.rng.randrange(1, duration_us), round(held.policy.timeout_s * SECOND_US))

    def _finish(self, held, outcome):
        if held.end is not None or self.held.get((held.key, held.attempt)) is not held:
            return
        if outcome is None:
            outcome = self.rng.choices(
                (Outcome.SUCCEEDED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.RELEASED), (16, 4, 1, 1)
            )[0]
        self.world.checks.stops(self.worker_id, held.key)
        self.world.checks.tells(self.worker_id, held.key, held.attempt, outcome)
        error_type = "ValueError Exception" if outcome is Outcome.FAILED and self.rng.random() < 0.2 else None
        now_us = self.world.now_us
        self._end(held, Item(outcome, now_us, now_us - 1, error_type))

    def _end(self, held, item):
        item.grant, item.attempt, (item.job_id, item.nominal_us) = held.grant, held.attempt, held.key
        held.end = item
        done = [other for other in self.held.values() if other.end is not None and other.host is held.host]
        self._report(done, held.host)

    def _report(self, helds, host):
        for held in helds:
            held.asked_us = self.world.now_us
        self._reports[self._next()] = helds
        self.send(host, "hear_report", self._number, [held.end for held in helds])

    def hear_reported(self, number, refused, elsewhere):
        for position, held in enumerate(self._reports.pop(number, ())):
            if position not in elsewhere:
                accepted = position not in refused
                self.held.pop((held.key, held.attempt), None)
                self.world.log(f"{self.name} is told {held.key} {held.attempt} accepted={accepted}")

    def hear_beat(self, host, cancel, lost, missing):
        self._never[host] = never = self.denies(missing)
        self._denied.update(never)
        for held in list(self.held.values()):
            if held.grant in lost:
                self.world.log(f"{self.name} abandons {held.key} {held.attempt}")
                self.world.checks.stops(self.worker_id, held.key)
                del self.held[held.key, held.attempt]
            elif held.key in cancel:
                self._finish(held, Outcome.CANCELLED)

    def denies(self, missing):
        """Those that it never had."""
        return [grant for grant in missing if grant not in self._had]
