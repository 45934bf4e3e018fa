"""The sun at places and seasons where its times were published, and where it does not rise."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.solar import SolarRecurrence, read_solar, solar_body
from noonmark.schedule.spec import SunEvent

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
YEAR_US = 365 * 86_400_000_000
LONDON, BERLIN, SYDNEY = (51.5074, -0.1278), (52.52, 13.405), (-33.8688, 151.2093)
TROMSO, AUCKLAND, FIJI, SAMOA = (69.6492, 18.9553), (-36.8485, 174.7633), (-17.7134, 178.065), (-13.759, -172.1046)


def us(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("event", "place", "after", "expected"),
    [
        ("sunrise", LONDON, "2026-06-21T00:00", "2026-06-21T03:43"),
        ("sunset", LONDON, "2026-06-21T00:00", "2026-06-21T20:21"),
        ("sunrise", LONDON, "2025-12-21T00:00", "2025-12-21T08:04"),
        ("sunset", LONDON, "2025-12-21T00:00", "2025-12-21T15:53"),
        ("sunrise", BERLIN, "2026-06-21T00:00", "2026-06-21T02:43"),
        ("sunset", BERLIN, "2026-06-21T00:00", "2026-06-21T19:33"),
        ("sunrise", BERLIN, "2025-12-21T00:00", "2025-12-21T07:15"),
        ("sunset", BERLIN, "2025-12-21T00:00", "2025-12-21T14:54"),
        ("sunrise", SYDNEY, "2026-06-20T12:00", "2026-06-20T21:00"),
        ("sunset", SYDNEY, "2026-06-21T00:00", "2026-06-21T06:54"),
        ("sunrise", SYDNEY, "2025-12-21T12:00", "2025-12-21T18:41"),
        ("sunset", SYDNEY, "2025-12-22T00:00", "2025-12-22T09:05"),
        ("noon", BERLIN, "2026-02-11T00:00", "2026-02-11T11:20"),
    ],
)
def test_published_times(event: SunEvent, place: tuple[float, float], after: str, expected: str) -> None:
    found = SolarRecurrence(event, *place).next_after(us(after))
    assert found is not None
    assert abs(found - us(expected)) <= 120_000_000
    assert found % 1_000_000 == 0


@pytest.mark.parametrize("event", ["dawn", "sunrise", "noon", "sunset", "dusk"])
@pytest.mark.parametrize(
    "place",
    [LONDON, SYDNEY, AUCKLAND, FIJI, SAMOA, (0.0, 180.0), (0.0, -180.0), (23.8, 90.4), (45.0, 95.0), (-45.0, -95.0)],
)
def test_once_a_day(event: SunEvent, place: tuple[float, float]) -> None:
    year = SolarRecurrence(event, *place).between(us("2026-01-01"), us("2026-01-01") + YEAR_US, 1_000)
    assert 364 <= len(year) <= 366
    assert all(23.9 < (later - earlier) / 3_600_000_000 < 24.1 for earlier, later in pairwise(year))


def test_in_order_through_the_day() -> None:
    at_us = us("2026-03-01T20:00")
    events: list[SunEvent] = ["dawn", "sunrise", "noon", "sunset", "dusk"]
    found = [SolarRecurrence(event, *BERLIN).next_after(at_us) for event in events]
    assert found == sorted(found, key=lambda at: at or 0)


@pytest.mark.parametrize("event", ["dawn", "sunrise", "sunset", "dusk"])
def test_near_the_pole_the_sun_stays_up_or_down(event: SunEvent) -> None:
    recurrence = SolarRecurrence(event, *TROMSO)
    year = recurrence.between(us("2026-01-01"), us("2026-01-01") + YEAR_US, 1_000)
    assert all(later > earlier for earlier, later in pairwise(year))
    gap = max(later - earlier for earlier, later in pairwise(year)) / 86_400_000_000
    assert gap > 50
    assert recurrence.last_between(us("2026-01-01"), us("2026-01-01") + YEAR_US, 1_000) == year
    for earlier, later in pairwise(year[::7]):
        assert recurrence.previous_before(earlier + 1) == earlier
        assert recurrence.next_after(later - 1) == later


def test_offset_and_jitter() -> None:
    plain, later = SolarRecurrence("sunset", *BERLIN), read_solar("sunset 52.52,13.405 -1800", 5)
    at_us = plain.next_after(us("2026-06-21"))
    assert at_us is not None
    assert later.next_after(us("2026-06-21")) == at_us - 1_800_000_000
    assert later.next_after(at_us - 1_800_000_001) == at_us - 1_800_000_000
    assert later.previous_before(at_us) == at_us - 1_800_000_000
    assert later.jitter_us == 5


def test_out_of_time() -> None:
    sun = SolarRecurrence("sunrise", *BERLIN)
    assert sun.next_after(2**60) is None
    assert sun.previous_before(-(2**60)) is None
    assert sun.previous_before(2**60) is None
    assert sun.next_after(us("2199-12-31T12:00")) is None


def test_body() -> None:
    assert solar_body("sunrise", 52.52, 13.405, "-30m") == "sunrise 52.52,13.405 -1800"
    assert solar_body("noon", -0.0, 180.0, 0) == "noon 0,180 0"
    assert solar_body("dusk", 1.000049, -2, "1h") == "dusk 1,-2 3600"
    with pytest.raises(ValueError, match="no event"):
        read_solar("moonrise 1,2 0")


@pytest.mark.parametrize(
    ("latitude", "longitude", "offset", "field"),
    [
        (90.1, 0, 0, "schedule.latitude"),
        (float("nan"), 0, 0, "schedule.latitude"),
        (0, -180.5, 0, "schedule.longitude"),
        (0, float("inf"), 0, "schedule.longitude"),
        (0, 0, 43_201, "schedule.offset"),
        (0, 0, "-13h", "schedule.offset"),
        (0, 0, "soon", "schedule.offset"),
        (0, 0, "--5m", "schedule.offset"),
        (0, 0, "", "schedule.offset"),
    ],
)
def test_refused(latitude: float, longitude: float, offset: str | int, field: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        solar_body("sunrise", latitude, longitude, offset)
    assert caught.value.field == field
    assert caught.value.fix
