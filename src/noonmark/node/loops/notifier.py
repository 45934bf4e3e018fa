"""Keeps the owner's subscriptions fresh, and finds lateness and silence, which no event brings.

Each second it asks whether subscriptions changed, sends the notices that quiet times have folded, and looks for runs
that wait too long. A job's silence is looked for in the database when its grace is over; which jobs are
watched for it is read again every half minute, so a new job is watched at most that much later.
"""

import asyncio
from heapq import heappop, heappush

import structlog

from noonmark.clock import NEVER_US, monotonic_s
from noonmark.model.ids import JobId, shard_of
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.schedule import Recurrence
from noonmark.schedule import recurrence as read_recurrence
from noonmark.schedule.zones import tz_version
from noonmark.shard.silence import Expectation, expected_us
from noonmark.store.notices import load_expectations, load_rules, peek_subscriptions

EVERY_S = 1.0
RELOAD_S = 30.0
MAX_WATCHED = 20_000
"""So many pairs of subscription and job are watched for silence by one node."""
_MAX_AT_ONCE = 500
_MAX_SCHEDULES = 4_096

log = structlog.get_logger("noonmark.notifier")


class NotifierLoop(Loop):
    name = "notifier"
    vital = False
    """If it fails, notices wait for a while; the jobs themselves go on."""

    def __init__(self, life: Life) -> None:
        super().__init__(EVERY_S)
        self._life = life
        self._version = -1
        self._reading = asyncio.Lock()
        self._shards: frozenset[int] = frozenset()
        self._reload_at_s = 0.0
        self._deadlines: list[tuple[int, JobId]] = []
        """(when to look, job), soonest first."""
        self._recurrences: dict[str, Recurrence] = {}
        self._tz_version = ""
        self.subscribed = asyncio.Event()
        """Set once there is a subscription: until then there is nothing to deliver."""

    async def tick(self) -> None:
        life, rules = self._life, self._life.owner.notice_rules
        await self.refresh()
        now_us = life.clock.now_us()
        rules.send_folded(now_us, life.owner.outbox)
        if rules.late_us < NEVER_US and any(now_us - due_us > rules.late_us for _, _, due_us in life.owner.heads()):
            rules.waiting(list(life.owner.live.values()), now_us, life.owner.outbox)
        await self._look_for_silence()
        if life.owner.outbox:
            life.committer.wake()

    async def refresh(self) -> None:
        """Reads the subscriptions, if they have changed. One call at a time, so that an older reading never wins."""
        life = self._life
        async with self._reading:
            version, any_there = await peek_subscriptions(life.pool)
            if any_there:
                self.subscribed.set()
            if version != self._version:
                life.owner.notice_rules.follow(await load_rules(life.pool), life.owner.outbox)
                self._version = version
                self._reload_at_s = 0.0

    # -- silence -----------------------------------------------------------------------------------------------------

    async def _look_for_silence(self) -> None:
        life = self._life
        if not any("silent" in rule.events for rule in life.owner.notice_rules.rules.values()):
            self._deadlines.clear()
            return
        shards = frozenset(life.terms)
        if monotonic_s() >= self._reload_at_s or shards != self._shards:
            await self._reload(shards)
        now_us = life.clock.now_us()
        due: set[JobId] = set()
        while self._deadlines and self._deadlines[0][0] <= now_us and len(due) < _MAX_AT_ONCE:
            due.add(heappop(self._deadlines)[1])
        if due:
            places = sorted({shard_of(job_id) for job_id in due})
            self._look(await load_expectations(life.pool, places, sorted(due), MAX_WATCHED), now_us)

    async def _reload(self, shards: frozenset[int]) -> None:
        found = await load_expectations(self._life.pool, sorted(shards), None, MAX_WATCHED + 1)
        if len(found) > MAX_WATCHED:
            log.warning("too many jobs are watched for silence", most=MAX_WATCHED)
        self._deadlines = []
        self._shards = shards
        self._reload_at_s = monotonic_s() + RELOAD_S
        self._look(found[:MAX_WATCHED], self._life.clock.now_us())

    def _look(self, found: list[tuple[Expectation, str | None]], now_us: int) -> None:
        """Sends notices of the jobs whose time of grace is over, and notes when to look at the others again."""
        life = self._life
        soonest: dict[JobId, int] = {}
        for known, text in found:
            job_id = JobId(known.job_id)
            rule = life.owner.notice_rules.rules.get(known.subscription_id)
            trouble = life.owner.notice_rules.troubles.get(job_id)
            has_notice = trouble is not None and known.subscription_id in trouble.silent_for
            from_us = expected_us(known, None if text is None else self._recurrence(text))
            if rule is None or from_us is None or has_notice:
                continue  # a success, or another occurrence, is seen when all is read again
            if from_us + known.grace_us > now_us:
                soonest[job_id] = min(soonest.get(job_id, NEVER_US), from_us + known.grace_us)
            elif shard_of(job_id) in life.owner.watermarks:
                life.owner.notice_rules.silent(rule, job_id, from_us, known.succeeded_us, now_us, life.owner.outbox)
        for job_id, at_us in soonest.items():
            heappush(self._deadlines, (at_us, job_id))

    def _recurrence(self, text: str) -> Recurrence:
        if self._tz_version != tz_version() or len(self._recurrences) > _MAX_SCHEDULES:
            self._recurrences.clear()
            self._tz_version = tz_version()
        found = self._recurrences.get(text)
        if found is None:
            found = self._recurrences[text] = read_recurrence(text)
        return found
