"""A list of times."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.times import TimesRecurrence, times_body

SECOND_US = 1_000_000


def test_steps_and_windows() -> None:
    listed = TimesRecurrence((10, 20, 30))
    assert [listed.next_after(at) for at in (0, 10 * SECOND_US - 1, 10 * SECOND_US)] == [
        10_000_000,
        10_000_000,
        20_000_000,
    ]
    assert listed.next_after(30 * SECOND_US) is None
    assert [listed.previous_before(at) for at in (30_000_001, 30_000_000, 10_000_001)] == [
        30_000_000,
        20_000_000,
        10_000_000,
    ]
    assert listed.previous_before(10_000_000) is None
    assert listed.between(10_000_000, 30_000_000, 9) == [20_000_000, 30_000_000]
    assert listed.between(9_999_999, 29_999_999, 9) == [10_000_000, 20_000_000]
    assert listed.between(0, 10**9, 1) == [10_000_000]
    assert listed.last_between(0, 10**9, 2) == [20_000_000, 30_000_000]
    assert listed.last_between(10_000_000, 20_000_000, 2) == [20_000_000]
    assert listed.between(0, 10**9, 0) == listed.last_between(0, 10**9, 0) == listed.between(9, 0, 5) == []


def test_body() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    same = noon.astimezone(timezone(timedelta(hours=2)))
    assert times_body((noon + timedelta(hours=1), noon, same)) == "1767268800,1767272400"


@pytest.mark.parametrize(
    ("times", "field", "message"),
    [
        ((), "schedule.times", "empty"),
        ((datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)), "schedule.times[1]", "no zone"),  # noqa: DTZ001
        ((datetime(2026, 1, 1, microsecond=1, tzinfo=UTC),), "schedule.times[0]", "not a whole second"),
        ((datetime(2026, 1, 1, tzinfo=UTC),) * 1_001, "schedule.times", "above the bound"),
    ],
)
def test_refused(times: tuple[datetime, ...], field: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        times_body(times)
    assert caught.value.field == field
    assert message in caught.value.message
    assert caught.value.fix
