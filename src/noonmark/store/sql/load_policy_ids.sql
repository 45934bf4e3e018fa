SELECT p.policy_id, p.spec FROM noonmark.policy p WHERE p.spec = ANY ($1::text[])
