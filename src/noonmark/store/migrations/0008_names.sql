-- Numbers that several statements share, each under one name. Both functions are plain expressions that the planner puts
-- in the place of the call, so they cost nothing.

-- An input as an owner keeps it in memory: '' stands for one above the bound, which is read again when the run is granted.
-- The bound is that of Limits.input_bytes_in_memory.
CREATE FUNCTION noonmark.input_in_memory(input json) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(input::text) > 1024 THEN '' ELSE input::text END;

-- A job's id ends with its shard, as model/ids.py makes it.
CREATE FUNCTION noonmark.shard_of(job_id bigint) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (job_id & 4095)::smallint;
