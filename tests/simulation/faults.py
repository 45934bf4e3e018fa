"""What goes wrong, and what users do meanwhile: one random event after the other until the calm at the end."""

from noonmark.model.ids import job_id_of
from tests.simulation.store import StoredJob

SECOND_US = 1_000_000


class User:
    """Somebody at the API. An answer may be lost; only an answer that arrives is a promise."""

    def __init__(self, world):
        self.world = world
        self.rng = world.rng
        self.weights = (3, 12, 4, 4, 4, 6, 2, 2)

    def act(self):
        rng, world = self.rng, self.world
        jobs = list(world.store.jobs)
        kind = rng.choices(
            ("create", "submit", "burst", "cancel", "pause", "resume_job", "delete", "redrive"), self.weights
        )[0]
        if kind == "create" or not jobs:
            job = world.new_job()
            self._ask("create", job.job_id, job)
            return
        job_id = rng.choice(jobs)
        if kind == "submit":
            self._ask("submit", job_id, rng.choice((0, 0, rng.randrange(10 * SECOND_US))))
        elif kind == "burst":
            spread_us = rng.choice((1, 300_000))
            for _ in range(rng.randrange(5, 30)):
                world.at(rng.randrange(spread_us), self._ask, "submit", job_id, 0)
        elif kind == "redrive":
            for key in list(world.store.dead)[:1]:
                self._ask("redrive", *key)
        elif kind == "cancel":
            keys = [key for runs in world.store.runs.values() for key in runs]
            if keys:
                self._ask("cancel", *rng.choice(keys))
        else:
            self._ask(kind, job_id)
            if kind == "pause" and rng.random() < 0.5:
                world.at(rng.randrange(SECOND_US), self._ask, "resume_job", job_id)

    def _ask(self, kind, job_id, *rest):
        world = self.world
        owner = world.store.shards[job_id & 0xFFF].owner
        for host in world.hosts:
            life = host.life
            if life.owner is not None and life.owner.node_id == owner:
                world.network.send(host, "hear_user", self, kind, self, job_id, *rest)

    def answer(self, kind, what):
        if self.rng.random() >= self.world.network.loss:
            self.world.log(f"user is told {kind} {what}")
            if kind == "submitted":
                self.world.checks.acked[what] = self.world.now_us


class Chaos:
    def __init__(self, world):
        self.world = world
        self.rng = rng = world.rng
        # Each world has its own mix, so that rare combinations come together in some.
        kinds = (self.crash, self.freeze, self.kill_worker, self.freeze_worker, self.restart_database,
                 self.stall_database, self.stop, self.drift, self.stop_worker, self.outage)  # fmt: skip
        self.kinds = rng.sample(kinds, rng.randrange(1, len(kinds) + 1))
        self.interval_us = rng.choice((700_000, 1_500_000, 4_000_000))
        self.outages = 0.3
        self.freezes_us = (500_000, 2 * SECOND_US, 5 * SECOND_US, 9 * SECOND_US)
        world.network.loss = rng.choice((0.0, 0.02, 0.15))
        world.network.slow = rng.choice((0.0, 0.05, 0.2))
        world.network.repeat = rng.choice((0.0, 0.1))
        world.database.breaks = rng.choice((0.0, 0.0, 0.01))

    def act(self):
        self.rng.choice(self.kinds)()

    def calm(self):
        network, database = self.world.network, self.world.database
        network.loss = network.slow = network.repeat = database.breaks = 0.0
        database.slowest_us = 3_000
        self.world.restless = 0.0

    def crash(self):
        self.rng.choice(self.world.hosts).crash(self.rng.randrange(100_000, 4 * SECOND_US))

    def outage(self):
        """All nodes are down for longer than runs are made ahead; the first thing they are asked for is a change."""
        if self.rng.random() < self.outages:
            downtime_us = self.rng.randrange(2 * SECOND_US, 7 * SECOND_US)
            for host in self.world.hosts:
                host.crash(downtime_us)
            for _ in range(self.rng.randrange(2, 6)):
                after_us = self.rng.randrange(SECOND_US)
                self.world.at(downtime_us + after_us, self.world.callers.act, self.rng.choice(("pause", "change")))

    def freeze(self):
        life = self.rng.choice(self.world.hosts).life
        if not life.frozen:
            self.world.log(f"{life.name} freezes")
            life.freeze()
            self.world.at(self.rng.choice(self.freezes_us), self._thaw, life)

    def _thaw(self, process):
        self.world.log(f"{process.name} thaws")
        process.thaw()

    def kill_worker(self):
        index = self.rng.randrange(len(self.world.workers))
        self.world.workers[index].crash()
        self.world.start_worker(index)

    def stop_worker(self):
        index = self.rng.randrange(len(self.world.workers))
        if not self.world.workers[index].frozen:
            self.world.workers[index].stop()
            self.world.start_worker(index)

    def freeze_worker(self):
        worker = self.rng.choice(self.world.workers)
        if not worker.frozen:
            self.world.log(f"{worker.name} freezes")
            worker.freeze()
            self.world.at(self.rng.choice((SECOND_US, 4 * SECOND_US, 8 * SECOND_US)), self._thaw, worker)

    def restart_database(self):
        self.world.database.restart(self.rng.randrange(100_000, 2 * SECOND_US))

    def stall_database(self):
        self.world.database.stall(self.rng.randrange(100_000, self.rng.choice((2, 4)) * SECOND_US))

    def stop(self):
        life = self.rng.choice(self.world.hosts).life
        if life.owner is not None:
            self.world.log(f"{life.name} is asked to stop")
            life.call(life.stop)

    def drift(self):
        """The measured offset of a node's clock changes by milliseconds; its wall clock may jump by hours unseen."""
        self.rng.choice(self.world.hosts).life.offset_us = self.rng.randrange(-20_000, 20_000)


def random_job(rng, sequence, shard, world):
    kind = rng.choice(("every", "every", "jitter", "cron", "manual", "manual", "delay"))
    recurrence = rng.choice(world.recurrences[kind]) if kind in world.recurrences else None
    offset_us = 0
    if recurrence is not None and recurrence.jitter_us:
        offset_us = rng.randrange(recurrence.jitter_us // 1000) * 1000
    return StoredJob(
        job_id_of(sequence, shard),
        rng.choice(list(world.weights)),
        rng.choice([n for n, policy in world.policies.items() if policy.fixed_delay == (kind == "delay")]),
        rng.choice((2, 5, 5, 8)),
        recurrence,
        offset_us,
        rng.choice((0, 1, 1000, 1000)),
        0,
        ends_us=rng.choice((None, None, world.now_us + rng.randrange(20 * SECOND_US))),
        window_us=rng.choice((None, None, rng.randrange(8 * SECOND_US))),
        delay_us=rng.choice((50_000, 700_000, 3 * SECOND_US)) if kind == "delay" else None,
        runs_left=rng.choice((None, None, 3)) if kind == "delay" else None,
    )
