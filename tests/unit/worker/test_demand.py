"""How much a worker asks for."""

from noonmark.worker.demand import Demand


def paced(demand: Demand, per_s: int, seconds: int = 5) -> Demand:
    for _ in range(seconds * 10):
        demand.observe(finished=per_s // 10, handed_back=0, elapsed_s=0.1)
    return demand


def test_an_idle_worker_asks_each_node_for_its_share_of_the_slots():
    demand = Demand(slots=100, claim_max=500)
    assert demand.ask(running=0, waiting=0, nodes=1, asked=0) == 100
    assert demand.ask(running=0, waiting=0, nodes=3, asked=0) == 34
    assert demand.ask(running=0, waiting=0, nodes=2, expected=34) == 33
    assert demand.ask(running=0, waiting=0, nodes=1, expected=67) == 33
    assert demand.ask(running=0, waiting=0, nodes=1, expected=100) == 0


def test_what_it_asks_of_nodes_with_work_is_never_above_its_room():
    demand = Demand(slots=10, claim_max=500)
    expected = 0
    for left in range(50, 0, -1):
        expected += demand.ask(running=0, waiting=0, nodes=left, expected=expected)
    assert expected == 10


def test_what_it_cannot_start_soon_is_too_much():
    demand = Demand(slots=10, claim_max=500)
    assert demand.excess(running=8, waiting=0, granted=2) == 0
    assert demand.excess(running=8, waiting=0, granted=5) == 3
    assert demand.excess(running=10, waiting=4, granted=3) == 3
    assert paced(demand, per_s=100).excess(running=10, waiting=0, granted=30) == 5


def test_a_full_worker_with_long_tasks_asks_for_nothing_and_fetches_nothing_ahead():
    demand = paced(Demand(slots=10, claim_max=500), per_s=0)
    assert demand.ask(running=10, waiting=0, nodes=1, asked=0) == 0
    assert demand.ask(running=9, waiting=0, nodes=2, asked=0) == 1


def test_a_fast_worker_fetches_ahead_but_not_one_by_one():
    demand = paced(Demand(slots=100, claim_max=500), per_s=20_000)
    assert demand.ask(running=100, waiting=0, nodes=1, asked=0) == 500
    assert demand.ask(running=100, waiting=1950, nodes=1, asked=0) == 0


def test_no_claim_is_above_its_bound():
    assert Demand(slots=10_000, claim_max=500).ask(running=0, waiting=0, nodes=1, asked=0) == 500


def test_handing_back_narrows_what_may_wait_until_it_has_been_quiet_for_a_while():
    demand = Demand(slots=100, claim_max=500)
    for _ in range(10):
        demand.observe(finished=0, handed_back=50, elapsed_s=0.1)
    assert demand.ask(running=2, waiting=0, nodes=1, asked=0) == 1
    assert demand.ask(running=2, waiting=1, nodes=1, asked=0) == 0
    paced(demand, per_s=0, seconds=20)
    assert demand.ask(running=2, waiting=0, nodes=1, asked=0) == 98
