"""When a success is expected by."""

from typing import Any

from noonmark.clock import SECOND_US
from noonmark.schedule import recurrence
from noonmark.shard.silence import Expectation, expected_us

EVERY_MINUTE = recurrence("every:60|phase 0|j0")
MINUTE = 60 * SECOND_US


def expectation(**changes: Any) -> Expectation:
    values: dict[str, Any] = {
        "subscription_id": 1, "job_id": 1, "since_us": 0, "ends_us": None, "skips": (), "current_run_us": None,
        "expect_every_us": None, "grace_us": 0, "succeeded_us": None,
    }  # fmt: skip
    return Expectation(**(values | changes))


def test_the_first_occurrence_after_the_last_success() -> None:
    assert expected_us(expectation(), EVERY_MINUTE) == MINUTE
    assert expected_us(expectation(since_us=MINUTE + 1), EVERY_MINUTE) == 2 * MINUTE
    assert expected_us(expectation(since_us=1, succeeded_us=5 * MINUTE + 3), EVERY_MINUTE) == 6 * MINUTE
    assert expected_us(expectation(since_us=9 * MINUTE, succeeded_us=5), EVERY_MINUTE) == 10 * MINUTE


def test_an_end_and_skipped_occurrences() -> None:
    assert expected_us(expectation(ends_us=MINUTE), EVERY_MINUTE) == MINUTE
    assert expected_us(expectation(ends_us=MINUTE - 1), EVERY_MINUTE) is None
    assert expected_us(expectation(skips={MINUTE, 2 * MINUTE}), EVERY_MINUTE) == 3 * MINUTE


def test_every_so_often_whatever_the_schedule_says() -> None:
    asked = expectation(expect_every_us=90 * SECOND_US, succeeded_us=MINUTE)
    assert expected_us(asked, EVERY_MINUTE) == expected_us(asked, None) == 150 * SECOND_US


def test_a_fixed_delay_is_expected_at_its_current_run() -> None:
    assert expected_us(expectation(current_run_us=MINUTE), None) == MINUTE
    assert expected_us(expectation(current_run_us=MINUTE, succeeded_us=2 * MINUTE), None) is None
    assert expected_us(expectation(), None) is None
