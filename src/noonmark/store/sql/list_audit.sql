-- The latest first: of tenant $1, before ($2, $3), from $4 on; an actor $5 and the beginning of an action $6, if given.
SELECT a.at, a.audit_id, a.actor, a.key_id, a.door, a.address, a.agent, a.action, a.subject, a.before::text,
       a.after::text
FROM noonmark.audit a
WHERE a.tenant_id = $1 AND (a.at, a.audit_id) < ($2, $3) AND a.at <= $2 AND a.at >= $4
    AND ($5::text IS NULL OR a.actor = $5) AND ($6::text IS NULL OR starts_with(a.action, $6))
ORDER BY a.at DESC, a.audit_id DESC
LIMIT $7
