-- Waits for the transactions that such a node still has under way; later ones of it fail at the fence. To be asked twice:
-- it may have waited for a renewal, which only the next statement sees.
SELECT n.node_id FROM noonmark.node n
WHERE n.alive AND noonmark.leased_until(n) < clock_timestamp()
FOR UPDATE
