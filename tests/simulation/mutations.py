"""Bugs made on purpose: each breaks one rule of the protocol or of the core, and some seed must notice."""

from noonmark.model.reason import Outcome
from noonmark.shard.backlog import Backlog
from noonmark.shard.outbox import Batch
from noonmark.shard.owner import Owner
from noonmark.shard.verdict import Ended
from tests.simulation import command_mutations
from tests.simulation.node import Host, Life
from tests.simulation.store import Store
from tests.simulation.worker import Worker
from tests.simulation.world import World


class DeadNodesWrite(Store):
    """The fence lets the transactions of a dead node pass."""

    def fence(self, node_id):
        pass


class DeadNodesWriteUnwatched(DeadNodesWrite):
    """The same, with the check for exactly this switched off: the other promises must break."""

    def __init__(self, watch, *args):
        super().__init__(watch, *args)
        watch.writes = lambda node_id: None


class WatermarkForgotten(Store):
    """The tick does not write the watermark."""

    def advance(self, terms, until_us):
        pass


class WatermarkFirst(Life):
    """The watermark is written in a transaction of its own, before the tick's runs."""

    def _move(self, terms, before_us, until_us, now_us):
        yield lambda _: self.store.advance(terms, until_us)
        return (yield from super()._move(terms, before_us, until_us, now_us))


class AnswersBeforeCommit(Life):
    def _write(self, batch):
        if batch:
            self.release(batch)
            batch.answers.clear()
            yield from super()._write(batch)


class ZombieAnswers(Life):
    """A node that slept past its lease releases the answers of its last commit."""

    @property
    def trusted(self):
        return True


class SleptThroughHeartbeats(Owner):
    """A node that was frozen calls its workers silent before it has looked at what they sent meanwhile."""

    def rescue(self, now_us):
        self._rescued_us = now_us
        super().rescue(now_us)


class RefusedUnheard(Life):
    """What a worker says while the node does not trust its lease is no sign of life."""

    def hear(self, event, *args):
        if self.trusted:
            super().hear(event, *args)


class TickWatermarkLate(Life):
    """Memory learns of the new watermark after the tick instead of before."""

    def _tick(self):
        begin_tick, late = self.owner.begin_tick, []
        self.owner.begin_tick = lambda *args: late.append(args)
        yield from super()._tick()
        self.owner.begin_tick = begin_tick
        for args in late:
            begin_tick(*args)


class PageBeforeCommit(Life):
    """A page is read while older decisions are still in the outbox: it lacks the runs created there."""

    def _page(self):
        take_outbox, self.owner.take_outbox = self.owner.take_outbox, lambda: None
        page = super()._page()
        try:
            call = next(page)
        except StopIteration:
            self.owner.take_outbox = take_outbox
            return
        self.owner.take_outbox = take_outbox
        try:
            page.send((yield call))
        except StopIteration:
            return


class DropAfterGiving(Life):
    """The shard is free before memory forgets it: what is decided in between is written by a former owner."""

    def _give(self, shards):
        yield from self._flush()
        yield lambda _: self.store.give(self.owner.node_id, shards)
        self._drop(shards)


class FoundUnfiltered(Life):
    """Rows read by a change of a job enter memory though they ended meanwhile."""

    def _found(self, rows):
        for row in rows:
            self.owner.admit(row, self.now_us())


class CancelAfterCommit(Life):
    """Whether a run is in memory is asked after the commit and not together with taking the outbox."""

    def _cancel(self, client, job_id, nominal_us):
        yield from self._flush()
        now_us = self.now_us()
        key = (job_id, nominal_us)
        if self.owner.cancel(key, now_us) is None:
            yield lambda _: self.store.cancel_waiting(self.owner.node_id, key, now_us)


class DeleteSparesTheGrantedLate(Life):
    """Which runs of a deleted job workers have is asked after the commit: one that has just ended ends again."""

    def _asked(self, change, job_id, *args):
        if change.__name__ == "delete":
            args = ([nominal_us for _, nominal_us in self.owner.granted_of({job_id})], *args[1:])
        return super()._asked(change, job_id, *args)


class ResumeForgetsHistory(Store):
    """Resuming makes an occurrence again that was cancelled before its time."""

    def has_ended(self, key):
        return False


class GrantsMissedTooSoon(Life):
    """The owner's patience for a grant begins when it decides and not when its answer leaves."""

    def owner_waits(self, batch):
        pass

    def release(self, batch):
        known = {row.grant_id: self.owner.fleet.grants[row.grant_id].known_us for row in batch.grants
                 if row.grant_id in self.owner.fleet.grants}  # fmt: skip
        super().release(batch)
        for grant_id, known_us in known.items():
            self.owner.fleet.grants[grant_id].known_us = known_us


class OldHeartbeatsBelieved(Life):
    """A heartbeat that lay in a buffer is taken for what the worker holds now."""

    def hear_heartbeat(self, worker_id, worker, grants, sent_us, never):
        super().hear_heartbeat(worker_id, worker, grants, self.world.now_us, never)


