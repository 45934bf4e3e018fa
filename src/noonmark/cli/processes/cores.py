"""How many cores this process may use: those it may run on, and no more than its control group pays for."""

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")


def usable_cores(quota: Path = QUOTA) -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _paid_for(quota) or allowed))


def _paid_for(quota: Path) -> int | None:
    try:
        most, period = quota.read_text().split()
        return None if most == "max" else math.ceil(int(most) / int(period))
    except (OSError, ValueError):
        return None
