-- Where the runs of a delivery job go. The secret before the last rotation signs until its time is up.
SELECT s.name, s.kind, s.url, s.secret, CASE WHEN s.old_until > clock_timestamp() THEN s.old_secret END AS old_secret
FROM noonmark.subscription s
WHERE s.delivery_job = $1
