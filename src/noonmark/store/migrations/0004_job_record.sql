-- What is read of a job to show it, wherever it was found.
CREATE VIEW noonmark.job_record AS
SELECT j.shard, j.tenant_id, j.name, j.job_id, j.version, j.active, j.created_at, j.updated_at, v.spec, s.text AS schedule,
    j.planned_from, j.ends_at, j.link_at, CASE WHEN j.skips THEN ARRAY(
        SELECT o.nominal_at FROM noonmark.job_skip o WHERE o.shard = j.shard AND o.job_id = j.job_id ORDER BY o.nominal_at
    ) END AS skips, j.jitter_ms
FROM noonmark.job j
JOIN noonmark.job_version v ON v.shard = j.shard AND v.job_id = j.job_id AND v.version = j.version
LEFT JOIN noonmark.schedule s ON s.schedule_id = j.schedule_id;
