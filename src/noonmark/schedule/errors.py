"""What is wrong with a schedule: which field, why, and what to write instead."""

from noonmark.errors import InvalidInput


class ScheduleError(InvalidInput, ValueError):
    """A ValueError too, as decoders add the place in the document to those."""

    code = "invalid_schedule"
