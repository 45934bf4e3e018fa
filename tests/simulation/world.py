"""One seed, one world: the clock, the queue of events, and everybody who lives in it."""

import hashlib
from heapq import heappop, heappush
from random import Random
from typing import ClassVar

from noonmark.model.ids import shard_of
from noonmark.model.policy import Policy, Retry
from noonmark.schedule import recurrence
from noonmark.shard.limits import Limits
from tests.simulation.callers import Callers
from tests.simulation.database import Database
from tests.simulation.faults import Chaos, User, random_job
from tests.simulation.invariants import Checks, require
from tests.simulation.listeners import Listeners
from tests.simulation.network import Network
from tests.simulation.node import Host, Life
from tests.simulation.oracle import Oracle
from tests.simulation.promises import Promises
from tests.simulation.store import Store
from tests.simulation.worker import Worker

SECOND_US = 1_000_000
BEGIN_US = 1_750_000_000 * SECOND_US
STORM_US = 20 * SECOND_US
CALM_US = 120 * SECOND_US

RETRY = Retry(max_attempts=3, base_s=0.4, max_delay_s=4.0, no_retry=("ValueError",))
POLICIES = {
    1: Policy(task="a", timeout_s=2.0, retry=RETRY),
    2: Policy(task="b", timeout_s=5.0, retry=RETRY),
    3: Policy(task="b", timeout_s=5.0, retry=RETRY, start_deadline_s=1.5),
    4: Policy(task="a", timeout_s=5.0, retry=RETRY, delivery="at_most_once"),
    5: Policy(task="a", timeout_s=2.0, retry=RETRY, fixed_delay=True),
    6: Policy(task="b", timeout_s=5.0, retry=RETRY, start_deadline_s=1.5, delivery="at_most_once", fixed_delay=True),
}
RECURRENCES = {
    "every": [recurrence(text) for text in ("every:1|phase 0|j0", "every:3|phase 1|j0", "every:7|phase 2|j0")],
    "jitter": [recurrence(text) for text in ("every:2|phase 0|j1", "every:5|phase 0|j4")],
    "cron": [recurrence("cron:*/4 * * * * *|UTC|j0")],
}
PATIENCE = {
    "silence_us": 5 * SECOND_US,
    "delivery_us": 3 * SECOND_US // 2,
    "stall_us": 3 * SECOND_US // 2,
    "appear_us": 3 * SECOND_US // 2,
    "kept_late_us": 3 * SECOND_US // 2,
}
ROOM = (
    {},
    {"memory_runs": 20, "lane_runs": 3, "page_runs": 5},
    {"memory_runs": 6, "lane_runs": 2, "page_runs": 3},
)
OVERRUN_US = (8 * SECOND_US, 600 * SECOND_US)


