-- Waits for the transactions that such a node still has under way; later ones of it fail at the fence.
SELECT n.node_id FROM noonmark.node n
WHERE n.alive AND n.lease_until < clock_timestamp()
FOR UPDATE