class OldAnswersStart(Worker):
    """A worker that was frozen starts what lay in its buffer, though it may have been granted again meanwhile."""

    def hear_grant(self, number, grant, runs, host, sent_us):
        super().hear_grant(number, grant, runs, host, self.world.now_us)


class AnyReportCounts(Owner):
    """A report counts whatever grant, worker and attempt it names."""

    def report(self, token, worker_id, items, now_us):
        for item in items:
            live = self.live.get((item.job_id, item.nominal_us))
            if live is not None and live.grant is not None:
                item.grant, item.attempt = live.grant.grant_id, live.attempt + 1
                worker_id = live.grant.worker_id
        super().report(token, worker_id, items, now_us)


class AttemptsReused(Owner):
    """A grant that is taken back does not use up its attempt number."""

    def _end_grant(self, grant, outcome, reason, now_us):
        for live in grant.current():
            self.fleet.detach(live, grant)
            self.backlog.enter(live.lane)
            self._wait(live, now_us)


class UndeliveredKept(Owner):
    """Grants that never arrived are not taken back."""

    def heartbeat(self, worker_id, grant_ids, now_us, never):
        return super().heartbeat(worker_id, [*grant_ids, *self.fleet.workers[worker_id].grants], now_us, ())


class SilentKept(Owner):
    """Grants of silent workers are not taken back."""

    def rescue(self, now_us):
        for worker in self.fleet.workers.values():
            worker.seen_us = now_us
        super().rescue(now_us)


class ClaimsOfTheSilentKept(Owner):
    """The claim of a worker that was given up is still served."""

    def rescue(self, now_us):
        claims = self._claims.copy()
        super().rescue(now_us)
        self._claims = claims


class SilenceBeginsAnew(Life):
    """Each new owner gives the workers of its grants their whole time to be silent."""

    def last_heard_us(self, worker_id):
        return self.now_us()


class OutagesAreSilence(Life):
    """What no node could hear counts as silence, and a new node gives nobody time to appear."""

    def last_heard_us(self, worker_id):
        return self.store.seen_us.get(worker_id, 0)


class PagesUnfiltered(Owner):
    """A page brings back what ended or went to sleep after it was read."""

    def paged(self, page, rows, now_us):
        outbox = self.outbox
        self.outbox = type(outbox)()
        try:
            super().paged(page, rows, now_us)
        finally:
            self.outbox = outbox


class MarkTooFar(Backlog):
    """After a full page the mark is put one row too far."""

    def paged(self, page, last):
        super().paged(page, None if last is None else (last[0] + 2_000_000, last[1]))


class MarkDropped(Backlog):
    """What was passed over while a page was read is forgotten when the page is done."""

    def paged(self, page, last):
        if page.lane is not None and page.lane in self._lanes:
            self._lanes[page.lane].marks.pop(page.shard, None)
        super().paged(page, last)


class LostIsReleased(Owner):
    """A lost attempt of an at-most-once run is tried again."""

    def _end_attempt(self, live, grant, end, now_us, reason=None):
        if end.outcome is Outcome.LOST:
            end = Ended(Outcome.RELEASED, now_us)
        super()._end_attempt(live, grant, end, now_us, reason)


class StartedIsHandedOn(Owner):
    """An attempt of an at-most-once run that its worker began and handed back is tried again."""

    def _end_attempt(self, live, grant, end, now_us, reason=None):
        if end.outcome is Outcome.RELEASED:
            end = Ended(Outcome.RELEASED, now_us)
        super()._end_attempt(live, grant, end, now_us, reason)


class UnnamedIsUnstarted(Owner):
    """What a worker does not name is taken for never received, also where it must not begin twice."""

    def heartbeat(self, worker_id, grant_ids, now_us, never):
        return super().heartbeat(worker_id, grant_ids, now_us, set(self.fleet.workers[worker_id].grants))


class AnyEndFollowed(Store):
    """The end of any scheduled run makes the next run, also of one that was taken back from the dead letters."""

    def is_current(self, job, nominal_us):
        return job.delay_us is not None


class FollowedApart(Life):
    """The next run is made in a transaction of its own, after the one that ended the run before it."""

    def _write(self, batch):
        ends, batch.fixed_delay_ends = batch.fixed_delay_ends, []
        yield from super()._write(batch)
        if ends:
            apart = Batch()
            apart.fixed_delay_ends = ends
            self._follow((yield lambda _: self.store.commit(self.owner.node_id, apart)))


class FollowersForgotten(Life):
    """The next run of a fixed delay does not enter memory."""

    def _follow(self, rows):
        pass


class FollowersStay(Life):
    """A run that the commit before a pause has made stays in memory."""

    def _withdraw_again(self, job_id):
        pass


