"""A node follows the time zone database of its machine."""

import shutil
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from noonmark.node.loops.zones import ZonesLoop
from noonmark.schedule import zones
from noonmark.shard.timetable import Timetable
from tests.node.conftest import Stage


async def test_a_changed_database_reaches_the_schedules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "zoneinfo"
    shutil.copytree(str(files("tzdata") / "zoneinfo"), folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setenv("NOONMARK_TZDIR", str(folder))
    table = Timetable(grace_us=0)
    loop = ZonesLoop(SimpleNamespace(timetable=table))  # type: ignore[arg-type]
    try:
        await loop.tick()
        table.add(0, 1, "cron:0 9 * * *|Europe/Berlin|j0")
        before_us = table.recurrence(1).next_after(1_800_000_000_000_000)
        await loop.tick()
        assert table.recurrence(1).next_after(1_800_000_000_000_000) == before_us
        shutil.copy(folder / "Asia/Tokyo", folder / "Europe/Berlin")
        await loop.tick()
        after_us = table.recurrence(1).next_after(1_800_000_000_000_000)
        assert before_us is not None
        assert after_us is not None
        assert (before_us - after_us) % (24 * 3_600_000_000) == 8 * 3_600_000_000
    finally:
        monkeypatch.undo()
        zones.refresh()


async def test_the_version_in_use_is_told(stage: Stage) -> None:
    text = (await stage.client._http.call("GET", "/metrics")).decode()
    assert f'noonmark_tz_info{{version="{zones.tz_version()}"}} 1.0' in text
