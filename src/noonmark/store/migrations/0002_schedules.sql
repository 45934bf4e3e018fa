-- Schedules with bounds, a window for catching up, and fixed delays; texts of any length.

ALTER TABLE noonmark.job
    -- Occurrences after this do not count: the schedule's end, or the last of its allowed number.
    ADD COLUMN ends_at timestamptz,
    -- How many occurrences were left when `planned_from` was set; of a fixed delay, how many links may still be made.
    ADD COLUMN runs_left integer,
    -- An occurrence that was missed by longer is not caught up.
    ADD COLUMN catch_up_s double precision,
    -- Each run comes so long after the one before it ended: a chain.
    ADD COLUMN delay_ms bigint,
    -- The nominal time of the chain's current link.
    ADD COLUMN link_at timestamptz;

-- Which schedules came to an end while nobody fired: asked only for shards that lag.
CREATE INDEX job_ends ON noonmark.job (shard, ends_at) WHERE active AND ends_at IS NOT NULL;

-- A text may be longer than an index takes, so it is unique by its digest. Older nodes find theirs by a scan.
CREATE UNIQUE INDEX schedule_digest ON noonmark.schedule (md5(text));
ALTER TABLE noonmark.schedule DROP CONSTRAINT schedule_text_key;
CREATE UNIQUE INDEX policy_digest ON noonmark.policy (md5(spec));
ALTER TABLE noonmark.policy DROP CONSTRAINT policy_spec_key;
