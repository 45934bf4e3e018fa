-- Runs that ended, of jobs with a fixed delay. Where one is the current run of its active job (link_at is its nominal
-- time), the next run takes its place and is made, for the reason $5. Any other run, such as one that was taken back from
-- the dead letters, is followed by nothing. A run that ended before its time counts as ended at its time. Nominal times
-- are whole milliseconds.
-- Jobs are found key by key, then changed at their places: a join of keys and jobs could turn round.
WITH moved AS (
    UPDATE noonmark.job j
    SET (link_at, runs_left) = (
        SELECT CASE WHEN j.runs_left = 0 OR n.next_at > j.ends_at THEN NULL ELSE n.next_at END,
               CASE WHEN j.runs_left = 0 OR n.next_at > j.ends_at THEN j.runs_left ELSE j.runs_left - 1 END
        FROM (SELECT date_trunc('milliseconds', interval '999 microseconds' + GREATEST(
            GREATEST(k.ended_at, k.link_at) + j.delay_ms * interval '1 millisecond',
            j.planned_from + interval '1 microsecond'
        )) AS next_at) AS n
    )
    FROM unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[])
        AS k (shard, job_id, link_at, ended_at)
    CROSS JOIN LATERAL (
        SELECT x.ctid FROM noonmark.job x WHERE x.shard = k.shard AND x.job_id = k.job_id OFFSET 0
    ) AS found
    WHERE j.ctid = found.ctid AND j.link_at = k.link_at AND j.active
    RETURNING j.shard, j.job_id, j.link_at, j.jitter_ms, j.tenant_id, j.version, j.policy_id, j.priority, j.input
)
INSERT INTO noonmark.run (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, reason, input, sleeps)
SELECT m.shard, m.link_at, m.job_id, d.due_at, m.tenant_id, m.version, m.policy_id, m.priority, $5, m.input,
       d.due_at > t.until
FROM moved m
CROSS JOIN LATERAL (SELECT m.link_at + m.jitter_ms * interval '1 millisecond' AS due_at) AS d
CROSS JOIN LATERAL ( -- as noonmark.ticked_until, without a call for each row
    SELECT coalesce(
        (SELECT w.at FROM noonmark.watermark w WHERE w.shard = s.shard AND w.term = s.term ORDER BY w.at DESC LIMIT 1),
        s.watermark
    ) AS until
    FROM noonmark.shard s
    WHERE s.shard = m.shard
    OFFSET 0
) AS t
WHERE m.link_at IS NOT NULL
ON CONFLICT DO NOTHING
RETURNING job_id, nominal_at, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason,
    noonmark.input_in_memory(input) AS input, sleeps
