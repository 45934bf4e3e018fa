-- By the digest, which the index holds.
SELECT s.schedule_id, s.text
FROM unnest($1::text[]) AS k (text)
JOIN noonmark.schedule s ON md5(s.text) = md5(k.text) AND s.text = k.text
