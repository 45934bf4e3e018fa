"""How many others fire in the same second."""

from noonmark.schedule.preview.model import Notice

CROWD = 1000
"""Jobs in one second from which a newcomer is told."""


def crowded(jobs: int, *, at: str, estimated: bool = False) -> Notice | None:
    """`at` names the second; an estimate is rounded to two digits."""
    if jobs < CROWD:
        return None
    if estimated:
        unit = 10 ** (len(str(jobs)) - 2)
        jobs = round(jobs / unit) * unit
    about = "about " if estimated else ""
    return Notice("crowd", f"{about}{jobs:,} other jobs fire in this second, {at}: consider H or jitter")
