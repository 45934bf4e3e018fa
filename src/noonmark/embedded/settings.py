"""Server settings for a laptop or a small server. Durability stays as PostgreSQL ships it: on."""

import os
from pathlib import Path

import psutil

MB = 1024 * 1024


def default_settings(memory_mb: int | None = None) -> dict[str, str]:
    memory_mb = memory_mb or _memory_mb()
    return {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        # A node takes up to four for each core.
        "max_connections": str(max(100, 50 + 6 * (os.cpu_count() or 1))),
        "shared_buffers": f"{min(max(memory_mb // 4, 64), 1024)}MB",
        "effective_cache_size": f"{max(memory_mb // 2, 128)}MB",
        "maintenance_work_mem": f"{min(max(memory_mb // 32, 64), 256)}MB",
        # Few checkpoints: each one makes every page's next change carry the whole page into the log.
        "max_wal_size": "4GB",
        "min_wal_size": "512MB",
        "checkpoint_timeout": "15min",
        # wal_compression stays off: the wheel is built without lz4, and pglz has not been measured to be worth its CPU.
        "random_page_cost": "1.1",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] ",
        "log_checkpoints": "off",
        "logging_collector": "off",
    }


def _memory_mb() -> int:
    total = psutil.virtual_memory().total
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no control group, or "max"
        limit = total
    return min(total, limit) // MB
