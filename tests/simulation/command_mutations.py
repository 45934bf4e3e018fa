"""Bugs made on purpose in the way of a command: how it is split, carried out once, dropped when stale, and answered."""

from contextlib import asynccontextmanager
from types import FunctionType

from msgspec.structs import replace

from noonmark.clock import NEVER_US
from noonmark.errors import NotOwner, OutcomeUnknown
from noonmark.node import perform as performing
from noonmark.node.commands import carry_out as carrying
from noonmark.node.in_flight import InFlight
from noonmark.shard.limits import Limits
from noonmark.shard.owner import Owner
from noonmark.wire.commands import BatchCommand
from tests.simulation.handlers import Transact
from tests.simulation.node import Host, Life
from tests.simulation.units import Units
from tests.simulation.world import OVERRUN_US, PATIENCE, ROOM


def altered(function, **names):
    """The same function with other things behind some of the names that it uses."""
    return staticmethod(
        FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    )


class NoDeadline(Life):
    """The owner carries out what nobody waits for any more."""

    def check_command(self, command, shards):
        super().check_command(replace(command, deadline_us=NEVER_US), shards)


class DeadlineByFrozenClock(Life):
    """The owner's clock stood still while it was frozen, until it has asked the database again."""

    _froze_us = _lag_us = 0

    def freeze(self):
        self._froze_us = self.world.now_us
        super().freeze()

    def thaw(self):
        self._lag_us += self.world.now_us - self._froze_us
        super().thaw()

    def check_command(self, command, shards):
        super().check_command(replace(command, deadline_us=command.deadline_us + self._lag_us), shards)


class KeyKeptBefore(Life):
    """The key is committed before its effect, and leads to nothing if that fails."""

    async def with_key(self, transaction, rows, hoped):
        await Transact(lambda _: self.store.keep(rows(hoped)))
        return await Transact(transaction)


class KeyKeptAfter(Life):
    """The effect is committed before its key, and happens again if that fails."""

    async def with_key(self, transaction, rows, hoped):
        done = await Transact(transaction)
        await Transact(lambda _: self.store.keep(rows(done)))
        return done


class NoTermCheck(Life):
    """What was known of a key is believed although the shard was somebody else's meanwhile."""

    def check_command(self, command, shards):
        super().check_command(replace(command, key=None), shards)


class AllAtOnce(InFlight):
    @asynccontextmanager
    async def alone(self, tenant_id, key, terms):
        self._terms[tenant_id, key] = terms()
        yield


class OneKeyAtOnce(Life):
    """Two requests with one key are carried out side by side."""

    in_flight_class = AllAtOnce


async def _recall_whole(pool, command, now_us):
    known = await carrying.recall(pool, command, now_us)
    if not known or not isinstance(command, BatchCommand):
        return known
    shards = command.shards(pool._process.world.shard_count)
    return {shard: [*known.get(shard, ()), *([None] * len(shards))] for shard in shards}


class KeyOfTheWholeBatch(Host):
    """One shard's row speaks for all of a batch."""

    carry = altered(carrying.carry_out, recall=_recall_whole)


class UnknownRepeated(Host):
    """What may have been done is tried again, also without a key."""

    perform = altered(
        performing.perform, _may_repeat=lambda failure, _: isinstance(failure, (NotOwner, OutcomeUnknown))
    )


class UnknownForgotten(Host):
    """What may have been done in one round is called not done when the next finds nobody."""

    perform = altered(performing.perform, _note=lambda *_: None)


class UnknownToldAsNothing(Life):
    """Who waits for a commit with an unknown end is told that nothing was done."""

    def leave_with_outbox(self, effects, requests):
        token = super().leave_with_outbox(effects, requests)

        async def flush():
            try:
                return await token
            except OutcomeUnknown as error:
                raise NotOwner("nothing was done") from error

        return flush()


class ChangesDoNotWait(Life):
    """A change does not wait until the ticks have made what is due."""

    @staticmethod
    async def with_jobs_withdrawn(life, *args):
        class Ahead:
            watermarks = dict.fromkeys(range(life.shard_count), NEVER_US)

            def __getattr__(self, name):
                return getattr(life.owner, name)

        class Seen:
            owner = Ahead()

            def __getattr__(self, name):
                return getattr(life, name)

        return await Units.with_jobs_withdrawn(Seen(), *args)


class ChangedAsOfLate(Life):
    """A change counts from the time of its transaction, though the ticks have not made all that is due by then."""

    @staticmethod
    def instant_of_change(life, _):
        return life.now_us()


async def _do_reversed(here, send, address, part):
    count = len(part.shards(here.shard_count))
    return await performing._do(here, send, address, part.part(range(count)[::-1]))


class PartsInWrongOrder(Host):
    """A part of a batch has the items in another order than those who wait for their answers."""

    perform = altered(performing.perform, _do=_do_reversed)


class ReturnedWithdrawn(Owner):
    """A change takes a run out of memory that has just come back from its worker, and reads its row, which is older."""

    def withdraw(self, job_ids, kept=()):
        super().withdraw(job_ids)


class ParkedStaysParked(Owner):
    """A run that was parked while its job is being resumed stays so."""

    def unpark(self, job_ids):
        self.paused.difference_update(job_ids)


PARTS = (
    NoDeadline, DeadlineByFrozenClock, KeyKeptBefore, KeyKeptAfter, NoTermCheck, OneKeyAtOnce, KeyOfTheWholeBatch,
    UnknownRepeated, UnknownForgotten, UnknownToldAsNothing, ChangesDoNotWait, ChangedAsOfLate, PartsInWrongOrder,
    ReturnedWithdrawn,
    ParkedStaysParked,
)  # fmt: skip
CRAMPED = Limits(**PATIENCE, **ROOM[-1], overrun_us=OVERRUN_US[-1])
WEATHER = {
    OneKeyAtOnce: {"hedges": 1.0, "keyed": 1.0},
    NoTermCheck: {
        "kinds": ["drift"],
        "pool_us": 6_000_000,
        "restless": 0.5,
        "hedges": 1.0,
        "keyed": 1.0,
        "patience_us": 12_000_000,
        "asks_us": 400_000,
        "wants": (0, 0, 0, 1, 1, 0),
    },
    UnknownForgotten: {"breaks": 0.05, "keyed": 1.0, "patience_us": 1_000_000},
    ChangesDoNotWait: {
        "kinds": ["outage"],
        "outages": 1.0,
        "interval_us": 9_000_000,
        "slowest_us": 300_000,
        "loss": 0.0,
        "wants": (6, 2, 6, 0, 0, 0),
    },
    ChangedAsOfLate: {
        "slowest_us": 400_000,
        "kinds": ["drift"],
        "limits": CRAMPED,
        "wants": (6, 2, 6, 0, 0, 0),
        "asks_us": 300_000,
    },
    ReturnedWithdrawn: {"slowest_us": 120_000, "wants": (0, 1, 6, 3, 3, 0), "asks_us": 500_000},
    ParkedStaysParked: {"slowest_us": 120_000, "wants": (8, 2, 0, 3, 3, 0), "asks_us": 400_000},
}
