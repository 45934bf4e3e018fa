-- Whether there is anything to drain; costs an index probe a shard.
SELECT EXISTS (SELECT FROM noonmark.inbox i WHERE i.shard = ANY ($1::smallint[]))
