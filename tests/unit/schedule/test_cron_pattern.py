"""Times of cron expressions by a wall clock of no zone."""

import time
from datetime import datetime, timedelta

import pytest

from noonmark.schedule.forms.cron import CronPattern, cron_patterns
from noonmark.schedule.forms.cron_text import canonical_cron

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock of no zone
BEGIN_S, END_S = -2_208_988_800, 32_503_680_000  # the years 1900 to 2999


def wall_s(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(seconds=1)


def pattern(expression: str) -> CronPattern:
    return CronPattern(canonical_cron(expression))


def times(expression: str, after: str, count: int) -> list[str]:
    """The next times; the same ones must be found backwards."""
    cron, found = pattern(expression), [wall_s(after)]
    for _ in range(count):
        following = cron.next_wall(found[-1])
        assert following is not None
        found.append(following)
    del found[0]
    back = [found[-1] + 1]
    for _ in range(count):
        before = cron.previous_wall(back[-1])
        assert before is not None
        back.append(before)
    assert back[:0:-1] == found
    return [(EPOCH + timedelta(seconds=at)).isoformat(" ") for at in found]


def dates(expression: str, after: str, count: int) -> list[str]:
    found = times(expression, after, count)
    assert all(text.endswith(" 00:00:00") for text in found)
    return [text[:10] for text in found]


def test_strictly_after_and_strictly_before() -> None:
    cron, noon = pattern("*/5 * * * *"), wall_s("2026-01-01 12:00")
    assert cron.next_wall(noon) == noon + 300
    assert cron.next_wall(noon - 1) == noon
    assert cron.previous_wall(noon) == noon - 300
    assert cron.previous_wall(noon + 1) == noon


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("*/25 * * * *", ["01-31 23:50:00", "02-01 00:00:00", "02-01 00:25:00"]),
        ("50-10/10 22-1 * * *", ["01-31 23:50:00", "02-01 00:00:00", "02-01 00:10:00", "02-01 00:50:00"]),
        ("58-5/3 0 * * *", ["02-01 00:01:00", "02-01 00:04:00", "02-01 00:58:00", "02-02 00:01:00"]),
        ("15,45 20-2/3 * * *", ["01-31 23:45:00", "02-01 02:15:00", "02-01 02:45:00", "02-01 20:15:00"]),
        ("30 59 23 * * *", ["01-31 23:59:30", "02-01 23:59:30"]),
        ("55-5/5 59 23 * * *", ["01-31 23:59:00", "01-31 23:59:05", "01-31 23:59:55", "02-01 23:59:00"]),
        ("0 9 * * 1-5", ["02-02 09:00:00", "02-03 09:00:00", "02-04 09:00:00", "02-05 09:00:00", "02-06 09:00:00"]),
        ("5-5/2 12 * * *", ["02-01 12:05:00", "02-02 12:05:00"]),
    ],
)
def test_times_of_day(expression: str, expected: list[str]) -> None:
    found = times(expression, "2026-01-31 23:44:59", len(expected))
    assert [text.removeprefix("2026-") for text in found] == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 0 31 * *", ["2026-01-31", "2026-03-31", "2026-05-31"]),
        ("0 0 29 2 *", ["2028-02-29", "2032-02-29"]),
        ("0 0 L * *", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        ("0 0 L-3 * *", ["2026-01-28", "2026-02-25", "2026-03-28"]),
        ("0 0 L-30 * *", ["2026-03-01", "2026-05-01"]),  # only months of 31 days have it
        ("0 0 LW * *", ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]),
        ("0 0 L-2W * *", ["2026-01-29", "2026-02-26", "2026-03-30"]),  # the 29th of March is a Sunday
        ("0 0 1W * *", ["2026-02-02", "2026-03-02", "2026-04-01", "2026-05-01", "2026-06-01"]),
        ("0 0 1W 8 *", ["2026-08-03"]),  # the 1st is a Saturday: not the 31st of July
        ("0 0 15W * *", ["2026-01-15", "2026-02-16", "2026-03-16"]),
        ("0 0 14W 2,3 *", ["2026-02-13", "2026-03-13"]),
        ("0 0 31W 1,5 *", ["2026-01-30", "2026-05-29"]),  # the 31st of May is a Sunday: not the 1st of June
        ("0 0 31W * *", ["2026-01-30", "2026-03-31", "2026-05-29", "2026-07-31"]),  # only months that have it
        ("0 0 * * 5L", ["2026-01-30", "2026-02-27", "2026-03-27"]),
        ("0 0 * * FRI#2", ["2026-01-09", "2026-02-13", "2026-03-13"]),
        ("0 0 * * 5#5", ["2026-01-30", "2026-05-29", "2026-07-31"]),
        ("0 0 * * fri-mon", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-05", "2026-01-09"]),
        ("0 0 * * 7", ["2026-01-04", "2026-01-11"]),
        ("0 0 * * 5-7", ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]),
        ("0 0 * * 1/2", ["2026-01-02", "2026-01-05", "2026-01-07", "2026-01-09"]),
        ("0 0 1 nov-feb/2 *", ["2026-11-01", "2027-01-01"]),
        ("0 0 30-2 * *", ["2026-01-02", "2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02", "2026-03-01"]),
        # Vixie's rule: either, unless one of the two starts with a star.
        ("0 0 13 * 5", ["2026-01-02", "2026-01-09", "2026-01-13", "2026-01-16"]),
        ("0 0 1-31 * 5", ["2026-01-02", "2026-01-03"]),
        ("0 0 */2 * 1", ["2026-01-05", "2026-01-19", "2026-02-09", "2026-02-23"]),
        ("0 0 1-31/2 * 1", ["2026-01-03", "2026-01-05", "2026-01-07"]),
        ("0 0 13 * */5", ["2026-02-13", "2026-03-13", "2026-09-13"]),
        ("0 0 L * 5#1", ["2026-01-02", "2026-01-31", "2026-02-06", "2026-02-28"]),
        # Rare: the 29th of February on a Sunday.
        ("0 0 29 2 */7", ["2032-02-29", "2060-02-29", "2088-02-29", "2128-02-29"]),
        ("0 0 */28 2 0#5", ["2032-02-29", "2060-02-29", "2088-02-29"]),
    ],
)
def test_dates(expression: str, expected: list[str]) -> None:
    assert dates(expression, "2026-01-01 00:00", len(expected)) == expected


