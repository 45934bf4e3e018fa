"""The owner's decisions by example: what each event changes in memory, and what it leaves in the outbox."""

import pytest

from noonmark.clock import SECOND_US
from noonmark.model.ids import is_scheduled, job_id_of
from noonmark.model.policy import Policy, Retry
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import GrantRow, RunRow
from noonmark.shard.answers import Granted, Reported
from noonmark.shard.limits import Limits
from noonmark.shard.live_run import State
from noonmark.shard.owner import Owner
from noonmark.wire.worker import ReportItem

NOW_US = 1_800_000_000_000_000
AHEAD_US = 3 * SECOND_US
SHARD = 3
WORKER = 7
PLAIN, RETRIED, STRICT, ONCE, DELAYED = 1, 2, 3, 4, 5
POLICIES = {
    PLAIN: Policy(task="t", timeout_s=30.0, retry=Retry(max_attempts=1)),
    RETRIED: Policy(task="t", retry=Retry(max_attempts=3, base_s=1.0)),
    STRICT: Policy(task="t", start_deadline_s=2.0),
    ONCE: Policy(task="t", delivery="at_most_once"),
    DELAYED: Policy(task="t", fixed_delay=True),
}


class Desk:
    """An owner of one shard with one worker, and the clock."""

    def __init__(self, **limits):
        self.owner = Owner(node_id=1, policies=POLICIES, weights={1: 1}, limits=Limits(**limits), random=lambda: 0.5)
        self.owner.adopt(SHARD, NOW_US + AHEAD_US, [], [], NOW_US, {})
        self.now_us = NOW_US
        self.serve(WORKER)

    def serve(self, worker):
        self.owner.fleet.serve(worker, ["default"], ["t"], self.now_us)

    def pass_s(self, seconds):
        self.now_us += round(seconds * SECOND_US)

    def row(self, number=1, *, in_s=0.0, policy=PLAIN, shard=SHARD, attempt=0, input=None):
        due_us = self.now_us + round(in_s * SECOND_US)
        return RunRow(job_id_of(number, shard), due_us, due_us, 1, 1, policy, 5, attempt, 0, Reason.SCHEDULED, input)

    def create(self, *rows):
        for row in rows:
            self.owner.create(row, self.now_us)
        return self.owner.take_outbox()

    def claim(self, worker=WORKER, most=10):
        """The answer, if there is one at once, and the batch that it leaves in."""
        self.owner.claim("claim", worker, most, self.now_us)
        self.owner.advance(self.now_us)
        batch = self.owner.take_outbox()
        return next((answer for token, answer in batch.answers if token == "claim"), None), batch

    def granted(self, *rows):
        self.create(*rows)
        answer, _ = self.claim()
        self.owner.fleet.delivered(answer.grant_id, self.now_us)
        return answer.grant_id

    def report(self, grant, row, outcome=Outcome.SUCCEEDED, *, attempt=None, worker=WORKER, error_type=None):
        item = ReportItem(
            grant, row.job_id, row.nominal_us, attempt or row.attempt + 1, outcome, self.now_us, self.now_us, error_type
        )
        self.owner.report("report", worker, [item], self.now_us)
        batch = self.owner.take_outbox()
        return dict(batch.answers)["report"], batch


@pytest.fixture
def desk():
    return Desk()


# -- supply ------------------------------------------------------------------------------------------------------------


def test_a_run_within_the_watermark_is_kept_and_one_beyond_it_sleeps_in_its_row(desk):
    soon, later = desk.row(1, in_s=2), desk.row(2, in_s=60)
    batch = desk.create(soon, later)
    assert batch.created == [soon, later._replace(sleeps=True)]
    assert set(desk.owner.live) == {soon.key}
    assert desk.owner.next_due_us() == soon.due_us


def test_a_run_is_held_until_it_is_due(desk):
    row = desk.row(in_s=1)
    desk.create(row)
    answer, _ = desk.claim()
    assert (answer, desk.owner.live[row.key].state) == (None, State.HELD)
    desk.pass_s(1)
    desk.owner.advance(desk.now_us)
    assert [type(answer) for _, answer in desk.owner.take_outbox().answers] == [Granted]


