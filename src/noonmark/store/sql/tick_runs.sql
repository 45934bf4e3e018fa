-- The runs of all active jobs on the schedules that are due, read from the jobs themselves. One that exists already is
-- left alone. The rule of planning/misfire.py, for all jobs at once, says which occurrences fire and which of the missed
-- are caught up: $9 is now, $10 the reason of a run on time, $11 of one that is caught up. Where jobs have ended meanwhile,
-- their missed occurrences come once more, ranked from that end. OFFSET 0 keeps what is due outside of the join.
INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason, input)
SELECT j.shard, f.nominal_at, j.job_id, f.nominal_at + j.jitter_ms * interval '1 millisecond',
       j.tenant_id, j.version, j.policy_id, j.priority,
       CASE WHEN f.missed THEN $11::smallint ELSE $10::smallint END, j.input
FROM unnest($1::smallint[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::boolean[], $7::integer[],
            $8::timestamptz[])
    AS f (shard, schedule_id, nominal_at, offset_from_ms, offset_to_ms, missed, rank, ends_at)
CROSS JOIN LATERAL (
    SELECT x.* FROM noonmark.job x
    WHERE x.shard = f.shard AND x.schedule_id = f.schedule_id AND x.active
        AND x.jitter_ms > f.offset_from_ms AND x.jitter_ms <= f.offset_to_ms
    OFFSET 0
) AS j
WHERE f.nominal_at > j.planned_from
    AND (j.ends_at IS NULL OR f.nominal_at <= j.ends_at)
    AND (NOT j.skips OR NOT EXISTS (
        SELECT FROM noonmark.job_skip s
        WHERE s.shard = j.shard AND s.job_id = j.job_id AND s.nominal_at = f.nominal_at
    ))
    AND (NOT f.missed OR (
        f.rank < j.catch_up
        AND (j.catch_up_s IS NULL
             OR f.nominal_at + j.jitter_ms * interval '1 millisecond' >= $9::timestamptz - j.catch_up_s * interval '1 second')
        AND (f.ends_at IS NULL OR f.ends_at = j.ends_at)
    ))
ON CONFLICT DO NOTHING
RETURNING job_id, nominal_at, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason,
    noonmark.input_in_memory(input) AS input, sleeps
