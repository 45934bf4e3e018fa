"""What a life offers to the code that carries commands out: turns of its committer, tokens, looks at the store."""

import asyncio
from collections import deque

from noonmark.errors import NoonmarkError, NotOwner
from noonmark.node import life as real
from noonmark.node.commands import turn
from noonmark.node.committer import _not_begun, _outcome
from noonmark.node.in_flight import InFlight
from tests.simulation.handlers import Transact


class Pool:
    """Reads of the store outside of the serial order."""

    def __init__(self, process):
        self._process = process

    async def fetch(self, _, tenant_id, key, now_us):
        """The one statement that is asked of it: find_requests."""
        return await self.read(lambda: self._process.world.store.find_requests(tenant_id, key))

    async def read(self, look):
        done = asyncio.get_running_loop().create_future()
        database = self._process.world.database
        wait_us = database.rng.choice((0, database.rng.randrange(database.pool_us))) if database.pool_us else 0
        database.ask(
            self._process,
            lambda _: look(),
            lambda found: self._process.later(wait_us, done.set_result, found),
            lambda error: done.set_exception(OSError(str(error))),
        )
        return await done


class Units:
    in_flight_class = InFlight
    with_jobs_withdrawn = staticmethod(turn.with_jobs_withdrawn)
    instant_of_change = staticmethod(turn.instant_of_change)
    check = real.Life.check
    check_command = real.Life.check_command

    def _open_for_commands(self):
        self.committer = self.job_cache = self.tick_wanted = self.clock = self
        self.shard_count = self.world.shard_count
        self.pool = Pool(self.host.process)
        self.in_flight = self.in_flight_class()
        self.units = deque()
        self.ownership = {}
        """shard -> the address of its owner, as it was read with the last renewal."""
        self._tokens = []

    # -- the committer -----------------------------------------------------------------------------------------------

    async def perform(self, action, prepare=lambda: None):
        if self.ended or self.stopping:
            raise NotOwner("the node is losing its shards")
        done = asyncio.get_running_loop().create_future()
        self.units.append((prepare, action, done))
        self._happened()
        return await done

    def _act(self):
        """A unit in its turn, as the committer does it."""
        prepare, action, done = self.units.popleft()
        batch = self.owner.take_outbox()
        begins = True
        try:
            prepare()
        except NoonmarkError as error:
            fail(done, error)
            begins = False
        try:
            yield from self._write(batch)
        except BaseException:
            if begins:
                fail(done, _not_begun())
            raise
        if not begins:
            return
        try:
            result = yield from action(None).__await__()
        except NoonmarkError as error:
            fail(done, error)
        except BaseException as error:
            fail(done, _outcome(error))
            raise
        else:
            if not done.done():
                done.set_result(result)

    def tell_the_waiting(self):
        """The life is over: what was decided and not committed has not happened."""
        for _, _, done in self.units:
            fail(done, _not_begun())
        for token in self._tokens:
            fail(token, NotOwner("the node lost its shards; nothing was done"))

    def leave_with_outbox(self, effects, requests):
        """A token that is answered when what was just decided is durable, together with its key."""
        outbox = self.owner.outbox
        outbox.audit += effects
        outbox.requests += requests
        token = self.host.loop.create_future()
        self._tokens = [waiting for waiting in self._tokens if not waiting.done()] + [token]
        outbox.answers.append((token, None))
        self._happened()
        return token

    async def with_key(self, transaction, rows, hoped):
        """The effect and the rows of its key, in one transaction; `hoped` is what it comes to if nothing is refused."""

        def whole(now_us):
            done = transaction(now_us)
            self.store.keep(rows(done))
            return done

        return await Transact(whole)

    # -- what the code of the node asks of a life --------------------------------------------------------------------

    async def look(self, look):
        return await self.pool.read(look)

    def evict(self, job_ids):
        for job_id in job_ids:
            self.heads.pop(job_id, None)

    def set(self):
        """A tick is wanted."""
        self._tick_us = 0
        self._happened()

    def found(self, rows):
        self._found(rows)


def fail(future, error):
    if not future.done():
        future.set_exception(error)
