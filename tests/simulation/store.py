"""A small model of the store: the specification that the core and the SQL are both judged by.

Each method is one transaction and happens at one instant. That is what the row lock of the fence makes of the real
ones: declaring a node dead waits for its transactions, and later ones of it fail.
"""

from dataclasses import dataclass, field

from noonmark.model.ids import shard_of
from noonmark.model.reason import Reason
from noonmark.model.run import RunRow
from noonmark.schedule import slices
from noonmark.schedule.bounds import Bounded
from noonmark.shard.listening import NodeLife
from noonmark.store.fence import Fenced
from tests.simulation.invariants import require
from tests.simulation.job_rows import JobRows

GRACE_US = 1_500_000


class Refused(Fenced):
    """The database said no: the node was declared dead, or lost the shard."""


@dataclass
class NodeRow:
    began_us: int
    lease_until_us: int
    alive: bool = True


@dataclass
class ShardRow:
    watermark_us: int
    owner: int | None = None
    term: int = 0


@dataclass
class StoredJob:
    job_id: int
    tenant_id: int
    policy_id: int
    priority: int
    recurrence: object
    offset_us: int
    catch_up: int
    since_us: int
    active: bool = True
    ends_us: int | None = None
    window_us: int | None = None
    delay_us: int | None = None
    """Of a fixed delay: each run comes so long after the end of the one before."""
    current_run_us: int | None = None
    runs_left: int | None = None
    """Runs that a fixed delay may still make."""
    version: int = 1
    skips: set[int] = field(default_factory=set)
    """Occurrences that somebody asked to skip."""

    @property
    def bounded(self):
        return self.recurrence if self.ends_us is None else Bounded(self.recurrence, end_us=self.ends_us)

    def run(self, nominal_us, due_us, reason):
        return RunRow(
            self.job_id, nominal_us, due_us, self.tenant_id, 1, self.policy_id, self.priority, 0, 0, reason, None
        )


