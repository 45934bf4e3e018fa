"""A scheduler for unit tests: in the test's own process, without a database, on a clock that the test moves.

What is decided (when a job fires, what a failure means, when the next attempt comes) is decided by the code that nodes
run; only the rows are kept in memory. Tasks run inline, and days pass in milliseconds.
"""

from noonmark.testing.scheduler import Scheduler

__all__ = ["Scheduler"]
