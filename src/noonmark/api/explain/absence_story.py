"""PURE: why a job did or did not run at a time, from the facts about it.

The first of these that holds is the answer:
    a run of that time                  ran, or the state in which it is or ended
    deleted, created_later              there was no such job then
    no_schedule                         it runs only when somebody asks for it
    excluded, moved                     its schedule names the time, but a rule of the schedule keeps it out
    not_started, ended                  the time is outside of the schedule's bounds
    not_due                             its schedule does not name the time
    to_come                             the time has not come
    paused, changed                     it was not to fire then
    missed                              no node fired for it then, and its misfire policy does not run it late
    forgotten                           there was a run, or is no trace of one: nothing is known any more
"""

from datetime import tzinfo
from typing import NamedTuple

from noonmark.api.explain.run_story import Line, length
from noonmark.clock import SECOND_US, to_datetime
from noonmark.schedule import describe, write_schedule
from noonmark.schedule.preview.context import PreviewContext
from noonmark.store.reads.story import AuditFact, JobEvent, OwnerlessGap
from noonmark.wire.resources import JobSpec

_MINUTE_US = 60 * SECOND_US


class AbsenceFacts(NamedTuple):
    at_us: int
    """The time that is asked about."""
    spec: JobSpec
    """As of that time."""
    context: PreviewContext
    """Of that schedule, for a job created when it was."""
    created_us: int
    changed_us: int
    """Since when the definition that is in force now, or the last resume, counts."""
    events: list[JobEvent]
    """The latest first, up to now."""
    audit_facts: list[AuditFact]
    gap: OwnerlessGap | None
    occurrence_us: int | None
    """The time that the schedule names and is meant; see `meant`."""
    now_us: int


class AbsenceVerdict(NamedTuple):
    code: str
    sentence: str
    story: list[Line]
    previous_us: int | None
    next_us: int | None


def span_us(at_us: int) -> int:
    """The length of a written time: a whole minute if it has no seconds, else a second."""
    return _MINUTE_US if at_us % _MINUTE_US == 0 else SECOND_US


def meant(context: PreviewContext, at_us: int) -> int | None:
    """The occurrence of a schedule at the written time."""
    if context.recurrence is None:
        once = [one for one in context.coming if at_us <= one < at_us + span_us(at_us)]
        return once[0] if once else None
    found = context.recurrence.next_after(at_us - 1)
    return found if found is not None and found < at_us + span_us(at_us) else None


def judge(facts: AbsenceFacts) -> AbsenceVerdict:
    """For a time of which there is no run."""
    code, sentence = _answer(facts)
    recurrence = facts.context.recurrence
    at_us = facts.at_us
    previous_us = None if recurrence is None else recurrence.previous_before(at_us)
    next_us = (
        None
        if recurrence is None
        else recurrence.next_after(at_us if facts.occurrence_us is None else facts.occurrence_us)
    )
    return AbsenceVerdict(code, sentence, _story(facts), previous_us, next_us)


def _answer(facts: AbsenceFacts) -> tuple[str, str]:
    at = _moment(facts, facts.at_us)
    if facts.at_us + span_us(facts.at_us) <= facts.created_us:
        return "created_later", f"the job was created later, at {_moment(facts, facts.created_us)}"
    if facts.occurrence_us is None:
        return _not_named(facts, at)
    occurrence_us = facts.occurrence_us
    if occurrence_us > facts.now_us:
        return "to_come", f"its time has not come: it is due in {length(occurrence_us - facts.now_us)}"
    pause = _paused_at(facts, occurrence_us)
    if pause is not None:
        who = _who(facts, "job.pause", pause.at_us)
        return "paused", f"the job was paused: {who} paused it at {_moment(facts, pause.at_us)}"
    if facts.gap is not None:
        return "missed", _missed(facts, facts.gap)
    if occurrence_us <= facts.changed_us:
        event = next((event for event in facts.events if event.at_us >= occurrence_us), None)
        what = "changed" if event is None else event.event
        return (
            "changed",
            f"the job was {what} at {_moment(facts, facts.changed_us)}, and earlier times do not count since",
        )
    return (
        "forgotten",
        "its schedule names this time and nothing stood against it, but no run of it is known: history is kept for a "
        "limited time, and the run may have been withdrawn when the job was changed",
    )


