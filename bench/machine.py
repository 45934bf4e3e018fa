"""The machine that figures belong to, and what its processes have used of it."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil


def describe() -> dict[str, Any]:
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1024**3, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_1m": round(os.getloadavg()[0], 2),
    }


def _cpu_name() -> str:
    try:
        for text in Path("/proc/cpuinfo").read_text().splitlines():
            if text.startswith("model name"):
                return text.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cpu_s(pids: Iterable[int]) -> float:
    """User and system time of these processes, with the children that they have waited for."""
    total = 0.0
    for pid in pids:
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def family_cpu_s(parent: int) -> float:
    """Of a process and all below it. One that ends in between moves into its parent's sum and stays counted."""
    children = [child.pid for child in psutil.Process(parent).children(recursive=True)]
    return cpu_s([parent, *children])


def family_peak_rss_mb(parent: int) -> float:
    """Of a process and all below it, each at its own peak."""
    return sum(peak_rss_mb(one.pid) for one in (psutil.Process(parent), *psutil.Process(parent).children(True)))


def peak_rss_mb(pid: int) -> float:
    """The most memory that the process ever had; where the kernel does not say, what it has now."""
    try:
        for text in Path(f"/proc/{pid}/status").read_text().splitlines():
            if text.startswith("VmHWM:"):
                return int(text.split()[1]) / 1024
    except OSError:
        pass
    return float(psutil.Process(pid).memory_info().rss) / 1024**2
