"""A notice in words."""

from noonmark.notify.message import words

PAYLOAD = {
    "id": "evt_1",
    "type": "run.failed",
    "at": "2030-01-01T00:00:00+00:00",
    "tenant": "default",
    "job": {"id": "job_1", "name": "bill", "labels": {}},
    "run": {"id": "run_1", "attempt": 2, "due_at": "2030-01-01T00:00:00+00:00", "late_s": None},
    "silence": None,
    "reason": "failed",
    "why": "the task raised an error and will be tried again",
    "error": "Traceback\nValueError: no",
    "folded": 3,
}


def test_the_words_name_job_run_cause_and_what_was_folded() -> None:
    said = words(PAYLOAD)
    assert said.title == "Noonmark: bill failed"
    for part in ("will be tried again", "bill (job_1), tenant default", "run_1, attempt 2", "3 more", "ValueError: no"):
        assert part in said.text
    assert not said.good


def test_good_news_and_other_kinds() -> None:
    assert words(PAYLOAD | {"type": "job.recovered"}).good
    silence = {"expected_at": "2030-01-01T00:05:00+00:00", "last_success_at": None}
    said = words(PAYLOAD | {"type": "job.silent", "run": None, "silence": silence, "error": None, "folded": 0})
    assert "Expected by 2030-01-01T00:05:00+00:00, last success never" in said.text
    late = words(PAYLOAD | {"type": "run.late", "run": PAYLOAD["run"] | {"late_s": 12.5}})  # type: ignore[operator]
    assert "Late by 12.5 s" in late.text
    assert len(words(PAYLOAD | {"error": "x" * 9000}).text) < 2000
