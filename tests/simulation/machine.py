"""The process of a node as callers and other nodes see it: it outlives its lives, and performs what it is asked for.

`perform` is the node's own. A message between nodes goes as bytes, as the real one does; it may come late, its answer
may be lost, and one with a key may come twice. A connection that is refused, and it alone, tells that nothing was done.
"""

import msgspec

from noonmark.errors import NoonmarkError, NotOwner, OutcomeUnknown, Unavailable
from noonmark.node.commands.carry_out import carry_out
from noonmark.node.perform import perform
from noonmark.node.transport import Performed
from noonmark.wire.commands import ANSWERS, AnyCommand
from tests.simulation.handlers import HANDLERS
from tests.simulation.loop import Loop
from tests.simulation.network import Process

SECOND_US = 1_000_000
_commands = msgspec.json.Decoder(AnyCommand)


class Machine:
    """A host's processes, one after the other."""

    perform = staticmethod(perform)
    carry = staticmethod(carry_out)
    handlers = HANDLERS

    def __init__(self, world, number):
        self.world = world
        self.number = number
        self.address = str(number)
        self.shard_count = world.shard_count
        self.clock = self
        self._boot()

    def _boot(self):
        self.process = Process(self.world, f"host {self.number}")
        self.loop = Loop(self.process)
        self._open = {}
        """Connections that wait for an answer of ours, each with what it is told if we die."""

    def fall(self):
        self.process.ended = True
        self.loop.drop()
        for reset in list(self._open.values()):
            self.world.at(self.world.network.delay_us(), reset)
        self._open.clear()

    # -- what `perform` asks of a node -------------------------------------------------------------------------------

    def now_us(self):
        return self.life.now_us()

    def owner_address(self, shard):
        if self.life.owner is None:
            return None
        return self.address if shard in self.life.terms else self.life.ownership.get(shard)

    async def carry_out(self, command):
        if self.life.owner is None:
            raise Unavailable("the node is joining the fleet")
        return await self.carry(self.life, command, self.handlers)

    async def send(self, address, command, now_us):
        """As the transport: an answer, a refusal, or nobody knows."""
        world, loop = self.world, self.loop
        done = loop.create_future()
        body = msgspec.json.encode(command)
        there = world.hosts[int(address)]
        if world.rng.random() < world.network.loss:
            raise NotOwner("the node cannot be reached")
        wait_us = max(0, command.deadline_us - now_us) + SECOND_US
        timer = loop.call_later(wait_us / SECOND_US, self._settle, done, OutcomeUnknown("no answer came"))

        def answered(outcome):
            self.process.call(self._settle, done, outcome)

        world.at(world.network.held_up_us(), there.receive, body, answered)
        if command.key is not None and world.rng.random() < world.network.repeat:
            world.promises.repeated(command.caller.name)
            world.at(world.network.held_up_us(), there.receive, body, lambda outcome: None)
        outcome = await done
        timer.cancel()
        if isinstance(outcome, NoonmarkError):
            raise outcome
        return Performed(msgspec.json.decode(outcome.answer, type=ANSWERS[type(command)]), outcome.replayed)

    @staticmethod
    def _settle(done, outcome):
        if not done.done():
            done.set_result(outcome)

    # -- what comes in -----------------------------------------------------------------------------------------------

    def receive(self, body, answered):
        """A command from another node."""

        async def work():
            try:
                done = await self.carry_out(_commands.decode(body))
            except NoonmarkError as error:
                return error
            except Exception as error:
                return OutcomeUnknown(str(error))
            return Performed(msgspec.json.encode(done.answer), done.replayed)

        self._take_in(work, answered)

    def request(self, sending, answered):
        """A request of a caller: its deadline is set when it is read."""

        async def work():
            self.world.promises.read(sending, self.now_us())
            try:
                return await self.perform(self, self.send, sending.command())
            except Exception as error:
                return error

        self._take_in(work, answered)

    def _take_in(self, work, answered):
        if self.process.ended:
            self._reply(answered, NotOwner("the node cannot be reached"))
            return
        connection = object()
        self._open[connection] = lambda: answered(OutcomeUnknown("the connection broke"))

        async def serve():
            outcome = await work()
            if self._open.pop(connection, None) is not None:
                self._reply(answered, outcome)

        self.process.call(self._begin, serve)

    def _begin(self, serve):
        self.loop.create_task(serve())

    def _reply(self, answered, outcome):
        network = self.world.network
        if self.world.rng.random() >= network.loss:
            self.world.at(network.delay_us(), answered, outcome)