@pytest.mark.parametrize(
    ("expression", "keeps_pace"),
    [
        ("30 2 * * *", False),
        ("0-59 0-23 * * *", False),
        ("*/5 2 * * *", True),
        ("5 * * * *", True),
        ("5 */2 * * *", True),
        ("5,* 2 * * *", False),
        ("0 30 9 * * *", False),
        ("0,30 30 9 * * *", False),
        ("* 30 9 * * *", True),
        ("0 */2 9 * * *", True),
        ("0 0 * * * *", True),
    ],
)
def test_fixed_times_are_those_without_a_leading_star(expression: str, keeps_pace: bool) -> None:
    assert pattern(expression).keeps_pace is keeps_pace


def test_several_expressions_are_several_patterns() -> None:
    noon = wall_s("2026-01-01 12:00")
    found = [cron.next_wall(noon) for cron in cron_patterns(canonical_cron("@hourly;30 * * * *"))]
    assert found == [noon + 3600, noon + 1800]


def test_the_years_end() -> None:
    cron = pattern("* * * * * *")
    assert cron.next_wall(-(10**19)) == BEGIN_S
    assert cron.previous_wall(10**19) == END_S - 1
    assert cron.next_wall(END_S - 2) == END_S - 1
    assert cron.previous_wall(BEGIN_S + 1) == BEGIN_S
    for beyond_s in (END_S - 1, END_S, 10**19):
        assert cron.next_wall(beyond_s) is None
    for beyond_s in (BEGIN_S, BEGIN_S - 1, -(10**19)):
        assert cron.previous_wall(beyond_s) is None
    assert pattern("0 0 29 2 *").next_wall(wall_s("2996-02-29")) is None
    assert pattern("0 0 29 2 *").previous_wall(wall_s("1904-02-29")) is None  # 1900 was no leap year


def test_the_calendar_is_the_gregorian_one() -> None:
    cron = pattern("0 0 * * *")
    for year in (1900, 1970, 2000, 2026, 2100, 2400, 2999):
        first = wall_s(f"{year}-02-27")
        leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0
        found = dates("0 0 1 3 *", f"{year}-01-01", 1)
        assert found == [f"{year}-03-01"]
        assert cron.next_wall(first) == first + 86_400
        assert wall_s(f"{year}-03-01") - first == (3 if leap else 2) * 86_400


def test_a_search_may_begin_anywhere_in_any_order() -> None:
    """A pattern remembers the month of its last answer, which must not show."""
    cron = pattern("0 6 L * 1")
    starts = [wall_s(text) for text in ("2026-05-05", "1999-12-31", "2026-05-04", "2090-02-28", "2026-06-30")]
    fresh = [pattern("0 6 L * 1").next_wall(start) for start in starts]
    assert [cron.next_wall(start) for start in starts] == fresh
    assert [cron.next_wall(start) for start in starts[::-1]] == fresh[::-1]
    assert fresh[0] == wall_s("2026-05-11 06:00")


@pytest.mark.parametrize("text", ["", "* * * *", "H * * * *", "* * * * *; * * * * *", "61 * * * *", "* * * * x"])
def test_what_is_not_canonical_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"canonical|range|read|number"):
        CronPattern(text)


def test_a_pattern_without_a_date_ends_instead_of_looping() -> None:
    began = time.perf_counter()
    assert CronPattern("0 0 31 2 *").next_wall(0) is None
    assert CronPattern("0 0 31 2,4 *").previous_wall(0) is None
    assert time.perf_counter() - began < 0.5
