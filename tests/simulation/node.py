"""A node as the real one is: one serial committer, a keeper of the lease, and the owner's memory between them.

A `Host` is a machine that starts one `Life` after the other. A life ends at its first failed or unknown commit.
"""

from collections import deque

from noonmark.clock import NEVER_US
from noonmark.model.ids import shard_of
from noonmark.model.reason import Outcome, Reason
from noonmark.shard.answers import Granted, Reported
from noonmark.shard.owner import Owner
from tests.simulation.invariants import TTL_US, check_memory
from tests.simulation.network import Process
from tests.simulation.store import Refused

SECOND_US = 1_000_000
LOOKAHEAD_US = 2 * SECOND_US
TICK_US = 500_000
BEAT_AGE_US = SECOND_US // 2
"""An older heartbeat is a sign of life and no more: the worker may have received a grant since it was sent."""


class Host:
    owner_class = Owner

    def __init__(self, world, number):
        self.world = world
        self.number = number
        self.life = None
        self.start()

    def start(self, after=None):
        """A new life; `after` is the node id of the last one, which is declared dead on the way."""
        self.life = self.world.life_class(self, after)

    def crash(self, downtime_us):
        self.world.log(f"host {self.number} crashes")
        self.life.ended = True
        self.world.at(downtime_us, self._restart, self.life)

    def _restart(self, life):
        if self.life is life:
            self.start()

    def call(self, event, *args):
        """A message for whatever runs here now; `event` is the name of its handler."""
        self.world.watch.arrives(self.number, args[0])
        self.life.call(self.life.hear, event, *args)


