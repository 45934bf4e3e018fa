-- By the digest, which the index holds.
SELECT p.policy_id, p.spec
FROM unnest($1::text[]) AS k (spec)
JOIN noonmark.policy p ON md5(p.spec) = md5(k.spec) AND p.spec = k.spec
