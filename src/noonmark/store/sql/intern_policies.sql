-- Adds the policies that are new; `load_policy_ids` then finds them all.
INSERT INTO noonmark.policy (spec) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING
