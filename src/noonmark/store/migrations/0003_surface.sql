-- The surface: who may ask, and who asked.

-- Keys ------------------------------------------------------------------------------------------------------------

-- The secret of a key is 256 random bits, so one SHA-256 of it is as good as a slow hash: there is nothing to guess.
CREATE TABLE noonmark.api_key (
    key_id         integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    prefix         text NOT NULL UNIQUE,
    digest         bytea NOT NULL,
    -- The secret before the last rotation, which stays good for a while.
    old_digest     bytea,
    old_until      timestamptz,
    name           text NOT NULL,
    role           text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin', 'worker')),
    tenant_id      integer REFERENCES noonmark.tenant, -- NULL reaches every tenant
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by     text NOT NULL,
    expires_at     timestamptz,
    rotated_at     timestamptz,
    revoked_at     timestamptz,
    last_used_at   timestamptz
);
CREATE INDEX api_key_tenant ON noonmark.api_key (tenant_id, key_id);

-- The one tenant whose runs a worker takes; NULL for those of all.
ALTER TABLE noonmark.worker ADD COLUMN tenant_id integer REFERENCES noonmark.tenant;

-- The audit -------------------------------------------------------------------------------------------------------

CREATE SEQUENCE noonmark.audit_sequence;

-- Tenant 0 stands for the installation: tenants themselves, and keys that reach all of them. One partition a month, so
-- that an operator can let go of whole months; a row is never altered.
CREATE TABLE noonmark.audit (
    tenant_id integer NOT NULL,
    at        timestamptz NOT NULL,
    audit_id  bigint NOT NULL DEFAULT nextval('noonmark.audit_sequence'),
    key_id    integer,
    actor     text NOT NULL,
    door      text NOT NULL CHECK (door IN ('api', 'cli', 'sdk', 'sql', 'system')),
    address   text,
    agent     text,
    action    text NOT NULL,
    subject   text NOT NULL,
    before    json,
    after     json,
    PRIMARY KEY (tenant_id, at, audit_id)
) PARTITION BY RANGE (at);
CREATE INDEX audit_subject ON noonmark.audit (tenant_id, subject, at, audit_id);

-- Nodes make the partitions ahead of time; the first two are here for whoever migrates without starting one.
DO $$
DECLARE
    month timestamp;
BEGIN
    FOR month IN
        SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + n * interval '1 month' FROM generate_series(0, 1) n
    LOOP
        EXECUTE format('CREATE TABLE noonmark.audit_%s PARTITION OF noonmark.audit FOR VALUES FROM (%L) TO (%L)',
                       to_char(month, 'YYYY_MM'), month AT TIME ZONE 'UTC',
                       (month + interval '1 month') AT TIME ZONE 'UTC');
    END LOOP;
END $$;

CREATE FUNCTION noonmark.refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'NM005';
END $$;

-- For each row, because only such triggers are passed on to the partitions.
CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON noonmark.audit
    FOR EACH ROW EXECUTE FUNCTION noonmark.refuse_change();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON noonmark.audit
    FOR EACH STATEMENT EXECUTE FUNCTION noonmark.refuse_change();

-- The id of a job as the API writes it.
CREATE FUNCTION noonmark.job_text(job_id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog AS $$
DECLARE
    digits text := '';
    rest bigint := job_id;
BEGIN
    WHILE rest > 0 LOOP
        digits := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest & 31)::integer + 1, 1) || digits;
        rest := rest >> 5;
    END LOOP;
    RETURN 'job_' || coalesce(nullif(digits, ''), '0');
END $$;

