DELETE FROM noonmark.worker WHERE seen_at < clock_timestamp() - interval '1 day'
