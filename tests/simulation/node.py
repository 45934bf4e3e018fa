"""A node as the real one is: one serial committer, a keeper of the lease, and the owner's memory between them.

A `Host` is a machine that starts one `Life` after the other. A life ends at its first failed or unknown commit.
"""

import asyncio
from collections import deque

from noonmark.model.ids import shard_of
from noonmark.model.reason import Outcome
from noonmark.shard.answers import Granted, Reported
from noonmark.shard.owner import Owner
from tests.simulation.commands import Commands
from tests.simulation.invariants import TTL_US
from tests.simulation.machine import Machine
from tests.simulation.network import Process
from tests.simulation.serial import Serial
from tests.simulation.store import Refused
from tests.simulation.units import Units

SECOND_US = 1_000_000
HEARD_US = SECOND_US
BEAT_AGE_US = SECOND_US // 2
"""An older heartbeat is a sign of life and no more: the worker may have received a grant since it was sent."""


class Host(Machine):
    owner_class = Owner

    def __init__(self, world, number):
        super().__init__(world, number)
        self.life = None
        self.start()

    def start(self, after=None):
        """A new life; `after` is the node id of the last one, which is declared dead on the way."""
        self.life = self.world.life_class(self, after)

    def crash(self, downtime_us):
        self.world.log(f"host {self.number} crashes")
        self.life.ended = True
        self.fall()
        self.world.at(downtime_us, self._restart, self.life)

    def _restart(self, life):
        if self.life is life:
            self._boot()
            self.start()

    def call(self, event, *args):
        """A message for whatever runs here now; `event` is the name of its handler."""
        self.world.checks.arrives(self.number, args[0])
        self.world.listeners.arrives(self.life, args[0])
        self.life.call(self.life.hear, event, *args)


class Life(Commands, Units, Serial, Process):
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
        self._steps_done = 0
        self._tick_us = self._shuffle_us = 0
        self._advance_us = None
        self._open_for_commands()
        self._boot(after)

    def now_us(self):
        return self.world.now_us + self.offset_us

    # A life is frozen with its process.

    def call(self, event, *args):
        if not self.ended:
            self.host.process.call(self._happens, event, args)

    def _happens(self, event, args):
        if not self.ended:
            event(*args)

    @property
    def frozen(self):
        return self.host.process.frozen

    def freeze(self):
        self.host.process.freeze()

    def thaw(self):
        self.host.process.thaw()

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
        self.world.node_hosts[node_id] = self.host.address
        self.began_us = self.now_us()
        self.world.log(f"{self.name} begins")
        self._serial = self._commit_loop()
        self._keep()
        self._rescue()
        self._keep_hearing(0)
        self._resume(None)

    def _die(self, why):
        """Memory can no longer be trusted: a new life begins from the rows."""
        if not self.ended:
            self.world.log(f"{self.name} ends: {why}")
            self.ended = True
            self._serial.close()
            self.tell_the_waiting()
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
            return {number: self.world.address_of(shard.owner) for number, shard in self.store.shards.items()}

        def failed(error):
            if isinstance(error, Refused):
                self._die(error)

        def renewed(ownership):
            self.trusted_until_us = sent_us + TTL_US
            self.ownership = ownership

        self.world.database.ask(self, renew, renewed, failed)
        self.later(SECOND_US, self._keep)

    def _keep_hearing(self, kept_us):
        before_us = self.now_us()
        heard = self.owner.fleet.heard_since(kept_us)
        if heard:
            self._keep_heard(heard)
        self.later(HEARD_US, self._keep_hearing, before_us)

    def _keep_heard(self, heard):
        """A node that slept past its lease keeps quiet: what it reads now was said while it slept."""
        if not self.trusted:
            return
        self.world.database.ask(self, lambda _: self.store.see(heard), lambda _: None, lambda _: None)

    @property
    def trusted(self):
        """The lease holds: nobody else can have been given the shards."""
        return self.world.now_us < self.trusted_until_us and not self.ended

    def _rescue(self):
        before = len(self.owner.outbox.attempts)
        heard = {worker_id for worker_id, _ in self.owner.fleet.heard_since(0)}
        self.owner.rescue(self.now_us())
        for row in self.owner.outbox.attempts[before:]:
            if row.outcome is Outcome.LOST and row.worker_id in heard:
                self.world.checks.loses_worker(self.host.number, row.worker_id)
            elif row.outcome is Outcome.LOST:
                self.world.listeners.loses_worker(self, row.worker_id)
        self._happened()
        self.later(SECOND_US, self._rescue)

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

    def hear_heartbeat(self, worker_id, worker, grants, sent_us, never):
        self._see(worker_id, worker)
        if self.world.now_us - sent_us <= BEAT_AGE_US:
            told = self.owner.heartbeat(worker_id, grants, self.now_us(), never)
            if any(told):
                self.world.network.send(worker, worker.hear_beat, self.host, *told)

    def hear_report(self, worker_id, worker, number, items):
        self._see(worker_id, worker)
        self.owner.report((worker, number), worker_id, items, self.now_us())

    def _see(self, worker_id, worker):
        if worker_id not in self.owner.fleet.workers:
            self._keep_heard([(worker_id, self.now_us())])  # a registration is kept at once
        self.owner.fleet.serve(worker_id, worker.queues, worker.tasks, self.now_us())

    def answer(self, token, answer):
        if isinstance(token, asyncio.Future):
            if not token.done():
                token.set_result(answer)
            return
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