class CancelledUnfollowed(Owner):
    """A run of a fixed delay that ends without an attempt is followed by nothing."""

    def _end_waiting(self, live, *args):
        ends = list(self.outbox.fixed_delay_ends)
        super()._end_waiting(live, *args)
        self.outbox.fixed_delay_ends[:] = ends


def _mutant(part):
    """A world in which one class is replaced by the broken one."""
    if issubclass(part, Store):
        return type(part.__name__, (World,), {"store_class": part})
    if issubclass(part, Worker):
        return type(part.__name__, (World,), {"worker_class": part})
    if issubclass(part, Host):
        return type(part.__name__, (World,), {"host_class": part})
    if issubclass(part, Life):
        return type(part.__name__, (World,), {"life_class": part})
    if issubclass(part, Backlog):
        broken, part = part, type(part.__name__, (Owner,), {})

        def __init__(self, **given):  # noqa: N807
            Owner.__init__(self, **given)
            backlog = self.backlog
            self.backlog = broken(
                memory_runs=backlog.memory_runs, lane_runs=backlog.lane_runs, page_runs=backlog.page_runs
            )

        part.__init__ = __init__
    host = type(part.__name__, (Host,), {"owner_class": part})
    return type(part.__name__, (World,), {"host_class": host})


PARTS = (
    DeadNodesWrite, DeadNodesWriteUnwatched, WatermarkForgotten, WatermarkFirst, AnswersBeforeCommit, ZombieAnswers,
    SleptThroughHeartbeats, RefusedUnheard, TickWatermarkLate, PageBeforeCommit, DropAfterGiving, FoundUnfiltered,
    CancelAfterCommit, DeleteSparesTheGrantedLate, ResumeForgetsHistory, GrantsMissedTooSoon, OldHeartbeatsBelieved,
    OldAnswersStart, AnyReportCounts, AttemptsReused, UndeliveredKept, SilentKept, ClaimsOfTheSilentKept,
    SilenceBeginsAnew, OutagesAreSilence,
    PagesUnfiltered, MarkTooFar, MarkDropped, LostIsReleased, StartedIsHandedOn, UnnamedIsUnstarted,
    AnyEndFollowed, FollowedApart, FollowersForgotten,
    FollowersStay, CancelledUnfollowed, *command_mutations.PARTS,
)  # fmt: skip
SLOW_DATABASE = {"slowest_us": 120_000}
BUSY = (6, 20, 8, 0, 0, 0, 0, 0)
"""Users create and submit, and change nothing."""
WEATHER = {
    ZombieAnswers: {
        **SLOW_DATABASE,
        "kinds": ["freeze"],
        "interval_us": 6_000_000,
        "poll_us": 9_000_000,
        "loss": 0.0,
        "slow": 0.0,
        "weights": BUSY,
    },
    CancelAfterCommit: {**SLOW_DATABASE, "weights": (3, 12, 4, 30, 1, 6, 0, 0)},
    DeleteSparesTheGrantedLate: {**SLOW_DATABASE, "weights": (12, 12, 4, 2, 1, 2, 12, 0)},
    FoundUnfiltered: {**SLOW_DATABASE, "weights": (3, 12, 4, 0, 12, 12, 0, 0)},
    FollowersStay: {**SLOW_DATABASE, "weights": (12, 2, 0, 0, 20, 20, 2, 0)},
    DropAfterGiving: {"slowest_us": 300_000, "kinds": ["crash"], "interval_us": 4_000_000, "weights": BUSY},
    GrantsMissedTooSoon: {"kinds": ["stall_database"], "interval_us": 2_500_000, "slow": 0.4, "loss": 0.0},
    OldAnswersStart: {"kinds": ["freeze_worker"], "interval_us": 3_000_000, "slow": 0.3},
    OldHeartbeatsBelieved: {"slow": 0.6, "loss": 0.0, "kinds": ["drift"]},
    UnnamedIsUnstarted: {"kinds": ["stop_worker"], "interval_us": 1_500_000, "loss": 0.3, "weights": BUSY},
    SilenceBeginsAnew: {"kinds": ["kill_worker", "stop"], "interval_us": 1_500_000, "loss": 0.0, "weights": BUSY},
    OutagesAreSilence: {"kinds": ["crash", "restart_database"], "interval_us": 1_500_000, "weights": BUSY},
    MarkDropped: {**SLOW_DATABASE, "kinds": ["drift"], "limits": command_mutations.CRAMPED},
    **command_mutations.WEATHER,
}
"""Where a bug shows only in rare circumstances, these are made less rare."""
UNBROKEN = {part.__name__: type("World", (World,), {"weather": WEATHER.get(part, {})}) for part in PARTS}
"""Each mutant's world without the bug."""
MUTANTS = {part.__name__: type(part.__name__, (_mutant(part),), {"weather": WEATHER.get(part, {})}) for part in PARTS}
BLIND = {name: type(name, (world,), {"checks_memory": False}) for name, world in MUTANTS.items()}
"""The same with nobody looking into the nodes' memory."""
