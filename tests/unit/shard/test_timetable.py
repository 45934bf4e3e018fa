"""The timetable: what is due in a window, when a zone changes its rules, and when jobs end before they are fired."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from noonmark.schedule import zones
from noonmark.shard.timetable import MissedEnd, Timetable

SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
MIDNIGHT_US = round(datetime(2026, 1, 15, tzinfo=UTC).timestamp()) * SECOND_US
BERLIN = "cron:0 9 * * *|Europe/Berlin|j0"
HOURLY = "every:3600|phase 0|j0"


def fired(table: Timetable, after_us: int, until_us: int) -> list[tuple[int, float]]:
    """(schedule, hours after midnight) of what a round makes, as the ticker asks."""
    pieces = table.window(after_us, until_us, after_us)
    due = table.expand(pieces + table.fresh(after_us, until_us, after_us), [0])
    table.stand_at(until_us)
    return [(one.schedule_id, (one.nominal_us - MIDNIGHT_US) / HOUR_US) for one in due]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the time zones that is in use."""
    copy = tmp_path / "zoneinfo"
    shutil.copytree(str(files("tzdata") / "zoneinfo"), copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setenv("NOONMARK_TZDIR", str(copy))
    zones.refresh()
    yield copy
    monkeypatch.undo()
    zones.refresh()


def test_a_change_of_the_zones_holds_from_the_watermark_on(folder: Path) -> None:
    table = Timetable(grace_us=0)
    table.add(0, 1, BERLIN)
    table.add(0, 2, HOURLY)
    assert fired(table, MIDNIGHT_US - HOUR_US, MIDNIGHT_US) == [(2, 0.0)]
    assert fired(table, MIDNIGHT_US, MIDNIGHT_US + HOUR_US) == [(2, 1.0)]
    # Berlin moves to Burma: its 9 o'clock is at 2:30 instead of 8:00.
    shutil.copy(folder / "Asia/Yangon", folder / "Europe/Berlin")
    assert zones.refresh()
    for _ in table.reload():
        pass
    found = []
    for hour in range(1, 24):
        found += fired(table, MIDNIGHT_US + hour * HOUR_US, MIDNIGHT_US + (hour + 1) * HOUR_US)
    assert [at for schedule, at in found if schedule == 1] == [2.5]
    assert [at for schedule, at in found if schedule == 2] == [float(hour) for hour in range(2, 25)]


def test_rounds_between_the_steps_of_a_reload_miss_nothing() -> None:
    table = Timetable(grace_us=0)
    for schedule_id in range(1, 6):
        table.add(0, schedule_id, HOURLY)
    steps = table.reload()
    found = fired(table, MIDNIGHT_US, MIDNIGHT_US + HOUR_US)
    for hour in range(1, 10):
        next(steps, None)
        found += fired(table, MIDNIGHT_US + hour * HOUR_US, MIDNIGHT_US + (hour + 1) * HOUR_US)
    assert sorted(found) == [(schedule_id, float(hour)) for schedule_id in range(1, 6) for hour in range(1, 11)]


def test_what_jobs_missed_before_their_end_is_ranked_from_there() -> None:
    table = Timetable(grace_us=0)
    table.add(0, 1, HOURLY)
    now_us = MIDNIGHT_US + 10 * HOUR_US
    ends = [MissedEnd(0, 1, MIDNIGHT_US + 4 * HOUR_US + 1, 2), MissedEnd(7, 1, now_us, 2), MissedEnd(0, 9, now_us, 2)]
    due = table.ended(ends, MIDNIGHT_US, now_us + SECOND_US, now_us)
    assert [((one.nominal_us - MIDNIGHT_US) / HOUR_US, one.rank, one.ends_us) for one in due] == [
        (3.0, 1, ends[0].ends_us), (4.0, 0, ends[0].ends_us),
    ]  # fmt: skip
