"""Follows the time zone database: a newer one on this machine is in use within a minute, without a restart.

Every schedule is read anew. Runs that were made ahead, within the lookahead of a few seconds, stay as they are, and so
does the last occurrence of a job with `max_runs`, until the job is changed or resumed.
"""

import asyncio

import structlog

from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.schedule import zones

_EVERY_S = 60.0
_AT_ONCE = 100

log = structlog.get_logger("noonmark.node")


class ZonesLoop(Loop):
    name = "zones"

    def __init__(self, life: Life) -> None:
        super().__init__(_EVERY_S)
        self._life = life

    async def tick(self) -> None:
        """Looks once; the disk is read on another thread."""
        before = zones.tz_version()
        if await asyncio.to_thread(zones.refresh):
            for step, _ in enumerate(self._life.timetable.reload()):
                if step % _AT_ONCE == 0:
                    await asyncio.sleep(0)
            log.info("time zones changed", before=before, now=zones.tz_version(), folder=zones.tz_source())
