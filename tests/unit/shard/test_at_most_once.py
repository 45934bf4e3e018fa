"""A run that may begin only once is given to somebody else only if it is known not to have begun."""

import pytest

from noonmark.model.ids import TenantId, WorkerId, job_id_of
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import RunRow
from noonmark.shard.answers import Granted
from noonmark.shard.limits import Limits
from noonmark.shard.owner import Owner
from noonmark.shard.verdict import Ended

NOW_US = 1_800_000_000_000_000
SECOND_US = 1_000_000
ONCE, OFTEN = 1, 2
WORKER = WorkerId(7)


class Item(Ended):
    """What a worker reports."""

    grant: int
    job_id: int
    nominal_us: int
    attempt: int


class Stage:
    """One shard, one worker, and a grant that its worker should know since `NOW_US`."""

    def __init__(self, *policy_ids):
        policies = {ONCE: Policy(task="t", delivery="at_most_once"), OFTEN: Policy(task="t")}
        self.owner = Owner(node_id=1, policies=policies, weights={}, limits=Limits(), random=lambda: 0.0)
        self.owner.adopt(0, NOW_US + 3600 * SECOND_US, (), (), NOW_US, {})
        self.owner.fleet.serve(WORKER, ["default"], ["t"], NOW_US)
        self.rows = [
            RunRow(job_id_of(number, 0), NOW_US - 1, NOW_US, TenantId(1), 1, policy_id, 5, 0, 0, Reason.TRIGGERED, None)
            for number, policy_id in enumerate(policy_ids, 1)
        ]
        for row in self.rows:
            self.owner.create(row, NOW_US)
        self.grant = self.granted(NOW_US)

    def granted(self, now_us):
        """The id of a grant of all that can be granted now; 0 if there is nothing."""
        self.owner.claim("claim", WORKER, 100, now_us)
        self.owner.advance(now_us)
        self.owner.withdraw_claim("claim")
        grants = [answer for _, answer in self.owner.take_outbox().answers if isinstance(answer, Granted)]
        for grant in grants:
            self.owner.fleet.delivered(grant.grant_id, now_us)
        return grants[0].grant_id if grants else 0

    def beat(self, at_s, named=(), never=()):
        return self.owner.heartbeat(WORKER, named, NOW_US + round(at_s * SECOND_US), set(never))

    def report(self, outcome, *, started_us, at_s=1.0):
        now_us = NOW_US + round(at_s * SECOND_US)
        items = []
        for row in self.rows:
            item = Item(outcome, now_us, started_us)
            item.grant, item.attempt, item.job_id, item.nominal_us = self.grant, 1, row.job_id, row.nominal_us
            items.append(item)
        self.owner.report("report", WORKER, items, now_us)

    def ends(self):
        return [(row.outcome, row.reason, row.final) for row in self.owner.outbox.attempts]


def test_a_started_attempt_that_is_handed_back_is_a_dead_letter():
    stage = Stage(ONCE)
    stage.report(Outcome.RELEASED, started_us=NOW_US)
    assert stage.ends() == [(Outcome.RELEASED, Reason.AT_MOST_ONCE, True)]
    assert [row.reason for row in stage.owner.outbox.dead] == [Reason.AT_MOST_ONCE]
    assert stage.granted(NOW_US + 2 * SECOND_US) == 0


def test_one_that_never_began_goes_to_somebody_else_once_however_often_that_is_said():
    stage = Stage(ONCE)
    stage.report(Outcome.RELEASED, started_us=None)
    assert stage.ends() == [(Outcome.RELEASED, Reason.RELEASED, False)]
    assert stage.granted(NOW_US + 2 * SECOND_US)
    stage.report(Outcome.RELEASED, started_us=None)
    assert stage.ends() == [], "said of attempt 1, while attempt 2 runs"


def test_a_grant_that_is_not_named_is_asked_for_and_given_on_when_it_is_denied():
    stage = Stage(ONCE, OFTEN)
    assert stage.beat(2).missing == [], "its answer may still be on its way"
    assert stage.beat(4).missing == [stage.grant]
    assert stage.ends() == []
    assert stage.beat(6, never=[stage.grant]).missing == []
    assert stage.ends() == [(Outcome.RELEASED, Reason.UNDELIVERED, False)] * 2
    assert stage.granted(NOW_US + 7 * SECOND_US)


def test_a_grant_that_is_neither_named_nor_denied_may_have_begun():
    stage = Stage(ONCE, OFTEN)
    for at_s in range(4, 15, 2):
        assert stage.beat(at_s).missing == [stage.grant]
    assert stage.beat(16).missing == []
    assert sorted(stage.ends()) == [
        (Outcome.LOST, Reason.AT_MOST_ONCE, True),
        (Outcome.RELEASED, Reason.UNDELIVERED, False),
    ]


def test_a_grant_that_is_named_again_is_asked_for_anew():
    stage = Stage(ONCE)
    assert stage.beat(4).missing == [stage.grant]
    assert stage.beat(6, named=[stage.grant]).missing == []
    assert stage.beat(17).missing == [stage.grant]
    assert stage.ends() == []


def test_a_grant_of_others_is_given_on_at_once():
    stage = Stage(OFTEN)
    assert stage.beat(4).missing == []
    assert stage.ends() == [(Outcome.RELEASED, Reason.UNDELIVERED, False)]


def test_a_grant_whose_answer_never_left_is_given_on():
    stage = Stage(ONCE)
    stage.owner.return_grant(stage.grant, NOW_US + SECOND_US)
    assert stage.ends() == [(Outcome.RELEASED, Reason.UNDELIVERED, False)]


@pytest.mark.parametrize(("policy_id", "final"), [(ONCE, True), (OFTEN, False)])
def test_an_attempt_that_overran_without_a_word_may_still_run(policy_id, final):
    stage = Stage(policy_id)
    end_us = NOW_US + (3600 + 61) * SECOND_US
    stage.owner.fleet.heard(WORKER, end_us)
    stage.owner.rescue(end_us)
    [(outcome, _, ended)] = stage.ends()
    assert (outcome, ended) == (Outcome.TIMED_OUT, final)


def test_a_silent_worker_takes_its_runs_with_it():
    stage = Stage(ONCE)
    for at_s in range(12):
        stage.owner.rescue(NOW_US + at_s * SECOND_US)
    assert stage.ends() == [(Outcome.LOST, Reason.AT_MOST_ONCE, True)]
