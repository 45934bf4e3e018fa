"""The counters of a worker, as plain numbers."""


class Counters:
    def __init__(self) -> None:
        self.claims = 0
        self.claimed = 0
        self.started = 0
        self.succeeded = 0
        self.failed = 0
        self.timed_out = 0
        self.cancelled = 0
        self.released = 0
        self.lost = 0
        self.abandoned = 0
        self.heartbeats = 0
        self.registrations = 0
        self.reports = 0
        self.reported = 0
        self.refused = 0
        self.rerouted = 0
        self.dropped = 0
        """Reports that no node took for ten minutes."""

    def __repr__(self) -> str:
        return f"<Counters {vars(self)}>"
