"""The one error of this package."""


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL could not be started or stopped."""

    def __init__(self, message: str, *, log_tail: str = "") -> None:
        super().__init__(f"{message}\n\nThe end of its log:\n{log_tail}" if log_tail else message)
        self.message = message
        self.log_tail = log_tail