class Life(Process):
    def __init__(self, host, after):
        super().__init__(host.world, f"host {host.number}")
        self.host = host
        self.rng = host.world.rng
        self.store = host.world.store
        self.policies = host.world.policies
        self.offset_us = self.rng.randrange(-5_000, 5_000)
        self.owner = None
        self.terms = {}
        self.requests = deque()
        self.heads = {}
        """Jobs known to be active: runs of them are made at once, out of the serial order."""
        self.stopping = False
        self.trusted_until_us = 0
        self._serial = None
        self._idle = False
        self._paging = True
        self._tick_us = self._shuffle_us = 0
        self._advance_us = None
        self._boot(after)

    def now_us(self):
        return self.world.now_us + self.offset_us

    # -- life and death ----------------------------------------------------------------------------------------------

    def _boot(self, after):
        def register(now_us):
            if after is not None:
                self.store.end([after])
            return self.store.register(now_us, TTL_US)

        self.world.database.ask(self, register, self._born, lambda _: self.later(300_000, self._boot, after))

    def _born(self, node_id):
        self.name = f"node {node_id} on {self.host.number}"
        self.owner = self.host.owner_class(
            node_id=node_id,
            policies=self.policies,
            weights=self.world.weights,
            limits=self.world.limits,
            random=self.rng.random,
        )
        self.world.log(f"{self.name} begins")
        self._serial = self._commit_loop()
        self._keep()
        self._rescue()
        self._resume(None)

    def _die(self, why):
        """Memory can no longer be trusted: a new life begins from the rows."""
        if not self.ended:
            self.world.log(f"{self.name} ends: {why}")
            self.ended = True
            self.host.start(after=self.owner.node_id)

    def stop(self):
        """A clean stop: no more events, all decided is committed, all shards are given away."""
        if self.owner is not None:
            self.stopping = True
            self._happened()

    def _keep(self):
        node_id = self.owner.node_id

        sent_us = self.world.now_us

        def renew(now_us):
            self.store.renew(node_id, now_us, TTL_US)
            for expired in self.store.end_expired(now_us):
                self.world.log(f"node {expired} is declared dead by {self.name}")

        def failed(error):
            if isinstance(error, Refused):
                self._die(error)

        def renewed(_):
            self.trusted_until_us = sent_us + TTL_US

        self.world.database.ask(self, renew, renewed, failed)
        self.later(SECOND_US, self._keep)

    @property
    def trusted(self):
        """The lease holds: nobody else can have been given the shards."""
        return self.world.now_us < self.trusted_until_us

    def _rescue(self):
        before = len(self.owner.outbox.attempts)
        self.owner.rescue(self.now_us())
        for row in self.owner.outbox.attempts[before:]:
            if row.outcome is Outcome.LOST:
                self.world.watch.loses_worker(self.host.number, row.worker_id)
        self._happened()
        self.later(SECOND_US, self._rescue)

    # -- the serial committer ----------------------------------------------------------------------------------------

    def _resume(self, value, error=None):
        try:
            call = self._serial.throw(error) if error is not None else self._serial.send(value)
        except StopIteration:
            self._die("stopped")
            return
        except Refused as refused:
            self._die(refused)
            return
        except ConnectionError as lost:
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
            if self.world.checks_memory and not self.owner.outbox:
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
            yield lambda _: self.store.commit(self.owner.node_id, batch)
            self.release(batch)

    def owner_waits(self, batch):
        """A grant cannot have arrived before its answer left: until then nobody misses it."""
        for row in batch.grants:
            if row.grant_id in self.owner.fleet.grants:
                self.owner.fleet.grants[row.grant_id].known_us = NEVER_US

    def release(self, batch):
        """A node that slept past its lease tells nobody what it did."""
        if not self.trusted:
            raise Refused("the lease has passed")
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
        spare = list(self.terms)[share:]
        if spare:
            yield from self._give(spare)
        elif not self.stopping:
            taken = yield lambda _: self.store.take(node_id, share - len(self.terms))
            for shard, term, watermark_us, grants, rows, paused in taken:
                self.world.log(f"{self.name} takes shard {shard}")
                self.terms[shard] = term
                self.owner.paused |= paused
                self.owner.adopt(shard, watermark_us, grants, rows, self.now_us())
                self._tick_us = 0

    def _give(self, shards):
        """Memory forgets the shards before the transaction, or what it decides meanwhile would be written after it."""
        batch = self.owner.take_outbox()
        self._drop(shards)

        def hand_over(_):
            self.store.commit(self.owner.node_id, batch)
            self.store.give(self.owner.node_id, shards)

        yield hand_over
        self.release(batch)

    def _drop(self, shards):
        self.world.log(f"{self.name} gives shards {shards}")
        for shard in shards:
            del self.terms[shard]
            self.owner.drop(shard)
        self.heads = {job_id: job for job_id, job in self.heads.items() if shard_of(job_id) in self.terms}

    def _serve(self):
        """A user's request, in the serial order: it sees the jobs as they are and nothing is under way meanwhile."""
        kind, client, job_id, *rest = self.requests.popleft()
        if shard_of(job_id) in self.terms and self.world.users_active:
            self.world.log(f"{self.name} does {kind} {job_id} {rest}")
            yield from getattr(self, f"_{kind}")(client, job_id, *rest)

    def _asked(self, change, *args):
        """A change of a job; in the calm at the end there are none, not even late ones: False."""
        return lambda _: change(self.owner.node_id, *args) if self.world.users_active else False

    def _create(self, client, job_id, job):
        if job_id not in self.store.jobs:
            yield from self._activate(client, job)

    def _resume_job(self, client, job_id):
        job = self.store.jobs.get(job_id)
        if job is not None and not job.active:
            yield from self._activate(client, job)

    def _activate(self, client, job):
        yield from self._write(self.owner.take_outbox())
        now_us = self.now_us()
        self.owner.paused.discard(job.job_id)
        rows = yield self._asked(self.store.activate, job, now_us)
        self._found(rows or ())
        client.answer("active", job.job_id)

    def _submit(self, client, job_id, delay_us):
        job = yield lambda _: self.store.jobs.get(job_id)
        if job is not None and job.active:
            self.heads[job_id] = job
            self._make(client, job_id, delay_us)

    def _make(self, client, job_id, delay_us):
        now_us = self.now_us()
        nominal_us = self.owner.next_nominal_us(now_us)
        row = self.heads[job_id].run(nominal_us, nominal_us + delay_us, Reason.TRIGGERED)
        self.owner.create(row, now_us)
        self.owner.outbox.answers.append(((client, "submitted"), row.key))

    def _cancel(self, client, job_id, nominal_us):
        key = (job_id, nominal_us)
        now_us = self.now_us()
        if self.owner.cancel(key, now_us) is None:
            yield from self._write(self.owner.take_outbox())
            yield lambda _: self.store.cancel_waiting(self.owner.node_id, key, now_us)
        else:
            yield from self._flush()

    def _pause(self, client, job_id, verb="pause"):
        job = self.store.jobs.get(job_id)
        if job is None or not (job.active or verb == "delete"):
            return
        batch = self.owner.take_outbox()
        self.heads.pop(job_id, None)
        self.owner.withdraw(job_id)
        granted = self.owner.granted_of(job_id)
        if verb == "delete":
            for nominal_us in granted:
                self.owner.cancel((job_id, nominal_us), self.now_us())
        elif granted:
            self.owner.paused.add(job_id)
        yield from self._write(batch)
        now_us = self.now_us()
        done = yield self._asked(getattr(self.store, verb), job_id, granted, now_us)
        if done is False:
            self.owner.backlog.start_scan(shard_of(job_id))
            self.owner.paused.discard(job_id)
            return
        client.answer("paused", job_id)

    def _delete(self, client, job_id):
        yield from self._pause(client, job_id, "delete")

    def _redrive(self, client, job_id, nominal_us):
        if job_id in self.store.jobs and self.store.jobs[job_id].active:
            yield from self._write(self.owner.take_outbox())
            now_us = min(self.now_us(), self.owner.watermarks[shard_of(job_id)])
            rows = yield lambda _: self.store.redrive(self.owner.node_id, (job_id, nominal_us), now_us)
            self._found(rows)

    # -- events ------------------------------------------------------------------------------------------------------

    def hear(self, event, *args):
        if self.owner is None:
            return
        if self.trusted and not self.stopping:
            getattr(self, event)(*args)
            self._happened()
        elif event != "hear_user":
            self._see(*args[:2])  # refused, but a sign of life

    def _happened(self):
        self._paging = True
        self.owner.advance(self.now_us())
        self._set_timer()
        if self._idle and self._steps():
            self._idle = False
            self.later(0, self._resume, None)

    def _set_timer(self):
        due_us = self.owner.next_due_us()
        if due_us is not None and (self._advance_us is None or due_us < self._advance_us):
            self._advance_us = due_us
            self.later(max(0, due_us - self.now_us()), self._advance)

    def _advance(self):
        self._advance_us = None
        self._happened()

    def hear_user(self, user, kind, client, job_id, *rest):
        if kind == "submit" and job_id in self.heads and shard_of(job_id) in self.terms:
            if self.world.users_active:
                self._make(client, job_id, *rest)
        else:
            self.requests.append((kind, client, job_id, *rest))

    def hear_claim(self, worker_id, worker, number, most, sent_us):
        token = (worker, number)
        self._see(worker_id, worker)
        self.owner.claim(token, worker_id, most, self.now_us())
        self.later(self.world.poll_us, self._withdraw_claim, token)

    def _withdraw_claim(self, token):
        if self.owner.withdraw_claim(token):
            self.answer(token, Granted(0, ()))

    def hear_heartbeat(self, worker_id, worker, grants, sent_us):
        self._see(worker_id, worker)
        if self.world.now_us - sent_us <= BEAT_AGE_US:
            cancel, lost = self.owner.heartbeat(worker_id, grants, self.now_us())
            if cancel or lost:
                self.world.network.send(worker, worker.hear_beat, cancel, lost)

    def hear_report(self, worker_id, worker, number, items):
        self._see(worker_id, worker)
        self.owner.report((worker, number), worker_id, items, self.now_us())

    def _see(self, worker_id, worker):
        self.owner.fleet.serve(worker_id, worker.queues, worker.tasks, self.now_us())

    def answer(self, token, answer):
        party, number = token
        if isinstance(answer, Granted):
            current = [live for live in answer.runs if live.grant and live.grant.grant_id == answer.grant_id]
            runs = [(live.job_id, live.nominal_us, live.attempt + 1, live.policy_id) for live in current]
            sent_us = self.world.now_us
            self.world.network.send(party, party.hear_grant, number, answer.grant_id, runs, self.host, sent_us)
        elif isinstance(answer, Reported):
            self.world.network.send(party, party.hear_reported, number, answer.refused, answer.elsewhere)
        else:
            party.answer(number, answer)