def test_a_run_that_is_known_or_of_a_foreign_shard_is_not_taken_in(desk):
    row = desk.row()
    for one in (row, row, desk.row(2, shard=SHARD + 1)):
        desk.owner.admit(one, desk.now_us)
    assert set(desk.owner.live) == {row.key}


def test_runs_that_no_schedule_names_have_times_of_their_own(desk):
    times = [desk.owner.next_nominal_us(NOW_US) for _ in range(2_500)]
    assert len(set(times)) == 2_500
    assert not [us for us in times if is_scheduled(us)]


def test_what_does_not_fit_is_read_back_page_by_page():
    desk = Desk(memory_runs=2, lane_runs=1, page_runs=2)
    desk.owner.paged(desk.owner.backlog.next_page(), [], NOW_US)
    rows = [desk.row(number) for number in range(1, 6)]
    desk.create(*rows)
    assert len(desk.owner.live) == 2
    seen = set()
    while len(seen) < 5:
        answer, _ = desk.claim()
        seen |= {live.key for live in answer.runs}
        page = desk.owner.backlog.next_page()
        if page is not None:
            left = [row for row in rows if (row.nominal_us, row.job_id) >= page.start]
            desk.owner.paged(page, left[: page.limit], desk.now_us)
    assert seen == {row.key for row in rows}


def test_a_page_does_not_bring_back_what_has_just_ended(desk):
    row = desk.row()
    desk.create(row)
    page = desk.owner.backlog.next_page()
    desk.owner.cancel(row.key, desk.now_us)
    desk.owner.paged(page, [row], desk.now_us)
    assert desk.owner.live == {}


def test_a_large_input_stays_in_its_row(desk):
    row = desk.row(input="x" * 2_000)
    desk.create(row)
    assert desk.owner.live[row.key].input == ""


# -- demand ------------------------------------------------------------------------------------------------------------


def test_a_claim_is_answered_in_the_batch_that_grants(desk):
    first, second = desk.row(1), desk.row(2)
    desk.create(first, second)
    answer, batch = desk.claim()
    assert [live.key for live in answer.runs] == [first.key, second.key]
    [row] = batch.grants
    assert (row.grant_id, row.worker_id, row.attempts) == (answer.grant_id, WORKER, [1, 1])
    assert desk.owner.granted_of({first.job_id}) == [first.key]


def test_a_claim_waits_for_runs_and_may_be_withdrawn(desk):
    assert desk.claim()[0] is None
    assert desk.owner.withdraw_claim("claim")
    assert not desk.owner.withdraw_claim("claim")
    desk.create(desk.row())
    desk.owner.advance(desk.now_us)
    assert not desk.owner.take_outbox().grants


def test_workers_that_wait_share_evenly(desk):
    desk.serve(8)
    desk.owner.claim("a", WORKER, 10, desk.now_us)
    desk.owner.claim("b", 8, 10, desk.now_us)
    desk.create(*(desk.row(number) for number in range(1, 5)))
    desk.owner.advance(desk.now_us)
    answers = dict(desk.owner.take_outbox().answers)
    assert [len(answers[token].runs) for token in ("a", "b")] == [2, 2]


def test_a_run_past_its_start_deadline_ends_without_an_attempt(desk):
    late, fresh = desk.row(1, policy=STRICT), desk.row(2)
    desk.create(late, fresh)
    desk.pass_s(2.5)
    answer, batch = desk.claim()
    assert [live.key for live in answer.runs] == [fresh.key]
    [ended] = batch.attempts
    assert (ended.outcome, ended.reason, ended.attempt) == (Outcome.EXPIRED, Reason.START_DEADLINE_PASSED, 0)
    assert batch.ended == [(SHARD, late.nominal_us, late.job_id)]


