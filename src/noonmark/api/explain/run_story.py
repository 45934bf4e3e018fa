"""PURE: the story of a run, first to last, from the facts about it.

A line is (time, code, sentence). The codes:
    why it exists      scheduled caught_up backfilled once triggered submitted
    why it waited      due_later paused resumed waited
    attempts           attempt_began attempt_succeeded attempt_failed attempt_timed_out attempt_lost attempt_released
                       attempt_cancelled
    outcomes           backoff retry_now gave_up redriven discarded cancel_asked cancelled expired withdrawn skipped
    where it is now    due no_worker no_place ready parked running
"""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from noonmark.clock import SECOND_US
from noonmark.model.ids import RunKey, is_scheduled, run_text
from noonmark.model.reason import SENTENCES, Outcome, Reason
from noonmark.schedule import At, Manual, Now, ScheduleError, canonical, describe, write_schedule
from noonmark.store.reads.runs import AttemptRecord, RunRecord
from noonmark.store.reads.story import AuditFact, Holder, OwnerlessGap, Serving
from noonmark.wire.resources import JobSpec

_WORTH_TELLING_US = SECOND_US
"""A shorter wait is no part of the story."""
_DONE = {
    "run.cancel": ("cancel_asked", "asked to cancel it"),
    "run.retry": ("retry_now", "asked to retry it now, without waiting for its backoff"),
    "job.cancel": ("cancel_asked", "asked to cancel all runs of the job"),
    "job.pause": ("paused", "paused the job"),
    "job.resume": ("resumed", "resumed the job"),
    "job.delete": ("cancel_asked", "deleted the job"),
    "dead.redrive": ("redriven", "took it back from the dead letters"),
    "dead.discard": ("discarded", "discarded its dead letter; it cannot be redriven any more"),
}


class RunFacts(NamedTuple):
    key: RunKey
    record: RunRecord
    attempts: list[AttemptRecord]
    spec: JobSpec | None
    """As of the run's version; None if that is not known any more."""
    audit_facts: list[AuditFact]
    gap: OwnerlessGap | None
    workers: dict[int, str]
    holder: Holder | None
    serving: Serving | None
    now_us: int


class Line(NamedTuple):
    at_us: int
    code: str
    sentence: str


def story_of_run(facts: RunFacts) -> list[Line]:
    rest = [*_later(facts), *_changes(facts), *_attempts(facts), *_now(facts)]
    return [_origin(facts), *sorted(rest, key=lambda line: line.at_us)]


def _origin(facts: RunFacts) -> Line:
    nominal_us = facts.key[1]
    asked = _submission(facts)
    if not is_scheduled(nominal_us) or asked is not None:
        if asked is None:
            reason = Reason.SUBMITTED if facts.record.reason == Reason.SUBMITTED else Reason.TRIGGERED
            return Line(nominal_us, reason.name.lower(), SENTENCES[reason])
        if asked.door == "sql":
            return Line(nominal_us, "submitted", f"{asked.actor} submitted it inside an SQL transaction")
        return Line(nominal_us, "triggered", f"{asked.actor} asked for it")
    backfill = next((fact for fact in facts.audit_facts if fact.action == "job.backfill"), None)
    if facts.record.reason == Reason.BACKFILLED or (backfill is not None and backfill.at_us > nominal_us):
        who = "somebody" if backfill is None else backfill.actor
        return Line(nominal_us, "backfilled", f"its time passed without a run, and {who} asked to make up for it")
    schedule = Manual() if facts.spec is None else facts.spec.schedule
    if isinstance(schedule, Now | At):
        return Line(nominal_us, "once", "its job runs once, at this time")
    sentence = f"its schedule named this time{_schedule(facts.spec)}"
    if facts.gap is None and facts.record.reason != Reason.CAUGHT_UP:
        return Line(nominal_us, "scheduled", sentence)
    late = "" if facts.gap is None else f" {length(facts.gap.to_us - nominal_us)}"
    return Line(nominal_us, "caught_up", f"{sentence}; no node fired for the job then, and it was made{late} late")


def _submission(facts: RunFacts) -> AuditFact | None:
    """The caller that asked for it: from the entry that names it, or the job's last one just before its time."""
    name = run_text(facts.key)
    entries = [fact for fact in facts.audit_facts if fact.action == "run.submit"]
    named = next((fact for fact in entries if name in _runs(fact)), None)
    if named is not None or is_scheduled(facts.key[1]):
        return named
    near = [fact for fact in entries if 0 <= facts.key[1] - fact.at_us < SECOND_US and not _complete(fact)]
    return near[-1] if near else None


