"""A scheduler for unit tests: in the test's own process, without a database, on a clock that the test moves.

The code that nodes run makes all decisions (when a job fires, whether a failure is tried again, and when); only the
rows are kept in memory. Tasks run inline, and days pass in milliseconds.
"""

from noonmark.testing.scheduler import Scheduler

__all__ = ["Scheduler"]