def test_a_grant_that_never_arrived_is_returned(desk):
    row = desk.row()
    desk.create(row)
    answer, _ = desk.claim()
    desk.owner.return_grant(answer.grant_id, desk.now_us)
    batch = desk.owner.take_outbox()
    assert [(one.outcome, one.reason, one.final) for one in batch.attempts] == [
        (Outcome.RELEASED, Reason.UNDELIVERED, False)
    ]
    assert batch.requeues[row.key].attempt == 1
    assert desk.claim()[0].runs[0].attempt + 1 == 2


# -- ends of attempts --------------------------------------------------------------------------------------------------


def test_a_success_ends_the_run_and_its_grant(desk):
    row = desk.row()
    grant = desk.granted(row)
    answer, batch = desk.report(grant, row)
    assert answer == Reported([], [])
    assert batch.ended == [(SHARD, row.nominal_us, row.job_id)]
    assert batch.finished_grants == [(SHARD, grant)]
    assert [(one.attempt, one.outcome, one.final) for one in batch.attempts] == [(1, Outcome.SUCCEEDED, True)]
    assert desk.owner.live == {}


@pytest.mark.parametrize("wrong", [{"attempt": 2}, {"worker": 8}, {"grant": 99}])
def test_a_report_counts_only_for_the_current_attempt(desk, wrong):
    desk.serve(8)
    row = desk.row()
    grant = desk.granted(row)
    answer, batch = desk.report(wrong.pop("grant", grant), row, **wrong)
    assert answer == Reported([0], [])
    assert not batch.attempts
    assert desk.owner.live[row.key].state is State.GRANTED


def test_a_report_of_another_owners_run_is_sent_elsewhere(desk):
    answer, _ = desk.report(1, desk.row(shard=SHARD + 1))
    assert answer == Reported([], [0])


def test_a_failure_waits_for_its_retry_and_the_last_one_is_a_dead_letter(desk):
    row = desk.row(policy=RETRIED)
    grant = desk.granted(row)
    for attempt in (1, 2):
        _, batch = desk.report(grant, row, Outcome.FAILED, attempt=attempt)
        again = batch.requeues[row.key]
        assert (again.attempt, again.failures, again.sleeps) == (attempt, attempt, False)
        assert desk.now_us < again.due_us <= desk.now_us + attempt * SECOND_US
        desk.now_us = again.due_us
        grant = desk.claim()[0].grant_id
    _, batch = desk.report(grant, row, Outcome.FAILED, attempt=3)
    [dead] = batch.dead
    assert (dead.attempt, dead.failures, dead.reason) == (3, 3, Reason.ATTEMPTS_EXHAUSTED)
    assert batch.ended == [(SHARD, row.nominal_us, row.job_id)]


def test_a_retry_beyond_the_watermark_sleeps(desk):
    row = desk.row(policy=RETRIED)
    grant = desk.granted(row)
    desk.owner.begin_tick([SHARD], desk.now_us)
    _, batch = desk.report(grant, row, Outcome.FAILED)
    assert batch.requeues[row.key].sleeps
    assert batch.slept == {row.key}
    assert desk.owner.live == {}


def test_a_retry_of_a_paused_job_is_parked(desk):
    row = desk.row(policy=RETRIED)
    grant = desk.granted(row)
    desk.owner.paused.add(row.job_id)
    _, batch = desk.report(grant, row, Outcome.FAILED)
    assert batch.requeues[row.key].parked
    assert desk.owner.live == {}


def test_the_end_of_a_fixed_delay_is_told_and_that_of_a_trigger_is_not(desk):
    scheduled = desk.row(1, policy=DELAYED)
    triggered = desk.row(2, policy=DELAYED)._replace(nominal_us=NOW_US + 1)
    grant = desk.granted(scheduled, triggered)
    _, first = desk.report(grant, scheduled)
    _, second = desk.report(grant, triggered)
    assert [end.nominal_us for end in first.fixed_delay_ends] == [scheduled.nominal_us]
    assert second.fixed_delay_ends == []


