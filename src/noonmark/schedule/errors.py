"""What is wrong with a schedule: which field, why, and what to write instead."""

from noonmark.errors import InvalidInput


class ScheduleError(InvalidInput):
    code = "invalid_schedule"
