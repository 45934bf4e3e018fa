"""The promises of the design as checks. The store, the workers and the nodes of a world tell `Checks` what happens."""

from collections import defaultdict

from noonmark.model.ids import shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.shard.live_run import State

TTL_US = 3_000_000
CLOCK_ERROR_US = 50_000


class Violation(AssertionError):
    """A promise was broken; the message begins with its name."""


def require(condition, promise, *facts):
    if not condition:
        raise Violation(f"{promise}: {' '.join(str(fact) for fact in facts)}")


class Checks:
    """What has been promised to whom, and what really ran where."""

    def __init__(self, world):
        self.world = world
        self.acked = {}
        """key -> when its submission was acknowledged."""
        self.running = defaultdict(dict)
        """key -> {worker_id: attempt} of what workers execute at this instant."""
        self._attempts = {}
        """(key, attempt) -> the worker that started it."""
        self._delayed = {}
        """job_id -> the key of the latest run of its fixed delay."""
        self._told = {}
        self._arrived_us = {}
        """(host, worker_id) -> when a word of it last came, and when one last came after too long a silence."""

    # -- what the store sees -----------------------------------------------------------------------------------------

    def happens(self, effect):
        self.world.promises.happens(effect)

    def writes(self, node_id):
        require(self.world.store.nodes[node_id].alive, "zombie", "dead node", node_id, "writes")

    def inserts_run(self, row, job):
        finals = self.world.store.finals
        require(row.key not in finals, "one run per occurrence", row.key, "is made again after", finals.get(row.key))
        if row.reason in (Reason.SCHEDULED, Reason.CAUGHT_UP):
            require(job.active and row.nominal_us > job.since_us, "paused", row.key, "is made for an inactive job")
            in_bounds = job.ends_us is None or row.nominal_us <= job.ends_us
            require(in_bounds, "bounds", row.key, "is made after", job.ends_us)
            if job.delay_us is not None:
                self._inserts_delayed(row, job)

    def _inserts_delayed(self, row, job):
        before = self._delayed.get(job.job_id)
        self._delayed[job.job_id] = row.key
        if before is not None:
            end = self.world.store.finals.get(before)
            require(end is not None, "one run at a time", row.key, "is made while", before, "has not ended")
            apart_us = row.nominal_us - end.finished_us
            require(apart_us >= job.delay_us - CLOCK_ERROR_US, "one run at a time", row.key, "follows too soon", before)

    def changes(self, job_id, begun_us, now_us):
        """What was due when the owner came to a change belongs to the time before it, and the ticks have made it."""
        watermark_us = self.world.store.shards[shard_of(job_id)].watermark_us
        in_time = begun_us - CLOCK_ERROR_US <= now_us <= watermark_us
        facts = ("is changed as of", now_us, "begun at", begun_us, "ticked up to", watermark_us)
        require(in_time, "never a missed occurrence", job_id, *facts)

    def parks(self, key, parked, job):
        require(not parked or job is None or not job.active, "paused", key, "is parked though its job is active")

    def grants(self, entry, grant_id):
        store = self.world.store
        key, attempt = entry[:2], entry[2]
        row = store.run(key)
        require(row is not None, "one run per occurrence", key, "is granted without a row")
        require(key not in store.held, "one grant", key, "is granted as", grant_id, "and held by", store.held.get(key))
        require(attempt == row.attempt + 1, "attempts increase", key, attempt, "granted after", row.attempt)
        if row.attempt == 0 and self.world.users_active:
            job = store.jobs.get(key[0])
            require(job is not None and job.active, "paused", key, "starts after its job was paused or deleted")

    def inserts_attempt(self, row, store):
        key = (row.job_id, row.nominal_us)
        require(key not in store.finals, "one end per run", key, row.outcome.name, "after", store.finals.get(key))
        last = store.last_attempt.get(key, 0)
        require(row.attempt == 0 or row.attempt == last + 1, "attempts increase", key, row.attempt, "ended after", last)
        if row.attempt:
            require(row.worker_id is not None and row.granted_us is not None, "explained", key, "has no worker")
        if row.outcome in (Outcome.SUCCEEDED, Outcome.FAILED):
            told = self._told.get((key, row.attempt, row.worker_id))
            require(told is row.outcome, "attempt check", key, row.attempt, row.outcome.name, "of", row.worker_id, told)

    def arrives(self, host, party):
        """A word of a worker reaches the machine, whether or not the node there can hear it now."""
        last_us, silence_us = self._arrived_us.get((host, party), (0, 0))
        if self.world.now_us - last_us > self.world.limits.silence_us - CLOCK_ERROR_US:
            silence_us = self.world.now_us
        self._arrived_us[host, party] = (self.world.now_us, silence_us)

    def loses_worker(self, host, worker_id):
        """It has been silent for too long, or was so a moment ago and spoke up while the node was frozen."""
        last_us, silence_us = self._arrived_us.get((host, worker_id), (0, 0))
        silent = self.world.now_us - last_us > self.world.limits.silence_us - CLOCK_ERROR_US
        spoke_up = self.world.now_us - silence_us <= TTL_US
        require(silent or spoke_up, "not silent", "worker", worker_id, "was heard at", last_us, "and before")

    # -- what workers see --------------------------------------------------------------------------------------------

    def starts(self, worker_id, key, attempt):
        require((key, attempt) not in self._attempts, "attempts increase", key, attempt, "is started twice")
        self._attempts[key, attempt] = worker_id
        for other, older in self.running[key].items():
            end = self.world.store.ends.get((key, older))
            require(
                end in (Reason.WORKER_LOST, Reason.TIMED_OUT, Reason.ATTEMPTS_EXHAUSTED, Reason.AT_MOST_ONCE),
                "no two live attempts", key, "attempt", attempt, "on", worker_id, "while", other, "runs", older,
                "which ended as", end,
            )  # fmt: skip
        self.running[key][worker_id] = attempt
        if self.world.policy_of(key[0]).delivery == "at_most_once":
            store = self.world.store
            for older in range(store.redriven.get(key, 0) + 1, attempt):
                starter = self._attempts.get((key, older))
                told = self._told.get((key, older, starter)) in (Outcome.FAILED, Outcome.TIMED_OUT)
                heard = told and store.ends.get((key, older)) in (Reason.FAILED, Reason.TIMED_OUT)
                require(starter is None or heard, "at most once", key, "after", older)

    def stops(self, worker_id, key):
        self.running[key].pop(worker_id, None)

    def tells(self, worker_id, key, attempt, outcome):
        self._told[key, attempt, worker_id] = outcome

    # -- at the end --------------------------------------------------------------------------------------------------

    def check_fixed_delays(self, jobs):
        """Every active fixed delay has a run, unless it has come to its end."""
        for job in jobs:
            if job.delay_us is not None:
                over = job.current_run_us is None and (job.runs_left == 0 or job.ends_us is not None)
                going = self.world.store.run((job.job_id, job.current_run_us)) is not None
                require(going or over, "the fixed delay goes on", job.job_id, "stands still at", job.current_run_us)

    def check_end(self):
        store = self.world.store
        for key in self.acked:
            require(key in store.finals or key in store.parked, "nothing acknowledged is lost", key)
        for key, row in store.finals.items():
            require(store.run(key) is None, "one run per occurrence", key, "is final and live")
            dead = row.outcome not in (Outcome.SUCCEEDED, Outcome.CANCELLED, Outcome.EXPIRED, Outcome.WITHDRAWN)
            require(dead == (key in store.dead), "explained", key, row.outcome.name, "dead letter", key in store.dead)
        for job_id, nominal_us in self.world.oracle.expected():
            key = (job_id, nominal_us)
            require(key in store.finals or store.run(key) is not None, "never a missed occurrence", key)
        require(not store.held, "nothing acknowledged is lost", "grants never ended", dict(store.held))