class Store(JobRows):
    def __init__(self, watch, oracle, shard_count, now_us):
        self.checks = watch
        self.oracle = oracle
        self.nodes = {}
        self.seen_us = {}
        """worker_id -> when any node heard it last."""
        self.shards = {shard: ShardRow(now_us) for shard in range(shard_count)}
        self.jobs = {}
        self.runs = {shard: {} for shard in range(shard_count)}
        self.grants = {}
        self.parked = set()
        """Keys of waiting runs of paused jobs: a column of the run."""
        self.held = {}
        """key -> the grant that holds it now: derived, for the invariants."""
        self.dead = {}
        self.redriven = {}
        self.finals = {}
        self.ends = {}
        """(key, attempt) -> reason: the history."""
        self.last_attempt = {}
        self.requests = {}
        """(tenant, key) -> {shard: row}: requests with a key that were carried out."""

    def run(self, key):
        return self.runs[shard_of(key[0])].get(key)

    # -- nodes and shards --------------------------------------------------------------------------------------------

    def fence(self, node_id):
        if not self.nodes[node_id].alive:
            raise Refused(f"node {node_id} was declared dead")

    def register(self, now_us, ttl_us):
        node_id = len(self.nodes) + 1
        self.nodes[node_id] = NodeRow(now_us, now_us + ttl_us)
        return node_id

    def see(self, heard):
        """When a node heard workers; no fence, as the rows of workers are nobody's own."""
        for worker_id, heard_us in heard:
            self.seen_us[worker_id] = max(self.seen_us.get(worker_id, 0), heard_us)

    def lives(self, ttl_us):
        return [NodeLife(node.began_us, node.lease_until_us - ttl_us) for node in self.nodes.values()]

    def renew(self, node_id, now_us, ttl_us):
        self.fence(node_id)
        self.nodes[node_id].lease_until_us = now_us + ttl_us

    def end(self, node_ids):
        for node_id in node_ids:
            self.nodes[node_id].alive = False
        for shard in self.shards.values():
            if shard.owner in node_ids:
                shard.owner, shard.term = None, shard.term + 1

    def end_expired(self, now_us):
        expired = [node_id for node_id, node in self.nodes.items() if node.alive and node.lease_until_us < now_us]
        self.end(expired)
        return expired

    def share(self):
        alive = sum(node.alive for node in self.nodes.values())
        return -(-len(self.shards) // max(1, alive))

    def take(self, node_id, most):
        """(shard, term, watermark, grants, granted rows, paused jobs) of ownerless shards that are the node's now."""
        self.fence(node_id)
        taken = []
        for number, shard in self.shards.items():
            if shard.owner is None and len(taken) < most:
                shard.owner, shard.term = node_id, shard.term + 1
                grants = [grant for (home, _), grant in self.grants.items() if home == number]
                keys = {key for grant in grants for key in zip(grant.job_ids, grant.nominals_us, strict=True)}
                rows = [row for key, row in self.runs[number].items() if key in keys]
                paused = {row.job_id for row in rows if (job := self.jobs.get(row.job_id)) and not job.active}
                taken.append((number, shard.term, shard.watermark_us, grants, rows, paused))
        return taken

    def give(self, node_id, numbers):
        self.fence(node_id)
        for number in numbers:
            if self.shards[number].owner == node_id:
                self.shards[number].owner = None
                self.shards[number].term += 1

    # -- runs --------------------------------------------------------------------------------------------------------

    def commit(self, node_id, batch):
        self.fence(node_id)
        self.checks.writes(node_id)
        for row in batch.created:
            self._insert_run(row)
        for rewait in batch.requeues.values():
            key = (rewait.job_id, rewait.nominal_us)
            row = self.run(key)
            if row is not None:
                self.runs[rewait.shard][key] = row._replace(
                    attempt=rewait.attempt, failures=rewait.failures, due_us=rewait.due_us, reason=rewait.reason,
                    sleeps=rewait.sleeps,
                )  # fmt: skip
                self.checks.parks(key, rewait.parked, self.jobs.get(rewait.job_id))
                (self.parked.add if rewait.parked else self.parked.discard)(key)
        for shard, nominal_us, job_id in batch.cancelling:
            row = self.run((job_id, nominal_us))
            if row is not None:
                self.runs[shard][row.key] = row._replace(reason=Reason.CANCEL_REQUESTED)
        for dead in batch.dead:
            key = (dead.job_id, dead.nominal_us)
            require(key not in self.dead, "one end per run", key, "dies twice")
            require(self.run(key) is not None, "one end per run", key, "dies without a row")
            self.dead[key] = dead
        for shard, nominal_us, job_id in batch.ended:
            self.parked.discard((job_id, nominal_us))
            gone = self.runs[shard].pop((job_id, nominal_us), None)
            require(gone is not None, "one end per run", (job_id, nominal_us), "ends without a row")
        # A run that was granted, ended and granted again within one batch is held by the last of its grants.
        for row in batch.attempts:
            self.held.pop((row.job_id, row.nominal_us), None)
        over = {(row.job_id, row.nominal_us, row.attempt) for row in batch.attempts}
        for grant in batch.grants:
            self.grants[grant.shard, grant.grant_id] = grant
            self._hold(grant, over)
        for place in batch.finished_grants:
            self.grants.pop(place, None)
        for row in batch.attempts:
            self._insert_attempt(row)
        for effect in batch.audit:
            self.checks.happens(effect)
        self.keep(batch.requests)
        return [row for end in batch.fixed_delay_ends for row in self.follow(end.job_id, end.nominal_us, end.ended_us)]

    def follow(self, job_id, nominal_us, ended_us):
        """A run ended: if it was the current run of an active fixed delay, the next one takes its place."""
        job = self.jobs.get(job_id)
        if job is None or not job.active or not self.is_current(job, nominal_us):
            return []
        return self._make_current(job, max(max(ended_us, nominal_us) + job.delay_us, job.since_us + 1))

    def is_current(self, job, nominal_us):
        return job.current_run_us == nominal_us

    def _make_current(self, job, at_us):
        at_us = -(-at_us // 1000) * 1000
        if job.runs_left == 0 or (job.ends_us is not None and at_us > job.ends_us):
            job.current_run_us = None
            return []
        while self.has_ended((job.job_id, at_us)):
            at_us += 1000
        job.current_run_us = at_us
        if job.runs_left is not None:
            job.runs_left -= 1
        due_us = at_us + job.offset_us
        sleeps = due_us > self.shards[shard_of(job.job_id)].watermark_us
        row = job.run(at_us, due_us, Reason.SCHEDULED)._replace(sleeps=sleeps)
        self._insert_run(row)
        return [row]

    def _hold(self, grant, over):
        for entry in zip(grant.job_ids, grant.nominals_us, grant.attempts, strict=True):
            if entry not in over:
                self.checks.grants(entry, grant.grant_id)
                self.held[entry[:2]] = grant.grant_id

    def _insert_run(self, row):
        require(self.run(row.key) is None, "one run per occurrence", row.key, "is inserted twice")
        self.checks.inserts_run(row, self.jobs.get(row.job_id))
        self.runs[row.shard][row.key] = row

    def _insert_attempt(self, row):
        key = (row.job_id, row.nominal_us)
        self.checks.inserts_attempt(row, self)
        if row.attempt:
            self.last_attempt[key] = row.attempt
            self.ends[key, row.attempt] = row.reason
        if row.final:
            self.finals[key] = row

    def tick(self, node_id, terms, before_us, until_us, now_us):
        """Wakes what sleeps until then, makes what is due until then, advances the watermark."""
        self.fence(node_id)
        self.prove(node_id, terms)
        self.checks.writes(node_id)
        found = self.wake(before_us, until_us)
        found += self.make(terms, before_us, until_us, now_us)
        self.advance(terms, until_us)
        return found

    def prove(self, node_id, terms):
        for number, term in terms.items():
            if (self.shards[number].owner, self.shards[number].term) != (node_id, term):
                raise Refused(f"node {node_id} lost shard {number}")

    def wake(self, before_us, until_us):
        return [
            row
            for number, w_us in before_us.items()
            for key, row in self.runs[number].items()
            if row.sleeps and w_us < row.due_us <= until_us and key not in self.parked
        ]

    def make(self, terms, before_us, until_us, now_us):
        made = []
        for job in self.jobs.values():
            shard = shard_of(job.job_id)
            if shard not in terms or job.recurrence is None or not job.active:
                continue
            self.oracle.ticked(job, before_us[shard], until_us, now_us)
            for cut in slices(job.bounded, before_us[shard], until_us, now_us, GRACE_US, 1000):
                if not cut.offset_from_us < job.offset_us <= cut.offset_to_us or cut.nominal_us <= job.since_us:
                    continue
                if cut.nominal_us in job.skips:
                    continue
                late_us = now_us - cut.nominal_us - job.offset_us
                in_window = job.window_us is None or late_us <= job.window_us
                if not cut.missed or (cut.rank < job.catch_up and in_window):
                    reason = Reason.CAUGHT_UP if cut.missed else Reason.SCHEDULED
                    row = job.run(cut.nominal_us, cut.nominal_us + job.offset_us, reason)
                    if self.run(row.key) is None:
                        self._insert_run(row)
                        made.append(row)
        return made

    def advance(self, terms, until_us):
        for number in terms:
            require(self.shards[number].watermark_us <= until_us, "watermark", "of shard", number, "falls")
            self.shards[number].watermark_us = until_us

    def page(self, node_id, page, policy_ids):
        self.fence(node_id)
        w_us = self.shards[page.shard].watermark_us
        rows = [
            row
            for row in self.runs[page.shard].values()
            if (row.nominal_us, row.job_id) >= page.start
            and row.key not in self.parked
            and row.due_us <= w_us
            and row.nominal_us <= w_us
            and (
                page.lane is None
                or (row.tenant_id == page.lane[0] and row.priority == page.lane[2] and row.policy_id in policy_ids)
            )
        ]
        rows.sort(key=lambda row: (row.nominal_us, row.job_id))
        return rows[: page.limit]

    def redrive(self, node_id, key, now_us):
        """A dead letter lives again: its attempts go on counting, its failures begin anew."""
        self.fence(node_id)
        self.checks.writes(node_id)
        dead = self.dead.pop(key, None)
        if dead is None:
            return []
        job = self.jobs[key[0]]
        row = job.run(key[1], now_us, Reason.REDRIVEN)._replace(attempt=dead.attempt)
        del self.finals[key]
        self.redriven[key] = dead.attempt
        self._insert_run(row)
        return [row]
