-- Tells all nodes, in the transaction of the change, that subscriptions have changed.
UPDATE noonmark.setting SET value = (value::bigint + 1)::text WHERE name = 'subscriptions'