def check_memory(life, store):
    """What a node remembers, against the rows; asked only when its outbox is empty and nothing is under way."""
    owner = life.owner
    backlog = owner.backlog
    waiting = [live for live in owner.live.values() if live.state is not State.GRANTED]
    require(backlog.size == len(waiting), "memory", "backlog counts", backlog.size, "of", len(waiting))
    require(owner._ready.size == sum(live.state is State.READY for live in waiting), "memory", "ready queue's size")
    lanes = backlog._lanes
    bound = backlog.memory_runs + len(lanes) * backlog.lane_runs
    if backlog.size > bound:
        requeued = sum(live.attempt > 0 for live in waiting)
        require(backlog.size <= bound + requeued, "memory", backlog.size, "runs waiting, bound", bound)
    for shard, watermark_us in owner.watermarks.items():
        if store.shards[shard].owner != owner.node_id:
            continue
        require(store.shards[shard].watermark_us == watermark_us, "memory", "watermark of shard", shard)
        cursor = backlog._scans.get(shard)
        for key, row in store.runs[shard].items():
            live = owner.live.get(key)
            if live is not None:
                same = (live.attempt, live.failures, live.due_us) == (row.attempt, row.failures, row.due_us)
                require(same, "memory", key, "differs from its row", row)
                continue
            require(key not in store.held, "memory", key, "is granted and not in memory")
            if row.due_us > watermark_us or row.nominal_us > watermark_us or key in store.parked:
                continue
            place = (row.nominal_us, row.job_id)
            lane = lanes.get((row.tenant_id, life.policies[row.policy_id].kind, row.priority))
            mark = lane.marks.get(shard) if lane is not None else None
            behind = (mark is not None and place >= mark) or (cursor is not None and place >= cursor)
            require(behind, "backlog", key, "is due, not in memory and not behind a mark")
    for key, live in owner.live.items():
        if store.shards[live.shard].owner == owner.node_id:
            require(key in store.runs[live.shard], "memory", key, "has no row")
