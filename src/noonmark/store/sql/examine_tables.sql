-- Rows, dead rows and sizes of our tables, partitions under the name of their parent.
SELECT coalesce(parent.relname, s.relname)::text AS name,
    sum(s.n_live_tup)::bigint AS live_rows,
    sum(s.n_dead_tup)::bigint AS dead_rows,
    sum(pg_total_relation_size(s.relid))::bigint AS size_bytes,
    max(greatest(s.last_vacuum, s.last_autovacuum)) AS vacuumed_at
FROM pg_stat_user_tables s
LEFT JOIN pg_inherits i ON i.inhrelid = s.relid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
WHERE s.schemaname = 'noonmark'
GROUP BY 1
ORDER BY 4 DESC
