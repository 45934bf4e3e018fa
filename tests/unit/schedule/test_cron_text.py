"""Canonical cron texts, the hash of H, and what errors say."""

import time

import pytest

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.forms.cron_text import canonical_cron


@pytest.mark.parametrize(
    ("expression", "canonical"),
    [
        ("  */05\t* * jan-Mar  mon-FRI,sun ", "*/5 * * 1-3 1-5,0"),
        ("00 009 * * *", "0 9 * * *"),
        ("@Hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@MIDNIGHT", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        (" @annually ", "0 0 1 1 *"),
        ("*/1 */1 * * *", "* * * * *"),
        ("0 0 9 ? * MON", "0 0 9 * * 1"),
        ("0 0 1 * ?", "0 0 1 * *"),
        # A star is a class of its own, so a full range stays one; in the month it makes no difference.
        ("0-59 0-23 1-31 1-12 0-6", "0-59 0-23 1-31 * 0-6"),
        ("0 0 1 1-12/3 *", "0 0 1 */3 *"),
        ("5/15 7/8 3/10 2/4 1/2", "5-59/15 7-23/8 3-31/10 2-12/4 1-6/2"),
        ("5-5 5-5/2 31/7 * *", "5 5 31 * *"),
        ("59/7 */90 * * *", "59 */90 * * *"),
        ("10-40/1 10-20/30 * * *", "10-40 10 * * *"),
        ("50-10 22-3/2 25-5 nov-feb fri-mon", "50-10 22-3/2 25-5 11-2 5-1"),
        ("5,5,05 1,1-1 * * *", "5 1 * * *"),
        ("0 0 l * *", "0 0 L * *"),
        ("0 0 L-03,l-0 * *", "0 0 L-3,L * *"),
        ("0 0 lw,15w,L-2w * *", "0 0 LW,15W,L-2W * *"),
        ("0 0 * * fril,5L", "0 0 * * 5L"),
        ("0 0 * * fri#2,SUN#1", "0 0 * * 5#2,0#1"),
        # Sunday is 0, but 7 where it ends a range.
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * 7L,7#3", "0 0 * * 0L,0#3"),
        ("0 0 * * 1-7", "0 0 * * 1-7"),
        ("0 0 * * sat-sun", "0 0 * * 6-7"),
        ("0 0 * * 7-2", "0 0 * * 0-2"),
        ("0 0 * * 0-7", "0 0 * * 0-6"),
        ("0 0 * * 7-7,0-0,7-0", "0 0 * * 0"),
        ("0 0 * * 7/2", "0 0 * * 0-6/2"),
        ("h H(0-7) H * *", "H H(0-7) H * *"),
        ("H/015 H(09-16)/2 * * H(mon-fri)", "H/15 H(9-16)/2 * * H(1-5)"),
        ("H(0-59) 0 H(1-28) H(jan-dec) H(0-7)", "H 0 H H H"),
        ("0 9 * * 1;0 17 * * fri ;0 9 * * MON", "0 9 * * 1; 0 17 * * 5"),
        ("@daily;0 12 * * *", "0 0 * * *; 0 12 * * *"),
    ],
)
def test_canonical(expression: str, canonical: str) -> None:
    assert canonical_cron(expression) == canonical
    assert canonical_cron(canonical) == canonical


def test_a_hash_is_the_same_on_every_machine_and_in_every_version() -> None:
    """These values are stored with jobs: a change of them moves jobs to other times."""
    assert canonical_cron("H H * * *", "acme/report") == "32 7 * * *"
    assert canonical_cron("H H H H H H", "acme/report") == "24 32 7 24 4 2"
    assert canonical_cron("H/15 H(0-7)/3 H(22-3) * *", "acme/report") == "2-59/15 1-7/3 26 * *"
    assert canonical_cron("H H * * *", "acme/backup") == "29 13 * * *"


def test_a_hash_spreads_jobs_and_stays_in_its_range() -> None:
    for expression, field, expected in (
        ("H * * * *", 0, set(range(60))),
        ("0 H * * *", 1, set(range(24))),
        ("0 0 H * *", 2, set(range(1, 29))),
        ("0 0 1 H *", 3, set(range(1, 13))),
        ("0 0 * * H", 4, set(range(7))),
        ("H(0-29) * * * *", 0, set(range(30))),
        ("H(50-10) * * * *", 0, {*range(50, 60), *range(11)}),
        ("0 0 H(29-31) * *", 2, {29, 30, 31}),
    ):
        found = {canonical_cron(expression, f"acme/{number}").split()[field] for number in range(1000)}
        assert {int(text) for text in found} == expected


def test_a_hash_with_a_step_moves_the_start() -> None:
    found = {canonical_cron("H/20 * * * *", f"acme/{number}") for number in range(300)}
    assert found == {f"{start}-59/20 * * * *" for start in range(20)}
    assert {canonical_cron("0 H(20-3)/4 * * *", f"a/{number}").split()[1] for number in range(100)} == {
        "20-3/4",
        "21-3/4",
        "22-3/4",
        "23-3/4",
    }
    # From 3 on by 4 until 5 is 3 alone.
    assert {canonical_cron("0 H(0-5)/4 * * *", f"a/{number}").split()[1] for number in range(100)} == {
        "0-5/4",
        "1-5/4",
        "2",
        "3",
    }


def test_fields_hash_independently() -> None:
    pairs = {tuple(canonical_cron("H(0-9) H(0-9) * * *", f"acme/{number}").split()[:2]) for number in range(1000)}
    assert len(pairs) == 100


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("61 * * * *", "the minute field '61' is not valid: '61' is out of range"),
        ("1,61 * * * *", "the minute field '1,61' is not valid: '61' is out of range"),
        ("* * * * MOON", "the day-of-week field 'MOON' is not valid: 'MOON' is no number and no name"),
        ("* * * * mon-moon", "the day-of-week field 'mon-moon'"),
        ("* * * 13 *", "the month field '13'"),
        ("* * * 0 *", "the month field '0'"),
        ("* 24 * * *", "the hour field '24'"),
        ("60 * * * * *", "the second field '60'"),
        ("* * 32 * *", "the day-of-month field '32'"),
        ("* * 0 * *", "the day-of-month field '0'"),
        ("* * * * 8", "the day-of-week field '8'"),
        ("*/0 * * * *", "the minute field '*/0' is not valid: '*/0' has a step of 0"),
        ("5/0 * * * *", "'5/0' has a step of 0"),
        ("1- * * * *", "the minute field '1-' is not valid: '1-' cannot be read"),
        ("1,,2 * * * *", "the minute field '1,,2' is not valid: '' cannot be read"),
        ("1-2-3 * * * *", "cannot be read"),
        ("? * * * *", "the minute field '?'"),
        ("٣ * * * *", "the minute field '٣'"),
        ("* * * * \u017fun", "the day-of-week field '\u017fun'"),
        ("* * 15-16W * *", "the day-of-month field '15-16W'"),
        ("* * W * *", "the day-of-month field 'W'"),
        ("* * LW-3 * *", "the day-of-month field 'LW-3'"),
        ("* * ?,1 * *", "the day-of-month field '?,1'"),
        ("* * * * L", "the day-of-week field 'L'"),
        ("* L * * *", "the hour field 'L'"),
        ("* * * * 5#0", "'5#0' counts from 0"),
        ("* * * * 5#", "the day-of-week field '5#'"),
        ("H/1 * * * *", "'H/1' hashes nothing"),
        ("H/61 * * * *", "'H/61' has a step above the 60 values"),
        ("H(0-60) * * * *", "'H(0-60)' is out of range"),
        ("H(5) * * * *", "'H(5)' cannot be read"),
        # Dates that never come.
        ("0 0 31 2 *", "no date matches day 31 of month 2, so it would never fire"),
        ("0 0 30 FEB *", "would never fire"),
        ("0 0 31 4,6,9-9,nov *", "would never fire"),
        ("0 0 30W 2 *", "would never fire"),
        ("0 0 L-29 2 *", "would never fire"),
        ("0 0 L-31 * *", "'L-31' would never fire"),
        ("0 0 * * 5#6", "'5#6' would never fire"),
        ("0 0 */31 * SUN#2", "no date matches day */31 of month * on day 0#2 of the week, so it would never fire"),
        # Not five or six fields.
        ("* * * *", "'* * * *' is not a cron expression"),
        ("", "'' is not a cron expression"),
        ("@reboot", "'@reboot' is not a cron expression"),
        ("@daily * * * *", "not a cron expression"),
        ("0 0 12 * * ? 2027", "has 7 fields, as Quartz writes a year"),
        ("* * * * *;61 * * * *", "expression 2: the minute field '61'"),
        ("* * * * *;", "expression 2: '' is not a cron expression"),
        ("* * * * *;0 0 31 2 *", "expression 2: no date matches"),
        ("* " * 200, "400 characters is above the bound of 256"),
        (";".join(["* * * * *"] * 17), "17 expressions are above the bound of 16"),
    ],
)
def test_refused(expression: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        canonical_cron(expression)
    assert caught.value.field == "schedule.cron"
    assert message in caught.value.message
    assert caught.value.fix


def test_the_fix_says_what_is_allowed() -> None:
    for expression, fix in (
        ("61 * * * *", "minute allows 0-59"),
        ("* * * * FRY", "day-of-week allows 0-7 (0 and 7 are Sunday) or SUN-SAT"),
        ("0 0 12 * * ? 2027", "`start` and `end`"),
        ("every day", "6 with seconds first, or one of @hourly"),
    ):
        with pytest.raises(ScheduleError) as caught:
            canonical_cron(expression)
        assert fix in (caught.value.fix or "")


@pytest.mark.parametrize(
    "expression",
    ["0 0 29 2 *", "0 0 29 2 */7", "0 0 L-28 2 *", "0 0 31 2 1", "0 0 30,31 4 *", "0 0 29W 2 *", "0 0 */28 2 1#5"],
)
def test_rare_dates_are_accepted(expression: str) -> None:
    canonical_cron(expression)


def test_what_a_hash_lengthens_is_bounded_too() -> None:
    longest = ",".join(f"H({low}-59)/10" for low in range(19)) + " * * * *"
    assert len(longest) <= 256
    assert len(canonical_cron(longest, "acme/report")) <= 256
    grown = ",".join(f"{low}/2" for low in range(10, 58)) + " * * * *"
    with pytest.raises(ScheduleError, match="above the bound"):
        canonical_cron(grown)


def test_hostile_texts_are_refused_quickly() -> None:
    began = time.perf_counter()
    for text in (
        "9" * 250,
        "1-" * 125 + " * * * *",
        "H(" * 100 + " * * * *",
        ";" * 10**6,
        "* " * 10**6,
        ",".join(["*/2"] * 60) + " * * * *",
        "((((" * 50 + " * * * *",
        "A" * 240 + "L * * * *",
    ):
        try:
            canonical_cron(text)
        except ScheduleError:
            continue
        assert canonical_cron(text) == "*/2 * * * *"
    assert time.perf_counter() - began < 1
