"""The statements of the hot path with arguments for the tables of `FILL`, and those that are not of it.

Hot is what a node asks again and again on behalf of runs, and all that its committer's connection carries: one slow
statement there holds up everything else. Every statement file is in one of the two lists; a test holds them to it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from noonmark.model.reason import Reason

RUNS = 60_000
SHARDS = 8
PER_SHARD = RUNS // SHARDS
KEYS = 40
BASE = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
HISTORY_DAYS = 20

FILL = f"""
INSERT INTO noonmark.policy (spec) VALUES ('{{}}');
INSERT INTO noonmark.schedule (text) SELECT 'every ' || n FROM generate_series(1, 300) n;
INSERT INTO noonmark.job (shard, job_id, tenant_id, version, policy_id, schedule_id, priority, catch_up, created_at,
    updated_at, planned_from, name, delay_ms, link_at, ends_at)
SELECT n % {SHARDS}, n * 4096 + n % {SHARDS}, 1, 1, 1, 1 + n / {SHARDS} % 300, 5, 1, '{BASE - timedelta(days=3)}',
    '{BASE}', '{BASE - timedelta(days=3)}', 'job-' || n, CASE WHEN n % 2 = 0 THEN 1000 END,
    CASE WHEN n % 2 = 0 THEN '{BASE}'::timestamptz + n * interval '1 ms' END,
    CASE WHEN n % 10 = 0 THEN '{BASE}'::timestamptz + n * interval '1 s' END
FROM generate_series(1, {RUNS}) n;
INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason, sleeps)
SELECT n % {SHARDS}, '{BASE}'::timestamptz + n * interval '1 ms', n * 4096 + n % {SHARDS},
    '{BASE}'::timestamptz + n * interval '1 ms', 1, 1, 1, 5, 1, n / {SHARDS} % 100 = 0
FROM generate_series(1, {RUNS}) n;
INSERT INTO noonmark.grant
SELECT n % {SHARDS}, n, 1, '{BASE}', ARRAY[n * 4096 + n % {SHARDS}], ARRAY['{BASE}'::timestamptz + n * interval '1 ms'],
    ARRAY[1]
