"""The silence of a worker, across owners: what somebody listened to counts, and nothing else."""

from noonmark.model.ids import TenantId, WorkerId, grant_id_of, job_id_of
from noonmark.model.policy import Policy
from noonmark.model.reason import Outcome, Reason
from noonmark.model.run import GrantRow, RunRow
from noonmark.shard.limits import Limits
from noonmark.shard.listening import NodeLife, last_heard_us
from noonmark.shard.owner import Owner

NOW_US = 1_800_000_000_000_000
LIMITS = Limits()  # silent after 10 s, appears within 3 s, kept up to 3 s late


def at(seconds: float) -> int:
    return NOW_US + round(seconds * 1_000_000)


def silent_s(seen_s: float, *lives: tuple[float, float], own_s: float = -3600.0) -> float:
    """How long a worker that was last seen at `seen_s` has been silent now, at 0."""
    known = [NodeLife(at(began_s), at(lived_s)) for began_s, lived_s in lives]
    return (NOW_US - last_heard_us(at(seen_s), known, at(own_s), NOW_US, LIMITS)) / 1_000_000


def test_silence_goes_on_where_the_owner_before_had_counted():
    assert silent_s(-8, (-3600, 0)) == 5, "8 s less the 3 s that a row may be late"


def test_one_that_was_just_heard_has_all_its_time():
    assert silent_s(-2, (-3600, 0)) == 0


def test_what_nobody_could_hear_is_no_silence():
    assert silent_s(-60, (-3600, -57)) == 0, "all nodes were away"
    assert silent_s(-60, (-3600, -50)) == 7
    assert silent_s(-60, (-3600, -50), (-5, 0)) == 9, "a node listens from 3 s after it began"


def test_lives_that_overlap_count_once_and_short_ones_not_at_all():
    assert silent_s(-33, (-100, -20), (-40, -20), (-25, -10)) == 20
    assert silent_s(-33, *[(-30 + n, -30 + n + 2) for n in range(0, 30, 3)]) == 0


def test_many_short_lives_add_up():
    """However often nodes come and go, a dead worker is given up."""
    lives = [(-90 + n, -90 + n + 6) for n in range(0, 90, 7)]
    assert silent_s(-95, *lives) > 30


def test_a_node_that_has_just_begun_gives_everybody_time_to_appear():
    assert silent_s(-60, (-3600, 0), own_s=0) == 7, "so that 3 s are left"
    assert silent_s(-60, (-3600, 0), own_s=-2) == 9
    assert silent_s(-60, (-3600, 0), own_s=-20) > 10


def owner_with_a_grant(heard_us: int) -> Owner:
    """A new owner, at 0, of a run that a worker holds."""
    policies = {1: Policy(task="t")}
    owner = Owner(node_id=2, policies=policies, weights={}, limits=LIMITS, random=lambda: 0.0)
    owner.rescue(at(-1))
    row = RunRow(job_id_of(1, 0), at(-30), at(-30), TenantId(1), 1, 1, 5, 0, 0, Reason.TRIGGERED, None)
    grant = GrantRow(0, grant_id_of(1, 1), WorkerId(7), at(-30), [row.job_id], [row.nominal_us], [1])
    owner.adopt(0, at(3600), [grant], [row], at(0), {WorkerId(7): heard_us})
    return owner


def given_up_after(owner: Owner, looks_s: list[float]) -> float | None:
    for look_s in looks_s:
        owner.rescue(at(look_s))
        if any(row.outcome is Outcome.LOST for row in owner.outbox.attempts):
            return look_s
    return None


def test_a_new_owner_gives_a_silent_worker_up_when_its_time_is_over():
    assert given_up_after(owner_with_a_grant(at(-7)), [1, 2, 3, 4, 5]) == 4
    assert given_up_after(owner_with_a_grant(at(-60)), [1]) == 1
    assert given_up_after(owner_with_a_grant(at(0)), list(range(1, 20))) == 11


def test_what_a_worker_says_to_the_new_owner_counts():
    owner = owner_with_a_grant(at(-9))
    owner.fleet.heard(WorkerId(7), at(0.5))
    assert given_up_after(owner, list(range(1, 20))) == 11
    assert owner.fleet.heard_since(at(0.4)) == []


def test_a_node_that_stalls_again_and_again_gives_up_all_the_same():
    assert given_up_after(owner_with_a_grant(at(0)), [3, 6, 9, 12, 15, 18, 21]) == 15


def test_a_node_that_stalled_once_first_reads_what_was_said_meanwhile():
    owner = owner_with_a_grant(at(-9))
    assert given_up_after(owner, [0, 4]) is None
    owner.fleet.heard(WorkerId(7), at(4.1))
    assert given_up_after(owner, [5, 6, 7, 8]) is None


def test_a_new_owner_is_told_of_workers_that_spoke_to_it_alone():
    owner = owner_with_a_grant(at(-5))
    assert owner.fleet.heard_since(0) == [], "what others heard is not kept again as this node's own"
    owner.fleet.serve(WorkerId(8), ["default"], ["t"], at(1))
    assert owner.fleet.heard_since(at(0)) == [(WorkerId(8), at(1))]
