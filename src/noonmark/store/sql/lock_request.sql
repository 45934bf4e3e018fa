-- Two requests with one key go one after the other, until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended($2, $1))
