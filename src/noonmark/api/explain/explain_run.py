"""/v1/runs/{run}/explanation: why a run is where it is, as a story."""

import asyncio

import msgspec

from noonmark.api.call import Call
from noonmark.api.explain.run_story import Line, RunFacts, story_of_run
from noonmark.api.routes.runs import MAX_ATTEMPTS, no_run
from noonmark.clock import SECOND_US, to_datetime
from noonmark.model.ids import RunKey, job_text, parse_run, run_text, shard_of
from noonmark.store.reads import story as reads
from noonmark.store.reads.runs import LIVE_STATES, RunRecord, fetch_run, list_attempts
from noonmark.wire.resources import JobSpec
from noonmark.wire.runs import Explanation, StoryLine

_BEFORE_US = 2 * SECOND_US
"""A change of a job so shortly before a run may have made the run."""


async def explain_run(run_id: str, call: Call) -> Explanation:
    """What happened to a run, first to last: why it exists, waited, was retried, gave up, or where it stands now."""
    key = parse_run(run_id)
    record = await fetch_run(call.node.pool, call.tenant_id, key)
    if record is None:
        raise no_run(key)
    return Explanation(run_text(key), record.state, to_story_lines(story_of_run(await gather(call, key, record))))


async def gather(call: Call, key: RunKey, record: RunRecord) -> RunFacts:
    """All that is known of a run."""
    pool, now_us = call.node.pool, call.now_us
    live = record.state in LIVE_STATES
    until_us = now_us if live or record.state == "dead" else max(record.finished_us or now_us, key[1]) + _BEFORE_US
    from_us = min(key[1], record.finished_us or key[1]) - _BEFORE_US
    subjects = (run_text(key), job_text(key[0]), "runs")
    attempts, text, audit_facts, gap = await asyncio.gather(
        list_attempts(pool, call.tenant_id, key, MAX_ATTEMPTS),
        reads.load_spec(pool, key[0], record.version),
        reads.list_audit_facts(pool, call.tenant_id, subjects, from_us, until_us, submitted_until_us=key[1]),
        reads.find_gap(pool, shard_of(key[0]), key[1]),
    )
    spec = None if text is None else msgspec.json.decode(text, type=JobSpec)
    holder = await reads.fetch_holder(pool, key) if record.state == "running" else None
    serving = None
    if spec is not None and record.state in ("waiting", "retrying"):
        serving = await reads.count_serving(pool, spec.queue, spec.task)
    worker_ids = {attempt.worker_id for attempt in attempts if attempt.worker_id is not None}
    if holder is not None:
        worker_ids.add(holder.worker_id)
    # The fleet serves all tenants: the names of its workers go to callers without a tenant of its workers.
    named = worker_ids and call.caller.installation
    workers = await reads.fetch_worker_names(pool, worker_ids) if named else {}
    return RunFacts(key, record, attempts, spec, audit_facts, gap, workers, holder, serving, now_us)


def to_story_lines(lines: list[Line]) -> list[StoryLine]:
    return [StoryLine(to_datetime(line.at_us), line.code, line.sentence) for line in lines]