def _not_named(facts: AbsenceFacts, at: str) -> tuple[str, str]:
    context = facts.context
    if context.recurrence is None:
        if context.timed.delay_us is not None:
            return "not_due", f"each run comes {length(context.timed.delay_us)} after the one before ended, not at {at}"
        if context.coming:
            return "not_due", f"the job runs once, at {_moment(facts, context.coming[0])}"
        return "no_schedule", "the job has no schedule: it runs only when somebody asks for it"
    kept_out = _kept_out(facts)
    if kept_out is not None:
        return kept_out
    start_us, end_us = context.timed.start_us, context.timed.end_us
    if start_us is not None and facts.at_us < start_us:
        return "not_started", f"its schedule starts at {_moment(facts, start_us)}"
    if end_us is not None and facts.at_us > end_us:
        return "ended", f"its schedule ended at {_moment(facts, end_us)}"
    if context.ends and context.recurrence.next_after(facts.at_us - 1) is None:
        return "ended", "its schedule had come to its end: no time is left in it"
    return "not_due", f"its schedule does not name {at}: {describe(context.plain)} ({write_schedule(context.plain)})"


def _kept_out(facts: AbsenceFacts) -> tuple[str, str] | None:
    filtered, unfiltered = facts.context.filtered, facts.context.unfiltered
    if filtered is None or unfiltered is None:
        return None
    named_us = unfiltered.next_after(facts.at_us - 1)
    if named_us is None or named_us >= facts.at_us + span_us(facts.at_us):
        return None
    why = filtered.excluded_reason(named_us)
    if why is None:
        return None
    moved_us = filtered.moved_to(named_us)
    if moved_us is not None:
        return "moved", f"its schedule keeps this time out ({why}) and fires at {_moment(facts, moved_us)} instead"
    return "excluded", f"its schedule keeps this time out: {why}"


def _missed(facts: AbsenceFacts, gap: OwnerlessGap) -> str:
    misfire = facts.spec.misfire
    idle = f"no node fired for the job from {_moment(facts, gap.from_us)} to {_moment(facts, gap.to_us)}"
    if misfire.policy == "skip":
        return f"{idle}, and its misfire policy skips what was missed"
    if misfire.policy == "once":
        return f"{idle}, and its misfire policy runs only the last occurrence that was missed"
    if misfire.window_s is not None and gap.to_us - facts.at_us > misfire.window_s * SECOND_US:
        return f"{idle}, and its misfire policy catches up on what was missed by up to {misfire.window_s:g} s alone"
    return f"{idle}, and its misfire policy runs no more than the last {misfire.limit} that were missed"


def _paused_at(facts: AbsenceFacts, at_us: int) -> JobEvent | None:
    last = next((e for e in facts.events if e.at_us <= at_us and e.event in ("paused", "resumed", "created")), None)
    return last if last is not None and last.event == "paused" else None


def _who(facts: AbsenceFacts, action: str, at_us: int) -> str:
    near = [fact for fact in facts.audit_facts if fact.action == action and abs(fact.at_us - at_us) < SECOND_US]
    return near[-1].actor if near else "somebody"


def _story(facts: AbsenceFacts) -> list[Line]:
    """The changes of the job around that time: the last before it, the first after it."""
    earlier = [event for event in facts.events if event.at_us <= facts.at_us][:3]
    later = [event for event in facts.events if event.at_us > facts.at_us][-2:]
    lines = []
    for event in (*earlier, *later):
        action = {"created": "job.create", "changed": "job.change", "deleted": "job.delete"}.get(
            event.event, f"job.{event.event[:-1]}"
        )
        who = _who(facts, action, event.at_us)
        lines.append(Line(event.at_us, event.event, f"{who} {event.event} the job (version {event.version})"))
    if facts.gap is not None:
        lines.append(Line(facts.gap.from_us, "gap_began", "no node fired for the job from here on"))
        lines.append(Line(facts.gap.to_us, "gap_ended", "a node took over"))
    return sorted(lines)


def _moment(facts: AbsenceFacts, at_us: int) -> str:
    where: tzinfo = facts.context.where
    return to_datetime(at_us).astimezone(where).isoformat(timespec="seconds")
