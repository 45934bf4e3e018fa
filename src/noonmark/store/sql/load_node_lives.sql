-- The lives of nodes of the last minutes, each from its beginning to the last renewal of its lease of $1 seconds.
SELECT n.started_at, n.lease_until - $1 * interval '1 second' AS lived_at
FROM noonmark.node n
WHERE n.lease_until > clock_timestamp() - interval '10 minutes'