FROM generate_series(1, {RUNS // 10}) n;
INSERT INTO noonmark.dead
SELECT shard, job_id, nominal_at - interval '1 h', nominal_at, 1, 1, 1, 5, 1, 1, 13 FROM noonmark.run;
INSERT INTO noonmark.inbox (shard, job_id, has_input)
SELECT n % {SHARDS}, n * 4096 + n % {SHARDS}, false FROM generate_series(1, {RUNS}) n;
INSERT INTO noonmark.job_version SELECT shard, job_id, 1, created_at, '{{}}' FROM noonmark.job;
INSERT INTO noonmark.job_label SELECT shard, 1, 'team:' || job_id / 4096 % 10, name FROM noonmark.job;
INSERT INTO noonmark.job_dedup
SELECT shard, job_id, 'key-' || job_id, planned_from, '{BASE}'::timestamptz + job_id / 4096 * interval '1 s'
FROM noonmark.job;
INSERT INTO noonmark.request
SELECT 1, 'request-' || n, n % {SHARDS}, '', '{BASE}'::timestamptz + n * interval '1 s'
FROM generate_series(1, {RUNS}) n;
INSERT INTO noonmark.job_skip SELECT shard, job_id, updated_at FROM noonmark.job;
INSERT INTO noonmark.trouble SELECT shard, job_id, updated_at, '{{}}' FROM noonmark.job;
INSERT INTO noonmark.subscription (tenant_id, name, events, kind, url, late_after_s, grace_s, quiet_s, active,
    delivery_job, created_at, updated_at)
SELECT 1, 'sub-' || n, '{{dead}}', 'webhook', '', 1, 1, 1, true, n * 4096 + n % {SHARDS}, now(), now()
FROM generate_series(1, 2000) n;
INSERT INTO noonmark.attempt
SELECT n % {SHARDS}, n * 4096 + n % {SHARDS}, '{BASE}'::timestamptz + n * interval '1 ms', 1,
    '{BASE}'::timestamptz - n % {HISTORY_DAYS} * interval '1 day', 1, 1, 1, now(), now(), now(), 1, 10, true
FROM generate_series(1, {RUNS}) n;
INSERT INTO noonmark.node (address, version, lease_until) SELECT '', '', 'infinity' FROM generate_series(1, 50);
INSERT INTO noonmark.lease SELECT node_id, now() + interval '1 h' FROM noonmark.node;
INSERT INTO noonmark.worker (name, queues, tasks, concurrency)
SELECT '', '{{}}', '{{}}', 1 FROM generate_series(1, 20000);
INSERT INTO noonmark.gap
SELECT n % {SHARDS}, '{BASE}'::timestamptz - n * interval '1 h', '{BASE}' FROM generate_series(1, 20000) n;
UPDATE noonmark.shard SET owner = 1, watermark = '{BASE}' WHERE shard < 6;
INSERT INTO noonmark.watermark SELECT shard, 0, '{BASE}' FROM noonmark.shard WHERE shard < 6;
"""


class Hot(NamedTuple):
    arguments: Sequence[object]
    rows: int = 12 * KEYS
    """So many rows may pass through all nodes of the plan together, those that a filter removes included."""
    blocks: int = 25 * KEYS
    """So many buffers may be touched."""


def _at(number: int) -> str:
    return (BASE + timedelta(milliseconds=number)).isoformat()


def array(values: Sequence[object]) -> str:
    return "{" + ",".join("NULL" if value is None else f'"{value}"' for value in values) + "}"


_NUMBERS = [RUNS // 2 + 7 * step for step in range(KEYS)]
_SHARD = array([number % SHARDS for number in _NUMBERS])
_JOB = array([number * 4096 + number % SHARDS for number in _NUMBERS])
_NOMINAL = array([_at(number) for number in _NUMBERS])
_NAME = array([f"job-{number}" for number in _NUMBERS])
_KEY = (_SHARD, _NOMINAL, _JOB)
_ONES = array([1] * KEYS)
_FALSE = array(["f"] * KEYS)
_NONE = array([None] * KEYS)
_NEW = array([_at(RUNS + 500 + number) for number in _NUMBERS])
_DIED = array([(BASE + timedelta(milliseconds=number, hours=-1)).isoformat() for number in _NUMBERS])
_SCHEDULE = array([1 + number // SHARDS % 300 for number in _NUMBERS])
_DEDUP = array([f"key-{number * 4096 + number % SHARDS}" for number in _NUMBERS])
_NEW_JOB = array([RUNS * 8192 + number for number in range(KEYS)])
_ONE = _NUMBERS[0]
_ONE_SHARD = _ONE % SHARDS
_ONE_JOB = _ONE * 4096 + _ONE_SHARD
_JOBS = array([number * 4096 + _ONE_SHARD for number in range(_ONE, _ONE + KEYS * SHARDS, SHARDS)])
"""Of one shard."""
_ALL = array(list(range(SHARDS)))
_SOME = array([0, 1, 2, 3])
_SUBSCRIPTIONS = array([1 + step for step in range(KEYS)])
_WHOLE_SHARD = {"rows": 3 * PER_SHARD, "blocks": 3 * PER_SHARD}
"""All runs of a job are found by reading its shard's part of the key (ADR 4): one shard, never all."""

HOT: dict[str, Hot] = {
    # the committer
    "insert_runs": Hot((_SHARD, _NEW, _JOB, _NEW, _ONES, _ONES, _ONES, _ONES, _ONES, _ONES, _ONES, _NONE, _FALSE)),
    "requeue_runs": Hot((*_KEY, _ONES, _ONES, _NEW, _ONES, _NONE, _FALSE, _FALSE)),
    "mark_cancelling": Hot((*_KEY, 1)),
    "insert_dead": Hot((_SHARD, _NOMINAL, _JOB, _NEW, _ONES, _ONES, _ONES, _NONE)),
    "delete_runs": Hot(_KEY),
    "follow_fixed_delays": Hot((_SHARD, _JOB, _NOMINAL, _NEW, Reason.SCHEDULED)),
    "insert_grant": Hot((1, RUNS + 1, 1, BASE, "{1}", array([BASE]), "{1}")),
    "insert_attempts": Hot((
        _SHARD, _JOB, _NEW, _ONES, array([BASE] * KEYS), _ONES, _ONES, _NONE, _NEW, _NONE, _NONE, _ONES, _ONES, _FALSE,
        _NONE, _NONE,
    )),
    "delete_grants": Hot((array([n % SHARDS for n in range(1, KEYS + 1)]), array(list(range(1, KEYS + 1))))),
    "insert_audit": Hot((
        _ONES, array([BASE] * KEYS), _NAME, _NONE, array(["api"] * KEYS), _NONE, _NONE, _NAME, _NAME, _NONE, _NONE,
    )),
    "insert_notices": Hot(
        (_SUBSCRIPTIONS, _SHARD, _JOB, _NAME, _NAME, _NAME, _NONE, _NONE, _NONE, _NONE, _NONE, _ONES), rows=20 * KEYS
    ),
    "save_troubles": Hot((_SHARD, _JOB, _NOMINAL, array(["{}"] * KEYS))),
    "delete_troubles": Hot((_SHARD, _JOB)),
    # the ticker
    "advance_watermarks": Hot(("{0,1,2,3}", "{0,0,0,0}", 1, _at(1), BASE)),
    "wake_runs": Hot((_SOME, _at(RUNS // 2), _at(RUNS // 2 + 3_000))),
    "tick_runs": Hot(
        (_SHARD, _SCHEDULE, _NEW, array([-1] * KEYS), _ONES, _FALSE, _ONES, _NONE, BASE, Reason.SCHEDULED,
         Reason.CAUGHT_UP),
        rows=KEYS * PER_SHARD // 300 * 12, blocks=KEYS * PER_SHARD // 300 * 25,
    ),
    "load_missed_ends": Hot((_SOME, BASE, BASE + timedelta(seconds=100)), rows=2_000, blocks=2_000),
    # the pager, and a new owner
    "page_shard": Hot((1, _at(RUNS // 2), 0, _at(RUNS), KEYS)),
    "page_lane": Hot((1, _at(RUNS // 2), 0, _at(RUNS), KEYS, 1, "{1}", 5)),
    "load_grants": Hot((1,), rows=2 * PER_SHARD, blocks=PER_SHARD),
    "load_granted_runs": Hot((1,), rows=PER_SHARD, blocks=PER_SHARD),
    "load_paused": Hot((_ONE_SHARD, _JOB)),
    "load_schedules": Hot((1,), rows=300 * 12, blocks=300 * 12),
    "load_troubles": Hot((1,), rows=2 * PER_SHARD, blocks=PER_SHARD),
    "load_inputs": Hot(_KEY),
    "load_policies": Hot((_ONES,)),
    # ownership
    "take_shards": Hot((1, 2)),
    "record_gaps": Hot((_ALL, array([_at(n) for n in range(SHARDS)]), BASE)),
    "give_shards": Hot((_SOME, 1)),
    "renew_lease": Hot((1, 3.0)),
    "load_ownership": Hot(()),
    "load_live_nodes": Hot(()),
    "lock_node": Hot((1,)),
    "register_node": Hot(("", "", 3.0, None, 0)),
    "load_node_lives": Hot((3.0,)),
    "load_seen_workers": Hot((array(list(range(1, KEYS))),)),
    "lock_expired_nodes": Hot(()),
    "end_nodes": Hot(("{1}",)),
    "free_shards": Hot(("{1}",)),
    # the inbox
    "peek_inbox": Hot((_ALL,)),
    "drain_inbox": Hot((_ALL, KEYS)),
    "load_job_rows": Hot((_SHARD, _JOB)),
    "load_job_rows_by_name": Hot((_SHARD, _NAME, 1)),
    # requests and submissions with keys
    "find_requests": Hot((1, "request-77", BASE)),
    "keep_requests": Hot((
        _ONES, _NAME, _SHARD, array(["x"] * KEYS), array([BASE] * KEYS), array(["{}"] * KEYS),
    )),
    "forget_requests": Hot((_ALL, BASE + timedelta(seconds=200), KEYS)),
    "find_dedup_keys": Hot((_SHARD, _JOB, _DEDUP, BASE)),
    "keep_dedup_keys": Hot((_SHARD, _JOB, _NAME, _NOMINAL, BASE)),
    "forget_dedup_keys": Hot((_ALL, BASE + timedelta(seconds=200), KEYS)),
    # a change of one job, and single runs
    "delete_planned_runs": Hot((array([_ONE_SHARD]), _JOBS, BASE, 1, "{}", "{}"), **_WHOLE_SHARD),
    "delete_waiting_runs": Hot((array([_ONE_SHARD]), _JOBS, "{}", "{}"), **_WHOLE_SHARD),
    "park_runs": Hot((array([_ONE_SHARD]), _JOBS, "{}", "{}"), **_WHOLE_SHARD),
    "unpark_runs": Hot((array([_ONE_SHARD]), array([BASE]), _JOBS), **_WHOLE_SHARD),
    "load_waiting_runs": Hot((array([_ONE_SHARD]), array([_at(RUNS)]), _JOBS, 100), **_WHOLE_SHARD),
    "delete_waiting_run": Hot((_ONE_SHARD, _ONE_JOB, _at(_ONE), 1)),
    "hasten_run": Hot((_ONE_SHARD, _ONE_JOB, _at(_ONE), 1, BASE)),
    "has_run": Hot((_ONE_SHARD, _at(_ONE), _ONE_JOB)),
    "fetch_waiting_run": Hot((_ONE_SHARD, _at(_ONE), _ONE_JOB)),
    "fetch_end_of_run": Hot((_ONE_SHARD, _ONE_JOB, _at(_ONE))),
    "find_ended_runs": Hot(_KEY),
    "find_known_runs": Hot(_KEY, blocks=100 * KEYS),
    "delete_skip_record": Hot((_ONE_SHARD, _ONE_JOB, _at(_ONE), 3)),
    "set_job_skips": Hot((_ONE_SHARD, _ONE_JOB, array([_at(n) for n in range(KEYS)]))),
    "redrive_dead": Hot((_SHARD, _DIED, _JOB, 1, BASE, 1)),
    "discard_dead": Hot((_SHARD, _DIED, _JOB, 1)),
    "insert_jobs": Hot((
        1, BASE, _SHARD, _NEW_JOB, _ONES, _ONES, _ONES, _ONES, _ONES, _NEW,
        array([f"new-{n}" for n in range(KEYS)]), _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE,
    )),
    "insert_versions": Hot((BASE, _SHARD, _NEW_JOB, _ONES, array(["{}"] * KEYS))),
    "insert_events": Hot((BASE, "changed", _SHARD, _JOB, _ONES)),
    "insert_labels": Hot((1, _SHARD, _NAME, array(["a:b"] * KEYS))),
    "delete_labels": Hot((1, _SHARD, _NAME, array([f"team:{number % 10}" for number in _NUMBERS]))),
    "update_jobs": Hot((
        BASE, _SHARD, _JOB, _ONES, _ONES, _ONES, _ONES, _ONES, _ONES, _NONE, _NEW, _NONE, _NONE, _NONE, _NONE, _NONE,
        _NONE,
    )),
    "set_jobs_active": Hot(("f", BASE, _SHARD, _JOB, _NEW, _NONE, _NONE, _NONE)),
    "delete_jobs": Hot((_SHARD, _JOB)),
    "load_specs": Hot((_SHARD, _JOB, _ONES)),
    "next_job_sequences": Hot((KEYS,)),
    # workers
    "see_workers": Hot((array(list(range(1, KEYS))), array([BASE + timedelta(days=2)] * (KEYS - 1)))),
    "renew_worker": Hot((1, "", "{}", "{}", 1, None)),
    "register_worker": Hot(("", "{}", "{}", 1, None)),
    "declare_tasks": Hot((_NAME,)),
}  # fmt: skip

POOLED = (
    "declare_tasks", "find_requests", "forget_dedup_keys", "forget_requests", "load_inputs", "peek_inbox",
    "register_worker", "renew_worker", "see_workers",
)  # fmt: skip
"""Of the hot ones, those that go over the pool, which plans as usual."""

COLD = {
    "keys, tenants and subscriptions, when somebody changes them": """
        bump_subscriptions delete_subscription insert_key insert_subscription insert_tenant lock_key lock_subscription
        lock_tenant revoke_key rotate_key set_tenant_weight update_subscription""",
    "what the API reads; plans of the lists have a test of their own": """
        count_dead count_jobs count_jobs_by_schedule count_labelled_jobs count_serving count_subscriptions
        estimate_jobs_by_schedule fetch_holder fetch_job_ids fetch_job_versions fetch_jobs fetch_key fetch_run
        fetch_subscription fetch_tasks fetch_tenant fetch_version_at fetch_worker_names find_gap find_policies
        follow_jobs follow_runs has_keys list_attempts list_audit list_audit_of_subject list_dead
        list_dead_of_job list_deliveries list_audit_facts list_ended_runs list_ended_runs_of_job list_expiring_keys
        list_job_events list_job_versions list_jobs list_keys list_labelled_jobs list_live_runs
        list_live_runs_of_job list_matching_jobs list_nodes list_running_runs list_shards list_subscriptions
        list_tenants list_workers load_spec size_up_jobs""",
    "the doctor": "examine_database examine_due_runs examine_shards examine_tables",
    "one row a request, over the pool": """
        find_key lock_request touch_keys""",
    "interned texts, over the pool": "intern_policies intern_schedules load_policy_ids load_schedule_ids",
    "notices, over the pool, every second or less": """
        load_expectations load_rules load_target load_tenants peek_subscriptions""",
    "upkeep, and the end of a frozen node": """
        end_frozen_sessions forget_old_nodes forget_old_workers""",
}
