-- Ends the sessions of nodes whose lease has passed: one that froze inside a COPY would hold its lock for ever, as
-- no timeout of PostgreSQL reaches it there.
SELECT pg_terminate_backend(a.pid)
FROM noonmark.node n
JOIN pg_stat_activity a ON a.application_name = 'noonmark node ' || n.node_id AND a.datname = current_database()
WHERE n.alive AND noonmark.leased_until(n) < clock_timestamp() AND a.state <> 'idle'
