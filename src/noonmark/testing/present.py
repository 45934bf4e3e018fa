"""Rows in memory as the resources that the API would answer."""

import msgspec

from noonmark.clock import to_datetime
from noonmark.model.ids import RunKey, job_text, run_text
from noonmark.model.reason import SENTENCES, Outcome
from noonmark.model.run import AttemptRow
from noonmark.schedule import canonical, describe, write_schedule
from noonmark.shard.live_run import State
from noonmark.testing.engine import Engine
from noonmark.testing.planned import Planned
from noonmark.wire.resources import Attempt, Job
from noonmark.wire.runs import RunWithAttempts

_STATES = {Outcome.CANCELLED: "cancelled", Outcome.EXPIRED: "expired", Outcome.WITHDRAWN: "withdrawn"}


def job(planned: Planned) -> Job:
    spec = planned.spec
    plain = canonical(spec.schedule)
    row = planned.row
    next_us = planned.next_us if row.active else None
    return Job(
        **{name: getattr(spec, name) for name in spec.__struct_fields__},
        id=job_text(planned.job_id),
        tenant="default",
        version=row.version,
        state="active" if row.active else "paused",
        next_at=None if next_us is None else to_datetime(next_us),
        created_at=to_datetime(row.created_us),
        updated_at=to_datetime(planned.updated_us),
        canonical=write_schedule(plain),
        description=describe(plain),
    )


def run(engine: Engine, key: RunKey) -> RunWithAttempts:
    ended = engine.history.get(key, [])
    row = engine.rows.get(key)
    last = ended[-1] if ended else None
    if row is not None:
        state, reason, due_us, version, priority = (
            _state(engine, key),
            row.reason,
            row.due_us,
            row.version,
            row.priority,
        )
        number = row.attempt + (state == "running")
    else:
        assert last is not None
        state = "dead" if key in engine.dead else _STATES.get(last.outcome, "succeeded")
        reason, due_us, version, number, priority = last.reason, last.due_us, last.version, last.attempt, None
    return RunWithAttempts(
        id=run_text(key),
        job=job_text(key[0]),
        job_name=engine.names[key[0]],
        version=version,
        state=state,  # type: ignore[arg-type]
        reason=reason.name.lower(),
        why=SENTENCES[reason],
        priority=priority,
        attempt=number,
        nominal_at=to_datetime(key[1]),
        due_at=to_datetime(due_us),
        finished_at=None if row is not None or last is None else to_datetime(last.finished_us),
        error=None if last is None else last.error,
        attempts=[attempt(one) for one in ended],
    )


def attempt(row: AttemptRow) -> Attempt:
    return Attempt(
        run=run_text((row.job_id, row.nominal_us)),
        attempt=row.attempt,
        outcome=row.outcome.name.lower(),
        reason=row.reason.name.lower(),
        why=SENTENCES[row.reason],
        final=row.final,
        worker=row.worker_id,
        nominal_at=to_datetime(row.nominal_us),
        due_at=to_datetime(row.due_us),
        granted_at=None if row.granted_us is None else to_datetime(row.granted_us),
        started_at=None if row.started_us is None else to_datetime(row.started_us),
        finished_at=to_datetime(row.finished_us),
        error=row.error,
        result=None if row.result is None else msgspec.json.decode(row.result),
    )


def _state(engine: Engine, key: RunKey) -> str:
    live = engine.owner.live.get(key)
    if live is not None and live.state is State.GRANTED:
        return "running"
    if key in engine.parked:
        return "parked"
    row = engine.rows[key]
    return "retrying" if row.attempt > 0 and row.due_us > engine.clock.now_us() else "waiting"