def _schedule(spec: JobSpec | None) -> str:
    if spec is None:
        return ""
    try:
        plain = canonical(spec.schedule)
    except ScheduleError:
        return ""
    return f": {describe(plain)} ({write_schedule(plain)})"


def _later(facts: RunFacts) -> Iterator[Line]:
    """Between its nominal time and the time when it was first due."""
    nominal_us = facts.key[1]
    first = min(facts.attempts, key=lambda attempt: attempt.attempt, default=None)
    due_us = facts.record.due_us if first is None else first.due_us
    if due_us - nominal_us < _WORTH_TELLING_US or (first is None and facts.record.attempt):
        return
    wait = length(due_us - nominal_us)
    if not is_scheduled(nominal_us):
        yield Line(nominal_us, "due_later", f"it was asked for a later time, in {wait}")
    else:
        yield Line(nominal_us, "due_later", f"the job's jitter made it due {wait} later")


def _changes(facts: RunFacts) -> Iterator[Line]:
    name = run_text(facts.key)
    over_us = facts.record.finished_us
    from_us = min(facts.key[1], over_us or facts.key[1]) - SECOND_US
    said: set[str] = set()
    for fact in facts.audit_facts:
        done = _DONE.get(fact.action)
        if done is None or fact.at_us < from_us:
            continue
        of_dead = fact.action.startswith("dead.")
        if of_dead and name not in _runs(fact) and _complete(fact):
            continue
        if not of_dead and over_us is not None and fact.at_us > over_us:
            continue
        sentence = f"{fact.actor} {done[1]}"
        if fact.action == "job.cancel" and sentence in said:
            continue  # one request has an entry for the runs in memory and one for those in rows
        said.add(sentence)
        yield Line(fact.at_us, done[0], sentence)


def _attempts(facts: RunFacts) -> Iterator[Line]:
    previous_us = 0
    for position, attempt in enumerate(facts.attempts):
        if attempt.attempt == 0:
            yield _ended_waiting(facts, attempt)
            continue
        number = f"attempt {attempt.attempt}"
        if attempt.granted_us is not None:
            waited_us = attempt.granted_us - max(attempt.due_us, previous_us)
            if waited_us >= _WORTH_TELLING_US:
                yield Line(attempt.granted_us, "waited", f"it had waited {length(waited_us)} for a worker")
            began_us = attempt.started_us or attempt.granted_us
            yield Line(began_us, "attempt_began", f"{number} began on {_worker(facts, attempt.worker_id)}")
        yield _ended(attempt, number)
        previous_us = attempt.finished_us
        if attempt.final:
            if attempt.outcome in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LOST, Outcome.RELEASED):
                yield Line(attempt.finished_us, "gave_up", _gave_up(facts, attempt))
        else:
            following = facts.attempts[position + 1 : position + 2]
            due_us = following[0].due_us if following else facts.record.due_us
            yield from _backoff(facts, attempt, due_us)


def _ended_waiting(facts: RunFacts, attempt: AttemptRecord) -> Line:
    code = Outcome(attempt.outcome).name.lower()
    if attempt.reason == Reason.SKIPPED:
        skips = [fact for fact in facts.audit_facts if fact.action == "job.skip"]
        asked = [fact.actor for fact in skips if 0 <= attempt.finished_us - fact.at_us < SECOND_US]
        return Line(
            attempt.finished_us, "skipped", f"{asked[-1] if asked else 'somebody'} asked to skip this occurrence"
        )
    return Line(attempt.finished_us, code, f"it ended without having started: {_why(attempt.reason)}")


def _ended(attempt: AttemptRecord, number: str) -> Line:
    began_us = attempt.started_us or attempt.granted_us or attempt.finished_us
    lasted = length(attempt.finished_us - began_us)
    match Outcome(attempt.outcome):
        case Outcome.SUCCEEDED:
            return Line(attempt.finished_us, "attempt_succeeded", f"{number} succeeded after {lasted}")
        case Outcome.FAILED:
            return Line(attempt.finished_us, "attempt_failed", f"{number} failed after {lasted}{_error(attempt.error)}")
        case Outcome.TIMED_OUT:
            return Line(
                attempt.finished_us, "attempt_timed_out", f"{number} was stopped after {lasted}: its time was up"
            )
        case Outcome.LOST:
            return Line(
                attempt.finished_us, "attempt_lost", f"{number} was given up: its worker said nothing of it any more"
            )
        case Outcome.RELEASED:
            why = Reason.RELEASED if attempt.reason == Reason.AT_MOST_ONCE else attempt.reason
            return Line(attempt.finished_us, "attempt_released", f"{number} was handed back: {_why(why)}")
        case _:
            return Line(attempt.finished_us, "attempt_cancelled", f"{number} was cancelled after {lasted}")


