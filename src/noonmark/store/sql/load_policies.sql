SELECT p.policy_id, p.spec FROM noonmark.policy p WHERE p.policy_id = ANY ($1::integer[])
