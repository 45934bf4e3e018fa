-- The engine: tenants, jobs with versions, interned schedules and policies, runs, grants, attempts, dead letters, inbox,
-- shards, nodes and workers. Every table that grows with jobs carries the shard first in its primary key.

CREATE TABLE noonmark.setting (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE noonmark.tenant (
    tenant_id  integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name       text NOT NULL UNIQUE,
    weight     smallint NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 100),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
INSERT INTO noonmark.tenant (name) VALUES ('default');

CREATE TABLE noonmark.reason (
    code     smallint PRIMARY KEY,
    name     text NOT NULL UNIQUE,
    sentence text NOT NULL
);

CREATE TABLE noonmark.task (
    name          text PRIMARY KEY,
    first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Interned: ten million jobs share few of these.
CREATE TABLE noonmark.schedule (
    schedule_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    text        text NOT NULL UNIQUE
);

CREATE TABLE noonmark.policy (
    policy_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    spec      text NOT NULL UNIQUE
);

-- A node row is one life of one process. Its key is locked by every transaction that the node commits; whoever declares
-- it dead locks it against that.
CREATE TABLE noonmark.node (
    node_id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    address     text NOT NULL,
    version     text NOT NULL,
    alive       boolean NOT NULL DEFAULT true,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL,
    ended_at    timestamptz
) WITH (fillfactor = 50);
CREATE INDEX node_alive ON noonmark.node (node_id) WHERE alive;

CREATE TABLE noonmark.shard (
    shard     smallint PRIMARY KEY,
    owner     bigint REFERENCES noonmark.node,
    term      bigint NOT NULL DEFAULT 0,
    watermark timestamptz NOT NULL
) WITH (fillfactor = 20);

-- When a shard had nobody to fire for it: this explains an occurrence that was skipped or ran late.
CREATE TABLE noonmark.gap (
    shard   smallint NOT NULL,
    from_at timestamptz NOT NULL,
    to_at   timestamptz NOT NULL,
    PRIMARY KEY (shard, from_at)
);

CREATE TABLE noonmark.worker (
    worker_id   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    name        text NOT NULL,
    queues      text[] NOT NULL,
    tasks       text[] NOT NULL,
    concurrency integer NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE SEQUENCE noonmark.job_sequence CACHE 100;

CREATE TABLE noonmark.job (
    shard       smallint NOT NULL,
    job_id      bigint NOT NULL,
    tenant_id   integer NOT NULL,
    version     integer NOT NULL,
    policy_id   integer NOT NULL,
    schedule_id integer,
    jitter_ms   integer NOT NULL DEFAULT 0,
    priority    smallint NOT NULL,
    catch_up    smallint NOT NULL,
    active      boolean NOT NULL DEFAULT true,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    planned_from timestamptz NOT NULL, -- occurrences after this count: created, changed or resumed then
    name        text COLLATE "C" NOT NULL,
    input       json,
    PRIMARY KEY (shard, job_id),
    UNIQUE (shard, tenant_id, name)
) WITH (fillfactor = 90);
CREATE INDEX job_tick ON noonmark.job (shard, schedule_id, jitter_ms) WHERE active AND schedule_id IS NOT NULL;

CREATE TABLE noonmark.job_version (
    shard      smallint NOT NULL,
    job_id     bigint NOT NULL,
    version    integer NOT NULL,
    created_at timestamptz NOT NULL,
    spec       json NOT NULL,
    PRIMARY KEY (shard, job_id, version)
);

-- What was done to a job and when, so that an absent run can be explained.
CREATE TABLE noonmark.job_event (
    shard   smallint NOT NULL,
    job_id  bigint NOT NULL,
    at      timestamptz NOT NULL,
    event   text NOT NULL CHECK (event IN ('created', 'changed', 'paused', 'resumed', 'deleted')),
    version integer NOT NULL,
    PRIMARY KEY (shard, job_id, at, event)
);

-- A live run: waiting or granted. Its key orders a shard's runs by time, so that the key alone serves uniqueness and
-- paging through a backlog. `attempt` is the number of the last ended attempt. A run that was beyond the watermark when it
-- began to wait `sleeps`: it is not in its owner's memory until a tick passes its due time. A paused job's are `parked`.
CREATE TABLE noonmark.run (
    shard      smallint NOT NULL,
    nominal_at timestamptz NOT NULL,
    job_id     bigint NOT NULL,
    due_at     timestamptz NOT NULL,
    tenant_id  integer NOT NULL,
    version    integer NOT NULL,
    policy_id  integer NOT NULL,
    priority   smallint NOT NULL,
    attempt    integer NOT NULL DEFAULT 0,
    failures   integer NOT NULL DEFAULT 0,
    reason     smallint NOT NULL,
    sleeps     boolean NOT NULL DEFAULT false,
    parked     boolean NOT NULL DEFAULT false,
    input      json,
    error      text,
    PRIMARY KEY (shard, nominal_at, job_id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_scale_factor = 0.2
);
CREATE INDEX run_sleeps ON noonmark.run (shard, due_at) WHERE sleeps;

CREATE TABLE noonmark.grant (
    shard       smallint NOT NULL,
    grant_id    bigint NOT NULL,
    worker_id   bigint NOT NULL,
    granted_at  timestamptz NOT NULL,
    job_ids     bigint[] NOT NULL,
    nominals_at timestamptz[] NOT NULL,
    attempts    integer[] NOT NULL,
    PRIMARY KEY (shard, grant_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE noonmark.attempt (
    shard       smallint NOT NULL,
    job_id      bigint NOT NULL,
    nominal_at  timestamptz NOT NULL,
    attempt     integer NOT NULL,
    finished_at timestamptz NOT NULL,
    tenant_id   integer NOT NULL,
    version     integer NOT NULL,
    worker_id   bigint,
    due_at      timestamptz NOT NULL,
    granted_at  timestamptz,
    started_at  timestamptz,
    outcome     smallint NOT NULL,
    reason      smallint NOT NULL,
    final       boolean NOT NULL,
    error       text,
    result      json,
    PRIMARY KEY (shard, job_id, nominal_at, attempt, finished_at)
) PARTITION BY RANGE (finished_at);

CREATE TABLE noonmark.dead (
    shard      smallint NOT NULL,
    job_id     bigint NOT NULL,
    nominal_at timestamptz NOT NULL,
    died_at    timestamptz NOT NULL,
    tenant_id  integer NOT NULL,
    version    integer NOT NULL,
    policy_id  integer NOT NULL,
    priority   smallint NOT NULL,
    attempt    integer NOT NULL,
    failures   integer NOT NULL,
    reason     smallint NOT NULL,
    input      json,
    error      text,
    PRIMARY KEY (shard, job_id, nominal_at)
);

-- Work from outside the owner: rows written in a user's own transaction, drained by the shard's owner.
CREATE TABLE noonmark.inbox (
    shard      smallint NOT NULL,
    inbox_id   bigint GENERATED ALWAYS AS IDENTITY,
    job_id     bigint NOT NULL,
    due_at     timestamptz,
    priority   smallint,
    has_input  boolean NOT NULL,
    input      json,
    PRIMARY KEY (shard, inbox_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE FUNCTION noonmark.shard_for(tenant_id integer, name text) RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ((('x' || substr(md5(tenant_id::text || '/' || name), 1, 8))::bit(32)::bigint)
        % (SELECT s.value::bigint FROM noonmark.setting s WHERE s.name = 'shard_count'))::smallint;

-- Every transaction of a node begins with this. The key-share lock makes whoever declares the node dead wait for the
-- transaction, and makes the transaction of a dead node fail.
CREATE FUNCTION noonmark.fence(node bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM noonmark.node n WHERE n.node_id = node AND n.alive FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'node % was declared dead', node USING ERRCODE = 'NM001';
    END IF;
END $$;

-- Submits a run of a job inside the caller's transaction: commit makes it happen, rollback leaves nothing.
CREATE FUNCTION noonmark.submit(
    job text,
    input json DEFAULT NULL,
    at timestamptz DEFAULT NULL,
    tenant text DEFAULT 'default',
    priority integer DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    found_job noonmark.job;
BEGIN
    SELECT j.* INTO found_job
    FROM noonmark.tenant t
    JOIN noonmark.job j ON j.shard = noonmark.shard_for(t.tenant_id, submit.job)
        AND j.tenant_id = t.tenant_id AND j.name = submit.job
    WHERE t.name = submit.tenant;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'job: tenant "%" has no job named "%"', tenant, job
            USING ERRCODE = 'NM002', HINT = 'create the job before submitting runs of it';
    END IF;
    IF NOT found_job.active THEN
        RAISE EXCEPTION 'job: "%" is paused', job USING ERRCODE = 'NM003', HINT = 'resume the job first';
    END IF;
    IF at <= clock_timestamp() - interval '1 second' THEN
        RAISE EXCEPTION 'at: % is in the past', at USING ERRCODE = 'NM004', HINT = 'leave it out to run now';
    END IF;
    IF priority NOT BETWEEN 0 AND 9 THEN
        RAISE EXCEPTION 'priority: % is out of bounds', priority USING ERRCODE = 'NM004', HINT = 'use 0 to 9';
    END IF;
    IF octet_length(input::text) > 65536 THEN
        RAISE EXCEPTION 'input: % bytes is above the bound of 65536', octet_length(input::text)
            USING ERRCODE = 'NM004', HINT = 'store it elsewhere and pass a reference';
    END IF;
    INSERT INTO noonmark.inbox (shard, job_id, due_at, priority, has_input, input)
    VALUES (found_job.shard, found_job.job_id, at, priority, input IS NOT NULL, input);
END $$;