def _gave_up(facts: RunFacts, attempt: AttemptRecord) -> str:
    if attempt.reason == Reason.NOT_RETRYABLE:
        return "it became a dead letter: the job does not retry errors of this type"
    if facts.spec is None or attempt.reason != Reason.ATTEMPTS_EXHAUSTED:
        return f"it became a dead letter: {_why(attempt.reason)}"
    most = facts.spec.retry.max_attempts
    return (
        f"it became a dead letter: the last of its {most} attempts failed"
        if most > 1
        else ("it became a dead letter: the job allows a single attempt")
    )


def _backoff(facts: RunFacts, attempt: AttemptRecord, due_us: int) -> Iterator[Line]:
    if attempt.outcome == Outcome.RELEASED:
        return
    wait = length(max(0, due_us - attempt.finished_us))
    used = "" if facts.spec is None else f" of {facts.spec.retry.max_attempts}"
    yield Line(
        attempt.finished_us, "backoff", f"attempt {attempt.attempt}{used} was used up; the next was due in {wait}"
    )


def _now(facts: RunFacts) -> Iterator[Line]:
    record, now_us = facts.record, facts.now_us
    match record.state:
        case "running":
            since = (
                ""
                if facts.holder is None
                else (
                    f" on {_worker(facts, facts.holder.worker_id)}, {length(now_us - facts.holder.granted_us)} so far"
                )
            )
            yield Line(now_us, "running", f"attempt {record.attempt + 1} is running{since}")
        case "parked":
            yield Line(now_us, "parked", "it waits until its paused job is resumed")
        case "waiting" | "retrying" if record.due_us > now_us:
            yield Line(now_us, "due", f"it is due in {length(record.due_us - now_us)}")
        case "waiting" | "retrying":
            yield _ready(facts)


def _ready(facts: RunFacts) -> Line:
    waited = length(facts.now_us - facts.record.due_us)
    if facts.serving is None or facts.spec is None:
        return Line(facts.now_us, "ready", f"it has been due for {waited} and waits for a worker")
    workers, places, taken = facts.serving
    served = f"the queue {facts.spec.queue!r} and the task {facts.spec.task!r}"
    if not workers:
        return Line(facts.now_us, "no_worker", f"it has been due for {waited}, and no worker serves {served}")
    of_workers = "the one worker that serves" if workers == 1 else f"the {workers} workers that serve"
    if taken >= places:
        sentence = f"it has been due for {waited}, and all {places} places of {of_workers} {served} are taken"
        return Line(facts.now_us, "no_place", sentence)
    return Line(facts.now_us, "ready", f"it has been due for {waited} and is next for {of_workers} {served}")


def _worker(facts: RunFacts, worker_id: int | None) -> str:
    if worker_id is None:
        return "a worker"
    name = facts.workers.get(worker_id)
    return f"worker {worker_id}" if name is None else f"worker {worker_id} ({name})"


def _error(error: str | None) -> str:
    """Its last line, which in a traceback is the message."""
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    return f": {lines[-1][:300]}" if lines else ""


def _why(code: int) -> str:
    try:
        return SENTENCES[Reason(code)]
    except ValueError:
        return "a newer node knows why"


class _AuditDetails(msgspec.Struct):
    count: int = 0
    runs: list[str] = []


def _audit_details(fact: AuditFact) -> _AuditDetails:
    try:
        return _AuditDetails() if fact.details is None else msgspec.json.decode(fact.details, type=_AuditDetails)
    except msgspec.MsgspecError:
        return _AuditDetails()


def _runs(fact: AuditFact) -> list[str]:
    return _audit_details(fact).runs


def _complete(fact: AuditFact) -> bool:
    """An entry about many runs names only the first of them."""
    details = _audit_details(fact)
    return len(details.runs) >= details.count


def length(us: int) -> str:
    """A length of time, as precise as a reader needs it."""
    seconds = max(0, us) / SECOND_US
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 72 else f"{round(seconds / 86_400)} days"
