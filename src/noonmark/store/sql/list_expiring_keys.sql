-- Keys that expired lately after they had been used, or will within two weeks.
SELECT k.prefix, k.expires_at <= clock_timestamp() AS expired
FROM noonmark.api_key k
WHERE k.revoked_at IS NULL AND k.last_used_at IS NOT NULL
    AND k.expires_at BETWEEN clock_timestamp() - interval '30 days' AND clock_timestamp() + interval '14 days'
ORDER BY k.expires_at
LIMIT 100
