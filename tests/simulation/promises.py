"""What callers are promised: once by key, nothing stale, and answers that are true.

done             each item has happened, once, and stands in the answer at its place
nothing done     no effect of that sending, now or later
partly done      some of it
a refusal        no effect of that sending so far
unknown          either
"""

from collections import Counter

from noonmark.errors import NoonmarkError, OutcomeUnknown, PartlyDone, Unavailable
from noonmark.node.transport import Performed
from noonmark.wire.commands import SubmittedRun
from tests.simulation.invariants import CLOCK_ERROR_US, require


class Promises:
    def __init__(self, world):
        self.world = world
        self.sendings = {}
        """name -> what was sent under it."""
        self.effects = Counter()
        """(who, item) -> how often; by request if it has a key, else by sending."""
        self.became = {}
        self.counts = Counter()
        """How often what was answered: a simulation in which nothing happens proves nothing."""
        self._of_sending = Counter()
        self._void = set()
        self._repeated = set()

    def read(self, sending, now_us):
        """By the node that got it."""
        sending.deadline_us = now_us + sending.patience_us

    def repeated(self, name):
        """The network sends a copy, which may arrive when the sender has long been answered for the first one."""
        self._repeated.add(name)

    def happens(self, effect):
        sending = self.sendings[effect.sending]
        request = sending.request
        late = effect.begun_us > sending.deadline_us + CLOCK_ERROR_US
        facts = (effect.sending, request.kind, effect.item)
        if request.revoked:
            require(not late and not request.answered(), "revoked", *facts, "takes effect after it was revoked")
        require(not late, "nothing stale", *facts, "is carried out after its deadline")
        require(effect.sending not in self._void, "nothing was done", *facts, "happens after that answer")
        place = (request.name if request.keyed else effect.sending, effect.item)
        self.effects[place] += 1
        self._of_sending[effect.sending] += 1
        self.became.setdefault(place, effect.became)
        require(self.effects[place] == 1, "once", *facts, "happens again")
        self.world.log(f"{effect.sending} {request.kind} {effect.item} takes effect: {effect.became}")

    def is_answered(self, sending, outcome):
        """The caller hears it."""
        request, name = sending.request, sending.name
        code = "done" if isinstance(outcome, Performed) else getattr(outcome, "code", type(outcome).__name__)
        self.counts[request.kind, code] += 1
        self.world.log(f"caller is told {name} {request.kind}: {code}")
        if isinstance(outcome, Performed):
            self._check_done(sending, outcome.answer)
            request.done_us = self.world.now_us
        elif isinstance(outcome, PartlyDone):
            some = any(self._happened(sending, item) for item in request.items)
            require(some, "partly done", name, request.kind, "is partly done, and nothing of it is")
        elif name in self._repeated or isinstance(outcome, OutcomeUnknown):
            pass  # a copy may have done it, and another copy found nothing to do
        elif isinstance(outcome, NoonmarkError):
            done = self._of_sending[name]
            require(not done, "nothing was done", name, request.kind, "was answered", code, "and", done, "happened")
            if isinstance(outcome, Unavailable):
                self._void.add(name)

    def _check_done(self, sending, answer):
        request = sending.request
        answers = answer if request.is_batch else [answer]
        require(len(answers) == len(request.items), "in order", sending.name, "has", len(answers), "answers")
        for item, said in zip(request.items, answers, strict=True):
            require(self._happened(sending, item), "done", sending.name, request.kind, item, "has not happened")
            if isinstance(said, SubmittedRun):
                said = (said.job_id, said.nominal_us)
            became = self._place(sending, item)
            require(self.became[became] == said, "in order", sending.name, request.kind, item, "is", said)
            if request.makes_runs:
                self.world.checks.acked[said] = self.world.now_us

    def _happened(self, sending, item):
        return self.effects[self._place(sending, item)]

    def _place(self, sending, item):
        return (sending.request.name if sending.request.keyed else sending.name, item)