class World:
    """Subclasses replace parts to break them on purpose."""

    store_class = Store
    host_class = Host
    life_class = Life
    worker_class = Worker
    checks_memory = True
    """Off: only what is promised to the outside is checked."""
    weather: ClassVar[dict] = {}
    """What a harsher world sets instead of drawing it: `loss`, `slow`, `slowest_us`, `kinds` of faults, and so on."""

    def __init__(self, seed):
        self.seed = seed
        self.rng = rng = Random(seed)
        self.now_us = BEGIN_US + rng.randrange(10 * SECOND_US)
        self.trace = []
        self._events = []
        self._sequence = 0
        self.users_active = True
        self.policies = POLICIES
        self.recurrences = RECURRENCES
        self.every_recurrence = RECURRENCES["every"]
        self.weights = {1: 1, 2: 1, 3: 3}
        self.limits = Limits(**PATIENCE, **rng.choice(ROOM), overrun_us=rng.choice(OVERRUN_US))
        self.restless = 0.0
        self.poll_us = rng.choice((2, 9)) * SECOND_US
        self._policy_of = {}
        self.checks = Checks(self)
        self.listeners = Listeners(self)
        self.oracle = Oracle()
        self.shard_count = rng.choice((2, 4))
        self.store = self.store_class(self.checks, self.oracle, self.shard_count, self.now_us)
        self.network = Network(self)
        self.database = Database(self)
        self.chaos = Chaos(self)
        self.user = User(self)
        self.promises = Promises(self)
        self.callers = Callers(self)
        self.node_hosts = {}
        self._set_weather()
        self.hosts = []
        for number in range(rng.randrange(1, 4)):
            self.hosts.append(self.host_class(self, number))
        self.workers = [None] * rng.randrange(1, 4)
        self._worker_id = self._job_number = 0
        for index in range(len(self.workers)):
            self.start_worker(index)

    def _set_weather(self):
        for name, value in self.weather.items():
            if name == "kinds":
                value = [getattr(self.chaos, kind) for kind in value]
            for part in (self.network, self.database, self.chaos, self.user, self.callers, self):
                if hasattr(part, name):
                    setattr(part, name, value)
                    break

    def at(self, delay_us, event, *args):
        self._sequence += 1
        heappush(self._events, (self.now_us + delay_us, self._sequence, event, args))

    def log(self, text):
        self.trace.append(f"{(self.now_us - BEGIN_US) / SECOND_US:10.6f} {text}")

    @property
    def digest(self):
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def start_worker(self, index):
        self._worker_id += 1
        tasks = ("a", "b") if index == 0 else self.rng.choice((("a",), ("b",), ("a", "b")))
        self.workers[index] = self.worker_class(self, self._worker_id, tasks)

    def new_job(self):
        self._job_number += 1
        job = random_job(self.rng, self._job_number, self.rng.randrange(self.shard_count), self)
        self._policy_of[job.job_id] = self.policies[job.policy_id]
        return job

    def address_of(self, node_id):
        return self.node_hosts.get(node_id)

    def policy_of(self, job_id):
        return self._policy_of[job_id]

    # -- the course of it --------------------------------------------------------------------------------------------

    def run(self):
        """The storm, then calm until all is done; raises a Violation if a promise was broken."""
        try:
            self._run()
        finally:
            for host in self.hosts:
                host.fall()

    def _run(self):
        end_us = self.now_us + STORM_US
        for _ in range(self.rng.randrange(2, 6)):
            self.at(SECOND_US, self._create)
        self.at(2 * SECOND_US, self._user_acts, end_us)
        self.at(2 * SECOND_US, self._callers_act, end_us)
        self.at(2 * SECOND_US, self._chaos_acts, end_us)
        self._run_until(end_us)
        self.chaos.calm()
        self.users_active = False
        jobs = [job for job in self.store.jobs.values() if job.active]
        self.oracle.close(jobs, lambda job: self.store.shards[shard_of(job.job_id)].watermark_us)
        self.checks.check_fixed_delays(jobs)
        for job in jobs:
            job.active = False
        self.log("calm")
        self._run_until(self.now_us + CALM_US, self._all_done)
        require(self._all_done(), "everything ends", self._left()[:5])
        self.checks.check_end()

    def _run_until(self, end_us, done=None):
        events = self._events
        while events and events[0][0] <= end_us:
            self.now_us, _, event, args = heappop(events)
            event(*args)
            if done is not None and done():
                return
        self.now_us = max(self.now_us, end_us) if done is None else self.now_us

    def _left(self):
        store = self.store
        return [row for runs in store.runs.values() for key, row in runs.items() if key not in store.parked]

    def _all_done(self):
        store = self.store
        return not store.grants and sum(map(len, store.runs.values())) == len(store.parked)

    def _create(self):
        job = self.new_job()
        self.user._ask("create", job.job_id, job)

    def _user_acts(self, end_us):
        self.user.act()
        if self.now_us < end_us:
            self.at(self.rng.randrange(600_000), self._user_acts, end_us)

    def _callers_act(self, end_us):
        self.callers.act()
        if self.now_us < end_us:
            self.at(self.rng.randrange(self.callers.asks_us), self._callers_act, end_us)

    def _chaos_acts(self, end_us):
        self.chaos.act()
        if self.now_us < end_us:
            self.at(self.rng.randrange(self.chaos.interval_us), self._chaos_acts, end_us)
