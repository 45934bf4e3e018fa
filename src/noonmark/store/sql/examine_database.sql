-- The server, its settings and how full it is. The data directory is NULL for a user that may not read the setting.
SELECT clock_timestamp() AS now,
    current_setting('server_version') AS version,
    current_setting('server_version_num')::integer AS version_number,
    (SELECT s.value::integer FROM noonmark.setting s WHERE s.name = 'migration') AS migration,
    (SELECT json_object_agg(p.name, current_setting(p.name))::text
     FROM pg_settings p
     WHERE p.name = ANY (ARRAY['autovacuum', 'fsync', 'full_page_writes', 'max_connections', 'shared_buffers',
                               'synchronous_commit', 'max_wal_size', 'TimeZone'])) AS settings,
    (SELECT count(*) FROM pg_stat_activity a WHERE a.backend_type = 'client backend') AS connections,
    current_setting('max_connections')::integer AS max_connections,
    pg_database_size(current_database()) AS size_bytes,
    coalesce((SELECT extract(epoch FROM max(clock_timestamp() - a.xact_start))::float8
              FROM pg_stat_activity a
              WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()), 0) AS oldest_transaction_s,
    CASE
        WHEN pg_has_role('pg_read_all_settings', 'USAGE') AND coalesce(inet_server_addr() << '127.0.0.0/8', true)
        THEN current_setting('data_directory')
    END AS data_directory