-- As before, and the submission stands in the audit by the name of the session's user, in the same transaction.
CREATE OR REPLACE FUNCTION noonmark.submit(
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
    INSERT INTO noonmark.audit (tenant_id, at, actor, door, address, agent, action, subject, after)
    VALUES (found_job.tenant_id, clock_timestamp(), session_user, 'sql', host(inet_client_addr()),
            nullif(current_setting('application_name', true), ''), 'run.submit', noonmark.job_text(found_job.job_id),
            '{"count":1}');
END $$;

-- Jobs ------------------------------------------------------------------------------------------------------------

ALTER TABLE noonmark.job
    -- Each label as `key` and as `key:value`, sorted; NULL for none.
    ADD COLUMN labels text[],
    -- Whether occurrences of it stand in `job_skip`: of others a tick looks no further.
    ADD COLUMN skips boolean NOT NULL DEFAULT false;

-- Occurrences that do not fire.
CREATE TABLE noonmark.job_skip (
    shard      smallint NOT NULL,
    job_id     bigint NOT NULL,
    nominal_at timestamptz NOT NULL,
    PRIMARY KEY (shard, job_id, nominal_at)
);

-- A tenant's jobs of a label by name, so that their pages are read as those of all jobs are.
CREATE TABLE noonmark.job_label (
    shard     smallint NOT NULL,
    tenant_id integer NOT NULL,
    label     text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    PRIMARY KEY (shard, tenant_id, label, name)
);

-- A submission with a key happens once: until it expires, the key leads to the run that was made.
CREATE TABLE noonmark.job_dedup (
    shard      smallint NOT NULL,
    job_id     bigint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    nominal_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (shard, job_id, key)
);
CREATE INDEX job_dedup_expires ON noonmark.job_dedup (shard, expires_at);

-- Requests that may be sent again ---------------------------------------------------------------------------------

-- One row for each Idempotency-Key of the last day. While `status` is NULL the request is being carried out by the node
-- that holds `claim`; after `claimed_until` that node is taken for dead and whoever asks again carries it out.
CREATE TABLE noonmark.idempotency (
    tenant_id     integer NOT NULL,
    key           text COLLATE "C" NOT NULL,
    fingerprint   bytea NOT NULL,
    claim         uuid NOT NULL,
    claimed_until timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    status        smallint,
    headers       json,
    body          bytea, -- compressed; NULL if the answer was too large or too secret to be kept
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_expiry ON noonmark.idempotency (expires_at);

-- Runs and dead letters of a tenant -------------------------------------------------------------------------------

-- By the key of a run, which never changes: a run that ends while its list is being paged keeps its place. Live runs have
-- no such index; they are found by the primary key of each shard.
CREATE INDEX attempt_tenant ON noonmark.attempt (tenant_id, nominal_at, job_id) WHERE final;

CREATE INDEX dead_tenant ON noonmark.dead (tenant_id, died_at, job_id, nominal_at);

-- Notifications ---------------------------------------------------------------------------------------------------

-- Who wants to hear of what. Each has a job of its own (`delivery_job`) whose runs are the deliveries.
CREATE TABLE noonmark.subscription (
    subscription_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    tenant_id       integer NOT NULL REFERENCES noonmark.tenant,
    name            text COLLATE "C" NOT NULL,
    events          text[] NOT NULL,
    job_id          bigint, -- NULL for all jobs of the tenant
    labels          text[], -- only jobs that have all of these
    kind            text NOT NULL CHECK (kind IN ('webhook', 'apprise')),
    url             text NOT NULL,
    secret          text,
    -- The secret before the last rotation: both sign for a while.
    old_secret      text,
    old_until       timestamptz,
    late_after_s    double precision NOT NULL,
    expect_every_s  double precision, -- NULL for when the schedule says
    grace_s         double precision NOT NULL,
    quiet_s         double precision NOT NULL,
    active          boolean NOT NULL,
    delivery_job    bigint NOT NULL UNIQUE,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    UNIQUE (tenant_id, name)
);

-- Goes up with every change of a subscription; nodes look at it every second.
INSERT INTO noonmark.setting (name, value) VALUES ('subscriptions', '0');

-- Watched jobs whose last word was a failure or silence: their next success is a recovery.
CREATE TABLE noonmark.trouble (
    shard      smallint NOT NULL,
    job_id     bigint NOT NULL,
    since      timestamptz NOT NULL,
    silent_for integer[] NOT NULL, -- the subscriptions that were told of its silence
    PRIMARY KEY (shard, job_id)
);

INSERT INTO noonmark.task (name) VALUES ('noonmark.deliver') ON CONFLICT DO NOTHING;
