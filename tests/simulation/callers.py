"""Callers of the API: they ask any node, lose patience, ask again elsewhere, and take back what they asked for."""

from functools import partial

import msgspec

from noonmark.errors import Unavailable
from noonmark.model.caller import Caller
from noonmark.model.ids import job_id_of, job_text
from noonmark.node.transport import Performed
from noonmark.wire import commands as wire
from noonmark.wire.resources import JobPatch, Submission

SECOND_US = 1_000_000
KINDS = ("pause", "resume", "change", "submit", "batch", "cancel")
BATCHES = ("pause", "resume", "batch")
NO_JOB = 999


class Request:
    """What a caller wants, however often it is sent."""

    def __init__(self, name, kind, tenant_id, items, keyed, jobs=()):
        self.name = name
        self.kind = kind
        self.tenant_id = tenant_id
        self.items = items
        """Job ids, a run's key, or the numbers of submissions."""
        self.jobs = jobs
        """Of submissions: the job of each."""
        self.keyed = keyed
        self.sendings = []
        self.done_us = None
        self.revokes = None
        """The request that this one takes back."""
        self.taken_back = False
        self.revoked = False
        """Somebody has taken it back, and was answered that this is done."""

    @property
    def is_batch(self):
        return self.kind in BATCHES

    @property
    def makes_runs(self):
        return self.kind in ("submit", "batch")

    def answered(self):
        return self.keyed and self.done_us is not None


class Sending:
    def __init__(self, request, patience_us):
        self.request = request
        self.name = f"{request.name}.{len(request.sendings) + 1}"
        self.patience_us = patience_us
        self.deadline_us = None
        self.heard = False
        request.sendings.append(self)

    def command(self):
        request = self.request
        asked = {
            "tenant_id": request.tenant_id,
            "caller": Caller(self.name),
            "deadline_us": self.deadline_us,
            "key": wire.RequestKey(request.name, request.name.encode()) if request.keyed else None,
        }
        items = request.items
        if request.kind == "pause":
            return wire.PauseJobs(**asked, job_ids=items)
        if request.kind == "resume":
            return wire.ResumeJobs(**asked, job_ids=items)
        if request.kind == "change":
            return wire.PatchJob(**asked, job_id=items[0], patch=JobPatch(priority=request.jobs[0]))
        if request.kind == "cancel":
            return wire.CancelRun(**asked, run=items[0])
        submissions = [
            Submission(job=job_text(job_id), input=msgspec.Raw(str(item).encode()))
            for job_id, item in zip(request.jobs, items, strict=True)
        ]
        if request.kind == "submit":
            return wire.SubmitRun(**asked, submission=submissions[0])
        return wire.SubmitRuns(**asked, submissions=submissions)


class Callers:
    def __init__(self, world):
        self.world = world
        self.rng = rng = world.rng
        self.wants = (4, 2, 3, 3, 5, 2)
        """How likely each of KINDS is."""
        self.keyed = rng.choice((0.5, 0.5, 0.9))
        self.hedges = rng.choice((0.0, 0.1, 0.4))
        """How often a request with a key is sent to two nodes at once."""
        self.patience_us = rng.choice((SECOND_US, 3 * SECOND_US, 6 * SECOND_US))
        """How long a node tries."""
        self.asks_us = 5 * SECOND_US // 2
        """They ask twice as often as this."""
        self._number = 0

    def act(self, kind=None):
        rng, world = self.rng, self.world
        jobs = [job for job in world.store.jobs.values() if job.delay_us is None or rng.random() < 0.5]
        if not jobs:
            return
        kind = kind or rng.choices(KINDS, self.wants)[0]
        one = rng.choice(jobs)
        same = [job.job_id for job in jobs if job.tenant_id == one.tenant_id]
        keyed = rng.random() < self.keyed
        if kind in ("pause", "resume"):
            most = rng.choice((1, 1, 4))
            items = [one.job_id, *(job_id for job_id in same[:most] if job_id != one.job_id)]
            if rng.random() < 0.1:
                items.insert(rng.randrange(len(items) + 1), job_id_of(NO_JOB, rng.randrange(world.shard_count)))
            rng.shuffle(items)
            self._new(kind, one.tenant_id, items, keyed)
        elif kind == "change":
            self._new(kind, one.tenant_id, [one.job_id], keyed, [rng.randrange(len(world.every_recurrence))])
        elif kind == "cancel":
            keys = [key for runs in world.store.runs.values() for key in runs]
            if keys:
                key = rng.choice(keys)
                self._new(kind, world.store.run(key).tenant_id, [key], keyed)
        else:
            count = 1 if kind == "submit" else rng.randrange(2, 7)
            self._new(kind, one.tenant_id, list(range(count)), keyed, [rng.choice(same) for _ in range(count)])

    def _new(self, kind, tenant_id, items, keyed, jobs=()):
        self._number += 1
        request = Request(f"r{self._number}", kind, tenant_id, items, keyed, jobs)
        tries = self.rng.randrange(1, 5)
        self._send(request, tries)
        if keyed and self.rng.random() < self.hedges:
            self._send(request, 1)
        return request

    def _send(self, request, tries):
        world, rng = self.world, self.rng
        if not world.users_active:
            return
        sending = Sending(request, self.patience_us)
        world.promises.sendings[sending.name] = sending
        host = rng.choice(world.hosts)
        if rng.random() >= world.network.loss:
            world.at(world.network.delay_us(), host.request, sending, partial(self._answered, sending, tries))
        world.at(rng.choice((SECOND_US // 2, 2 * SECOND_US, self.patience_us)), self._impatient, sending, tries)

    def _impatient(self, sending, tries):
        """Nothing was heard: with a key it is sent again; so it is without one by whoever does not mind two."""
        if not sending.heard:
            sending.heard = True
            self._again(sending.request, tries)

    def _again(self, request, tries):
        if tries > 1 and request.done_us is None:
            self._send(request, tries - 1)
        elif request.kind in ("pause", "change"):
            self._revoke(request)

    def _answered(self, sending, tries, outcome):
        request = sending.request
        late, sending.heard = sending.heard, True
        self.world.promises.is_answered(sending, outcome)
        if late:
            return
        if isinstance(outcome, Unavailable):
            self.world.at(self.rng.randrange(50_000, 400_000), self._again, request, tries)
        elif isinstance(outcome, Performed):
            if request.kind in ("pause", "change") and self.rng.random() < 0.7:
                self.world.at(self.rng.randrange(SECOND_US), self._revoke, request)
            if request.revokes is not None:
                request.revokes.revoked = True
        else:
            self._again(request, tries)

    def _revoke(self, request):
        """By the opposite, which is asked for until it is done."""
        if not self.world.users_active or request.taken_back:
            return
        request.taken_back = True
        kind = "resume" if request.kind == "pause" else "change"
        jobs = [0] if kind == "change" else ()
        self._number += 1
        back = Request(f"r{self._number}", kind, request.tenant_id, request.items, self.rng.random() < 0.7, jobs)
        back.revokes, back.taken_back = request, True
        self._send(back, 6)
