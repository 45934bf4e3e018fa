-- Dead letters of all tenants, counted up to $1.
SELECT count(*) FROM (SELECT FROM noonmark.dead LIMIT $1) d