def test_a_waiting_run_is_cancelled_at_once_and_a_granted_one_is_asked_to_stop(desk):
    waiting, running = desk.row(1, in_s=1), desk.row(2)
    grant = desk.granted(waiting, running)
    assert desk.owner.cancel(waiting.key, desk.now_us) is State.HELD
    assert desk.owner.cancel(running.key, desk.now_us) is State.GRANTED
    assert desk.owner.cancel((1, 1), desk.now_us) is None
    batch = desk.owner.take_outbox()
    assert [one.reason for one in batch.attempts] == [Reason.CANCELLED]
    assert batch.cancelling == [(SHARD, running.nominal_us, running.job_id)]
    assert desk.owner.heartbeat(WORKER, [grant], desk.now_us) == ([running.key], [], [])


# -- silence -----------------------------------------------------------------------------------------------------------


def silent(desk, seconds):
    """Time passes, and the owner looks every second."""
    for _ in range(seconds):
        desk.pass_s(1)
        desk.owner.rescue(desk.now_us)


@pytest.mark.parametrize(("policy", "again"), [(RETRIED, True), (ONCE, False)])
def test_the_runs_of_a_silent_worker_are_given_to_others_unless_at_most_once(desk, policy, again):
    row = desk.row(policy=policy)
    grant = desk.granted(row)
    silent(desk, 12)
    batch = desk.owner.take_outbox()
    assert [one.outcome for one in batch.attempts] == [Outcome.LOST]
    assert (row.key in batch.requeues, bool(batch.dead)) == (again, not again)
    assert desk.owner.fleet.workers == {}
    desk.serve(WORKER)
    assert desk.owner.heartbeat(WORKER, [grant], desk.now_us) == ([], [grant], [])
    assert desk.report(grant, row)[0] == Reported([0], [])


def test_a_worker_that_is_heard_keeps_its_runs(desk):
    row = desk.row()
    grant = desk.granted(row)
    for _ in range(20):
        silent(desk, 1)
        assert desk.owner.heartbeat(WORKER, [grant], desk.now_us) == ([], [], [])
    assert desk.owner.live[row.key].state is State.GRANTED


def test_after_a_sleep_of_its_own_the_node_does_not_call_workers_silent(desk):
    row = desk.row()
    desk.granted(row)
    desk.owner.rescue(desk.now_us)
    desk.pass_s(60)
    desk.owner.rescue(desk.now_us)
    assert desk.owner.live[row.key].state is State.GRANTED


def test_a_grant_that_its_worker_does_not_name_never_arrived(desk):
    row = desk.row()
    desk.granted(row)
    desk.pass_s(3.5)
    desk.owner.heartbeat(WORKER, [], desk.now_us)
    batch = desk.owner.take_outbox()
    assert [one.reason for one in batch.attempts] == [Reason.UNDELIVERED]
    assert set(batch.requeues) == {row.key}


def test_an_attempt_far_beyond_its_timeout_is_given_up(desk):
    row = desk.row()
    grant = desk.granted(row)
    for _ in range(92):
        silent(desk, 1)
        desk.owner.heartbeat(WORKER, [grant], desk.now_us)
    assert [one.outcome for one in desk.owner.take_outbox().attempts] == [Outcome.TIMED_OUT]


# -- ownership ---------------------------------------------------------------------------------------------------------


def test_a_shard_that_is_given_away_is_forgotten(desk):
    waiting, running = desk.row(1, in_s=1), desk.row(2)
    desk.granted(waiting, running)
    desk.owner.drop(SHARD)
    assert (desk.owner.live, desk.owner.watermarks, desk.owner.fleet.grants) == ({}, {}, {})
    assert not desk.owner.take_outbox()


def test_the_next_owner_goes_on_with_the_grants():
    desk = Desk()
    row = desk.row(shard=4)
    over = GrantRow(4, 99, WORKER, NOW_US, [desk.row(2, shard=4).job_id], [NOW_US], [1])
    grants = [GrantRow(4, 77, WORKER, NOW_US, [row.job_id], [row.nominal_us], [1]), over]
    desk.owner.adopt(4, NOW_US, grants, [row], NOW_US, {})
    assert desk.owner.take_outbox().finished_grants == [(4, 99)], "none of its runs is there any more"
    answer, batch = desk.report(77, row)
    assert answer == Reported([], [])
    assert batch.ended == [(4, row.nominal_us, row.job_id)]
