"""The rulebook: how a job's row changes, and which runs are made, when a job or its schedule moves on.

Nodes carry these decisions out in the database; `noonmark.testing` carries them out in memory. All of it is pure: rows,
recurrences, the shard's watermark and the time go in, rows come out. Where a decision depends on the end of
another run, that is an argument, and the caller looks it up.

| file | decides |
| --- | --- |
| `plan` | the plan of a definition, once its policy and schedule are interned; when two definitions are the same |
| `bounds` | from when on occurrences count, until when, and how many are left |
| `runs` | how a run is made |
| `occurrences` | which occurrences become runs: those that no tick makes, those of a tick, those of the past |
| `misfire` | which missed occurrences are caught up |
| `fixed_delay` | the one run that a fixed delay has at a time |
| `changes` | the job after it is created, changed, paused or resumed |
"""
