"""Reads of the API: a tenant's jobs, runs and dead letters, and the fleet; no statement here changes anything."""
