from datetime import date

import pytest

from noonmark.schedule.calendar.days import EPOCH_ORDINAL
from noonmark.schedule.calendar.rules import DayRule, canonical_rule, read_rule
from noonmark.schedule.errors import ScheduleError


def holds(rule: str, day: str) -> bool:
    read = read_rule(rule, "f")
    assert isinstance(read, DayRule)
    return date.fromisoformat(day).toordinal() - EPOCH_ORDINAL in read.days


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("holidays de", "holidays DE"),
        ("Holidays DEU", "holidays DE"),
        ("HOLIDAYS uk", "holidays GB"),
        ("holidays de-by", "holidays DE-BY"),
        ("holidays DE-Bayern", "holidays DE-BY"),
        ("holidays us-ca", "holidays US-CA"),
        ("holidays nyse", "holidays NYSE"),
        ("holidays XNYS", "holidays NYSE"),
        ("holidays ecb", "holidays ECB"),
        ("holidays xetr", "holidays XETR"),
        ("holidays au-nsw western  8:00-9:30", "holidays AU-NSW Western 08:00-09:30"),
        ("weekends", "sat-sun"),
        ("Weekdays", "mon-fri"),
        ("sun,sat", "sat-sun"),
        ("Monday - Wednesday , sun", "sun-wed"),
        ("fri-mon", "fri-mon"),
        ("mon,wed,fri", "mon,wed,fri"),
        ("wed-tue", "mon-sun"),
        ("jul-aug", "jul-aug"),
        ("dec,jan,april", "apr,dec-jan"),
        ("2026-12-24", "2026-12-24"),
        ("2026-12-24/2026-12-24", "2026-12-24"),
        ("2026-12-24 / 2027-01-02", "2026-12-24/2027-01-02"),
        ("2026-12-24/9999-12-31", "2026-12-24/9999-12-31"),
        ("12-24/01-02", "12-24/01-02"),
        ("02-29", "02-29"),
        ("22:00-06:00", "22:00-06:00"),
        ("9:00:30-24:00", "09:00:30-24:00"),
        ("22:00-00:00", "22:00-24:00"),
        ("00:00-24:00", "00:00-24:00"),
        ("sat-sun 00:00-24:00", "sat-sun"),
        ("12-24 18:00-24:00", "12-24 18:00-24:00"),
        ("2026-12-24t18:00/2026-12-25T06:00", "2026-12-24T18:00/2026-12-25T06:00"),
        ("2026-12-24T18:00/2026-12-25T24:00", "2026-12-24T18:00/2026-12-26T00:00"),
        ("2026-12-24T18:00+01:00/2026-12-25T06:00:05-0530", "2026-12-24T17:00Z/2026-12-25T11:30:05Z"),
    ],
)
def test_one_way_to_write_a_rule(text: str, canonical: str) -> None:
    assert canonical_rule(text, "f") == canonical
    assert canonical_rule(canonical, "f") == canonical
    assert read_rule(canonical, "f") == read_rule(text, "f")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' names no days or hours"),
        ("holidays", "no country is named"),
        ("holidays Germny", "did you mean 'holidays DE'?"),
        ("holidays NYS", "did you mean 'holidays NYSE'?"),
        ("holidays XX", "'XX' is not a country or market"),
        ("holidays DE-BX", "'BX' is not a part of DE whose holidays are known (use one of Augsburg, BB, BE"),
        ("holidays GB-Englnd", "did you mean 'holidays GB-ENG'?"),
        ("holidays AQ-X", "write 'holidays AQ'"),
        ("holiday DE", "did you mean 'holidays'?"),
        ("satt", "did you mean 'sat'?"),
        ("sat-", "names no days"),
        ("jan-mon", "names no days"),
        ("22:00-22:00", "not a stretch of hours"),
        ("24:00-02:00", "not a stretch of hours"),
        ("22:60-23:00", "'22:60' is not a time of day"),
        ("22:00-24:01", "'24:01' is not a time of day"),
        ("22:00", "names no days or hours"),
        ("2026-02-29", "'2026-02-29' is not a date"),
        ("1969-12-31", "before 1970"),
        ("02-30", "'02-30' is not a day of the year"),
        ("13-01", "'13-01' is not a day of the year"),
        ("2026-12-24/2026-12-23", "ends before it begins"),
        ("2026-12-24T18:00/2026-12-24T18:00", "ends before it begins"),
        ("2026-12-24T18:00/2026-12-25T06:00Z", "one end has an offset"),
        ("2026-12-24T18:00+15:00/2026-12-25T06:00Z", "'+15:00' is not an offset"),
        ("2026-12-24T18:00Z/9999-12-31T24:00Z", "out of bounds"),
        ("mon 2026-12-24T18:00/2026-12-25T06:00", "names no days"),
        ("sat|sun", "names no days"),
        ("٢٠٢٦-12-24", "names no days"),
        ("s" * 101, "101 characters are more than 100"),
    ],
)
def test_what_is_no_rule(text: str, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        read_rule(text, "schedule.exclude[0]")
    assert caught.value.field == "schedule.exclude[0]"
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "day"),
    [
        ("holidays DE-BY", "2026-06-04"),  # Corpus Christi
        ("holidays US", "2026-11-26"),  # Thanksgiving
        ("holidays US", "2021-12-31"),  # the New Year that fell on a Saturday
        ("holidays GB-ENG", "2026-04-06"),  # Easter Monday
        ("holidays GB", "2026-12-28"),  # Boxing Day, observed
        ("holidays NYSE", "2026-04-03"),  # Good Friday
        ("holidays DE", "2100-10-03"),
        ("holidays CN", "2100-02-09"),  # the lunar new year
        ("sat-sun", "2026-10-03"),
        ("fri-mon", "2026-10-05"),
        ("jul-aug", "2026-08-31"),
        ("dec-jan", "2026-01-01"),
        ("2026-12-24/2027-01-02", "2027-01-02"),
        ("12-24/01-02", "2026-01-02"),
        ("12-24/01-02", "2026-12-24"),
        ("02-29", "2028-02-29"),
        ("02-28/03-01", "2028-02-29"),
        ("00:00-24:00", "2026-01-01"),
    ],
)
def test_days_of_a_rule(rule: str, day: str) -> None:
    assert holds(rule, day)


@pytest.mark.parametrize(
    ("rule", "day"),
    [
        ("holidays DE", "2026-06-04"),
        ("holidays US", "2026-04-03"),
        ("holidays GB-SCT", "2026-04-06"),
        ("holidays ECB", "2026-06-04"),
        ("holidays DE", "2101-10-03"),
        ("sat-sun", "2026-10-05"),
        ("fri-mon", "2026-10-06"),
        ("jul-aug", "2026-09-01"),
        ("2026-12-24/2027-01-02", "2027-01-03"),
        ("12-24/01-02", "2026-01-03"),
        ("12-24/01-02", "2026-12-23"),
        ("02-29", "2027-03-01"),
    ],
)
def test_days_outside_of_a_rule(rule: str, day: str) -> None:
    assert not holds(rule, day)
