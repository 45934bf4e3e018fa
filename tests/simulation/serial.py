"""The serial committer of a node: batches, ticks, pages and moves of shards, one after the other.

Each step takes the outbox and changes memory at one instant, commits the outbox, and then does its own transaction. So
it sees in the store all that was decided before it began, and what is decided later is still in the outbox.
"""

import asyncio

from noonmark.clock import NEVER_US
from noonmark.model.ids import shard_of
from noonmark.node.committer import LeasePassed, _outcome
from noonmark.shard.listening import last_heard_us
from noonmark.store.fence import CommitUnknown, NotCommitted
from tests.simulation.invariants import TTL_US, check_memory
from tests.simulation.store import Refused
from tests.simulation.units import fail

SECOND_US = 1_000_000
LOOKAHEAD_US = 2 * SECOND_US
TICK_US = 500_000
CHECKED_STEPS = 4
"""Memory is compared with the rows after every fourth step: that costs more than the step."""


class Serial:
    """Steps are generators: they yield a transaction to have its result."""

    def _resume(self, value, error=None):
        try:
            call = self._serial.throw(error) if error is not None else self._serial.send(value)
        except StopIteration:
            self._die("stopped")
            return
        except (Refused, LeasePassed) as refused:
            self._die(refused)
            return
        except (NotCommitted, CommitUnknown) as lost:
            self._die(lost)
            return
        if call is None:
            self._idle = True
        else:
            self.world.database.ask(self, call, self._resume, lambda failure: self._resume(None, failure))

    def _commit_loop(self):
        """Yields a transaction to have its result, or None to wait for work."""
        while True:
            steps = self._steps()
            if not steps:
                yield None
                continue
            step = self.rng.choice(steps)
            yield from step()
            self._steps_done += 1
            if self.world.checks_memory and not self.owner.outbox and self._steps_done % CHECKED_STEPS == 0:
                check_memory(self, self.store)
            self._paging = self._paging or step != self._page
            self.owner.advance(self.now_us())
            self._set_timer()
            if self.stopping and not self.terms:
                return

    def _steps(self):
        now_us = self.now_us()
        steps = []
        if self.owner.outbox:
            steps.append(self._flush)
        if self.requests:
            steps.append(self._serve)
        if self.units:
            steps.append(self._act)
        if now_us >= self._tick_us and self.terms and not self.stopping:
            steps.append(self._tick)
        if now_us >= self._shuffle_us or self.stopping:
            steps.append(self._shuffle)
        if self._paging:
            steps.append(self._page)
        return steps

    def _write(self, batch):
        """Commits a batch in its own transaction and releases its answers."""
        if batch:
            self.owner_waits(batch)
            yield from self._durable(batch, lambda _: self.store.commit(self.owner.node_id, batch))

    def _durable(self, batch, transaction):
        try:
            self._follow((yield transaction))
            self.release(batch)
        except BaseException as error:
            for token, _ in batch.answers:
                if isinstance(token, asyncio.Future):
                    fail(token, _outcome(error))
            raise

    def owner_waits(self, batch):
        """A grant cannot have arrived before its answer left: until then nobody misses it."""
        for row in batch.grants:
            if row.grant_id in self.owner.fleet.grants:
                self.owner.fleet.grants[row.grant_id].known_us = NEVER_US

    def release(self, batch):
        """A node that slept past its lease tells nobody what it did."""
        if not self.trusted:
            raise LeasePassed("the lease has passed")
        for row in batch.grants:
            if row.grant_id in self.owner.fleet.grants:
                self.owner.fleet.grants[row.grant_id].known_us = self.now_us()
        for token, answer in batch.answers:
            self.answer(token, answer)

    def _flush(self):
        yield from self._write(self.owner.take_outbox())

    def _tick(self):
        now_us = self.now_us()
        self._tick_us = now_us + TICK_US
        until_us = now_us + LOOKAHEAD_US
        before_us = {shard: w_us for shard, w_us in self.owner.watermarks.items() if w_us < until_us}
        terms = {shard: self.terms[shard] for shard in before_us}
        batch = self.owner.take_outbox()
        self.owner.begin_tick(terms, until_us)
        yield from self._write(batch)
        self._found((yield from self._move(terms, before_us, until_us, now_us)))

    def _move(self, *window):
        return (yield lambda _: self.store.tick(self.owner.node_id, *window))

    def _found(self, rows):
        """Rows that were read in this serial order; what ended since then is in the outbox."""
        forgotten = self.owner.outbox.forgotten()
        for row in rows:
            if row.key not in forgotten:
                self.owner.admit(row, self.now_us())

    def _follow(self, rows):
        """Runs of fixed delays that the transaction made when it ended the ones before them."""
        for row in rows:
            if not row.sleeps:
                self.owner.admit(row, self.now_us())

    def _page(self):
        page = self.owner.backlog.next_page()
        self._paging = page is not None
        if page is None:
            return
        yield from self._write(self.owner.take_outbox())
        kinds = page.lane and page.lane[1]
        policy_ids = [policy_id for policy_id, policy in self.policies.items() if policy.kind == kinds]
        rows = yield lambda _: self.store.page(self.owner.node_id, page, policy_ids)
        self.owner.paged(page, rows, self.now_us())

    def _shuffle(self):
        """Gives away what is above the fair share, or takes ownerless shards up to it."""
        self._shuffle_us = self.now_us() + SECOND_US
        node_id = self.owner.node_id
        share = 0 if self.stopping else self.store.share()
        if self.rng.random() < self.world.restless:
            share = self.rng.randrange(share + 1)
        spare = list(self.terms)[share:]
        if spare:
            yield from self._give(spare)
        elif not self.stopping:
            taken = yield lambda _: self.store.take(node_id, share - len(self.terms))
            for shard, term, watermark_us, grants, rows, paused in taken:
                self.world.log(f"{self.name} takes shard {shard}")
                self.terms[shard] = term
                self.owner.paused |= paused
                heard_us = {grant.worker_id: self.last_heard_us(grant.worker_id) for grant in grants}
                self.owner.adopt(shard, watermark_us, grants, rows, self.now_us(), heard_us)
                self._tick_us = 0

    def last_heard_us(self, worker_id):
        seen_us, lives = self.store.seen_us.get(worker_id, 0), self.store.lives(TTL_US)
        return last_heard_us(seen_us, lives, self.began_us, self.now_us(), self.world.limits)

    def _give(self, shards):
        """Memory forgets the shards before the transaction, or what it decides meanwhile would be written after it."""
        batch = self.owner.take_outbox()
        self._drop(shards)

        def hand_over(_):
            followers = self.store.commit(self.owner.node_id, batch)
            self.store.give(self.owner.node_id, shards)
            return followers

        yield from self._durable(batch, hand_over)

    def _drop(self, shards):
        self.world.log(f"{self.name} gives shards {shards}")
        for shard in shards:
            del self.terms[shard]
            self.owner.drop(shard)
        self.heads = {job_id: job for job_id, job in self.heads.items() if shard_of(job_id) in self.terms}
