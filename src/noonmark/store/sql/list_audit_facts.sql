-- What was done, and by whom, to any of the subjects $2 of the tenant $1 from $3 until $4, first to last; submissions only
-- until $5, for a job may have any number of them. At most $6 entries are read.
SELECT d.at, d.actor, d.door, d.action, d.subject, d.details
FROM (
    SELECT a.at, a.audit_id, a.actor, a.door, a.action, a.subject, coalesce(a.after, a.before)::text AS details
    FROM noonmark.audit a
    WHERE a.tenant_id = $1 AND a.subject = ANY ($2::text[]) AND a.at >= $3 AND a.at <= $4
    ORDER BY a.at, a.audit_id
    LIMIT $6
) AS d
WHERE d.action <> 'run.submit' OR d.at <= $5
ORDER BY d.at, d.audit_id
