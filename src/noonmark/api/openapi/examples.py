"""Bodies as people send them, by operation; a test carries each of them out against the type that it is for."""

from typing import Any

OF_BODY: dict[str, dict[str, Any]] = {
    "create_job": {
        "nightly": {
            "name": "nightly-report",
            "task": "report",
            "schedule": "TZ=Europe/Berlin 0 1 * * *",
            "input": {"format": "pdf"},
            "retry": {"max_attempts": 3},
        },
        "as an object": {"name": "poll", "task": "poll", "schedule": {"kind": "every", "every": "30s"}},
    },
    "put_job": {"nightly": {"task": "report", "schedule": "every day at 1:00", "labels": {"team": "billing"}}},
    "put_jobs": {"as it would be": {"jobs": [{"name": "a", "task": "report"}], "dry_run": True}},
    "bulk_jobs": {
        "how many": {"action": "pause", "filter": {"labels": ["team:billing"]}, "dry_run": True},
        "these": {"action": "resume", "jobs": ["nightly-report", "poll"]},
    },
    "backfill": {"a day": {"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "dry_run": True}},
    "roll_back": {"to the first": {"version": 1}},
    "skip_fire": {"the next one": {}, "this one": {"nominal_at": "2026-01-01T01:00:00Z"}},
    "create_jobs": {"two": {"jobs": [{"name": "a", "task": "report"}, {"name": "b", "task": "report"}]}},
    "change_job": {"schedule": {"schedule": "every 10 minutes"}},
    "trigger_job": {"with its own input": {"input": {"day": "2026-01-31"}}, "as it is": {}},
    "submit_runs": {"two": {"runs": [{"job": "nightly-report"}, {"job": "poll", "priority": 9}]}},
    "discard": {"of a job": {"job": "nightly-report", "dry_run": True}},
    "redrive": {"of a job": {"job": "nightly-report", "limit": 100}},
    "create_key": {"for a dashboard": {"name": "dashboard", "role": "viewer", "tenant": "default"}},
    "rotate_key": {"within a day": {"grace_s": 86400}},
    "create_tenant": {"acme": {"name": "acme", "weight": 2}},
    "update_tenant": {"twice the share": {"weight": 2}},
    "create_subscription": {
        "a webhook": {
            "name": "on-call",
            "events": ["dead", "recovered"],
            "to": {"kind": "webhook", "url": "https://example.com/hooks/noonmark"},
        }
    },
    "change_subscription": {"off": {"active": False}},
    "rotate_secret": {"within an hour": {"grace_s": 3600}},
    "preview_schedule": {"a cron": {"schedule": "0 9 * * mon-fri", "tz": "Europe/Berlin", "count": 3}},
    "declare_tasks": {"one": {"tasks": ["report"]}},
}
