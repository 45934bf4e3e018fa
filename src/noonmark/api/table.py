"""Every endpoint of the API, one row each: method, path, the least role, the function that answers, its status.

The parameters and the answer of a row are read from the function's signature; see `dispatch`.
"""

from noonmark.api.access.roles import ADMIN, ANY, FLEET, FREE, INSTALLATION_ADMIN, OPERATOR, VIEWER, WORKER
from noonmark.api.dispatch.endpoint import Endpoint
from noonmark.api.explain.explain_absence import explain_absence
from noonmark.api.explain.explain_run import explain_run
from noonmark.api.routes import (
    apply,
    audit,
    bulk,
    dead,
    doctor,
    fleet,
    follow,
    health,
    job_runs,
    jobs,
    keys,
    node_commands,
    occurrences,
    runs,
    schedules,
    subscriptions,
    tenants,
    versions,
    worker,
)

TABLE = (
    # Jobs
    Endpoint("GET", "/v1/jobs", VIEWER, jobs.list_jobs),
    Endpoint("POST", "/v1/jobs", ADMIN, jobs.create_job, 201),
    Endpoint("POST", "/v1/jobs/batch", ADMIN, jobs.create_jobs, 201),
    Endpoint("PUT", "/v1/jobs/batch", ADMIN, apply.put_jobs),
    Endpoint("POST", "/v1/jobs/bulk", OPERATOR, bulk.bulk_jobs),  # to delete takes an admin, which it sees to
    Endpoint("GET", "/v1/jobs/{ref}", VIEWER, jobs.read_job),
    Endpoint("PUT", "/v1/jobs/{ref}", ADMIN, apply.put_job, also=201),
    Endpoint("PATCH", "/v1/jobs/{ref}", ADMIN, jobs.change_job),
    Endpoint("DELETE", "/v1/jobs/{ref}", ADMIN, jobs.delete_job, 204),
    Endpoint("POST", "/v1/jobs/{ref}/pause", OPERATOR, jobs.pause_job),
    Endpoint("POST", "/v1/jobs/{ref}/resume", OPERATOR, jobs.resume_job),
    Endpoint("POST", "/v1/jobs/{ref}/trigger", OPERATOR, jobs.trigger_job, 202),
    Endpoint("GET", "/v1/jobs/{ref}/runs", VIEWER, job_runs.list_job_runs),
    Endpoint("POST", "/v1/jobs/{ref}/cancel", OPERATOR, job_runs.cancel_job_runs, 202),
    Endpoint("GET", "/v1/jobs/{ref}/follow", VIEWER, follow.follow_job),
    Endpoint("GET", "/v1/jobs/{ref}/explain", VIEWER, explain_absence),
    Endpoint("GET", "/v1/jobs/{ref}/fires", VIEWER, occurrences.list_fires),
    Endpoint("POST", "/v1/jobs/{ref}/skip", OPERATOR, occurrences.skip_fire),
    Endpoint("DELETE", "/v1/jobs/{ref}/skip", OPERATOR, occurrences.unskip_fire),
    Endpoint("POST", "/v1/jobs/{ref}/backfill", OPERATOR, occurrences.backfill, name="backfill_job"),
    Endpoint("GET", "/v1/jobs/{ref}/versions", VIEWER, versions.list_versions, name="list_job_versions"),
    Endpoint("GET", "/v1/jobs/{ref}/versions/{version}", VIEWER, versions.read_version, name="read_job_version"),
    Endpoint(
        "GET",
        "/v1/jobs/{ref}/versions/{before}/diff/{after}",
        VIEWER,
        versions.diff_versions,
        name="diff_job_versions",
    ),
    Endpoint("POST", "/v1/jobs/{ref}/rollback", ADMIN, versions.roll_back, name="roll_back_job"),
    # Runs and dead letters
    Endpoint("GET", "/v1/runs", VIEWER, runs.list_all_runs, name="list_runs"),
    Endpoint("POST", "/v1/runs/batch", OPERATOR, runs.submit_runs, 202),
    Endpoint("GET", "/v1/runs/{run_id}", VIEWER, runs.read_run),
    Endpoint("GET", "/v1/runs/{run_id}/attempts", VIEWER, runs.list_run_attempts),
    Endpoint("GET", "/v1/runs/{run_id}/explanation", VIEWER, explain_run),
    Endpoint("GET", "/v1/runs/{run_id}/follow", VIEWER, follow.follow_run),
    Endpoint("POST", "/v1/runs/{run_id}/cancel", OPERATOR, runs.cancel_run, 202),
    Endpoint("POST", "/v1/runs/{run_id}/retry", OPERATOR, runs.retry_run, 202),
    Endpoint("GET", "/v1/dead", VIEWER, dead.list_dead_letters),
    Endpoint("POST", "/v1/dead/redrive", OPERATOR, dead.redrive, name="redrive_dead_letters"),
    Endpoint("POST", "/v1/dead/discard", OPERATOR, dead.discard, name="discard_dead_letters"),
    # Subscriptions
    Endpoint("GET", "/v1/subscriptions", VIEWER, subscriptions.list_subscriptions),
    Endpoint("POST", "/v1/subscriptions", ADMIN, subscriptions.create_subscription, 201),
    Endpoint("GET", "/v1/subscriptions/{subscription_id}", VIEWER, subscriptions.read_subscription),
    Endpoint("PATCH", "/v1/subscriptions/{subscription_id}", ADMIN, subscriptions.change_subscription),
    Endpoint("DELETE", "/v1/subscriptions/{subscription_id}", ADMIN, subscriptions.delete_subscription, 204),
    Endpoint(
        "POST",
        "/v1/subscriptions/{subscription_id}/rotate-secret",
        ADMIN,
        subscriptions.rotate_secret,
        name="rotate_subscription_secret",
    ),
    Endpoint(
        "POST",
        "/v1/subscriptions/{subscription_id}/test",
        ADMIN,
        subscriptions.send_test,
        202,
        name="test_subscription",
    ),
    Endpoint("GET", "/v1/subscriptions/{subscription_id}/deliveries", VIEWER, subscriptions.list_deliveries),
    # Schedules
    Endpoint("POST", "/v1/schedules/preview", VIEWER, schedules.preview_schedule),
    # The fleet
    Endpoint("GET", "/v1/nodes", FLEET, fleet.list_nodes),
    Endpoint("GET", "/v1/workers", FLEET, fleet.list_workers),
    Endpoint("GET", "/v1/shards", FLEET, fleet.list_shards),
    Endpoint("GET", "/v1/doctor", INSTALLATION_ADMIN, doctor.examine, name="read_diagnosis"),
    Endpoint("GET", "/v1/doctor/node", INSTALLATION_ADMIN, doctor.examine_node, name="read_node_diagnosis"),
    Endpoint("PUT", "/v1/tasks", WORKER, fleet.declare_tasks),
    Endpoint("GET", "/v1/version", ANY, fleet.read_version),
    Endpoint("GET", "/metrics", FLEET, health.metrics, name="read_metrics"),  # they name tenants
    Endpoint("GET", "/healthz", FREE, health.healthz, name="read_health"),
    Endpoint("GET", "/readyz", FREE, health.readyz, also=503, name="read_readiness"),
    # Keys, tenants and the audit
    Endpoint("GET", "/v1/whoami", ANY, keys.who_am_i, name="read_caller"),
    Endpoint("GET", "/v1/keys", ADMIN, keys.list_all_keys, name="list_keys"),
    Endpoint("POST", "/v1/keys", ADMIN, keys.create_key, 201),
    Endpoint("GET", "/v1/keys/{key_id}", ADMIN, keys.read_key),
    Endpoint("DELETE", "/v1/keys/{key_id}", ADMIN, keys.revoke_key),
    Endpoint("POST", "/v1/keys/{key_id}/rotate", ADMIN, keys.rotate_key),
    Endpoint("GET", "/v1/tenants", VIEWER, tenants.list_all_tenants, name="list_tenants"),
    Endpoint("POST", "/v1/tenants", INSTALLATION_ADMIN, tenants.create_tenant, 201),
    Endpoint("GET", "/v1/tenants/{name}", VIEWER, tenants.read_tenant),
    Endpoint("PATCH", "/v1/tenants/{name}", INSTALLATION_ADMIN, tenants.update_tenant, name="change_tenant"),
    Endpoint("GET", "/v1/audit", ADMIN, audit.list_entries, name="list_audit"),
    # The worker protocol
    Endpoint("POST", "/v1/worker/register", WORKER, worker.register, name="worker_register"),
    Endpoint("POST", "/v1/worker/claim", WORKER, worker.claim, waits=True, name="worker_claim"),
    Endpoint("POST", "/v1/worker/heartbeat", WORKER, worker.heartbeat, name="worker_heartbeat"),
    Endpoint("POST", "/v1/worker/report", WORKER, worker.report, name="worker_report"),
)

AMONG_NODES = Endpoint("POST", "/v1/node/commands", FREE, node_commands.carry_out_command)
"""Not for callers, and not in the document: it asks for no key, because nodes sign their commands."""
