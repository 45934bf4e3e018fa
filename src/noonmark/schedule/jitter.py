"""Spreads the jobs of one schedule over its jitter window: a hash of the job, so every owner agrees."""

_MASK = (1 << 64) - 1


def jitter_offset_us(job_id: int, jitter_us: int) -> int:
    """The job's own delay in [0, jitter_us), in whole milliseconds, uniform over jobs. Stored with the job."""
    return (_splitmix64(job_id) * max(jitter_us // 1_000, 0) >> 64) * 1_000


def _splitmix64(number: int) -> int:
    """Steele, Lea and Flood's finaliser: each bit of the input turns about half of the output."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MASK
    return number ^ number >> 31
