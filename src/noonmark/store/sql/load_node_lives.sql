-- The lives of nodes of the last minutes, each from its beginning to the last renewal of its lease of $1 seconds.
SELECT n.started_at, noonmark.leased_until(n) - $1 * interval '1 second' AS lived_at
FROM noonmark.node n
WHERE n.alive OR n.ended_at > clock_timestamp() - interval '10 minutes'
