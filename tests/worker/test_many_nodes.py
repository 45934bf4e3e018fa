"""One worker with few slots at many nodes: it holds no more than it has slots for, and leaves no node unasked."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from noonmark.clock import monotonic_s
from noonmark.model.reason import Outcome
from noonmark.wire.worker import ClaimAnswer, ReportAnswer
from noonmark.worker.execute import PATIENCE_S
from tests.worker import tasks
from tests.worker.peer import WITHIN_S, Peer

NODES = 50
SLOTS = 10


class Ledger:
    """What the worker holds at all nodes together, and the most that it ever held."""

    def __init__(self) -> None:
        self.held = self.most = self.granted = self.released = self.ended = 0
        self.changed = asyncio.Condition()

    async def note(self, *, granted: int = 0, released: int = 0, ended: int = 0) -> None:
        self.granted += granted
        self.released += released
        self.ended += ended
        self.held += granted - released - ended
        self.most = max(self.most, self.held)
        async with self.changed:
            self.changed.notify_all()

    async def until(self, *, held: int | None = None, ended: int | None = None) -> None:
        async with asyncio.timeout(WITHIN_S), self.changed:
            await self.changed.wait_for(
                lambda: (held is None or self.held == held) and (ended is None or self.ended == ended)
            )


class Counted(Peer):
    """Grants again what was handed back, as a node does."""

    def __init__(self, ledger: Ledger, number: int) -> None:
        super().__init__()
        self._granted = number << 16  # ids of grants and jobs are unique among nodes
        self.heartbeat_s = 1.0
        self._ledger = ledger
        self._given: dict[tuple[int, int], tuple] = {}

    async def _claim(self, body: bytes) -> ClaimAnswer | int:
        answer = await super()._claim(body)
        if isinstance(answer, ClaimAnswer):
            self._given |= {(run.job_id, run.nominal_us): (run, answer.terms[run.policy_id]) for run in answer.runs}
            await self._ledger.note(granted=len(answer.runs))
        return answer

    async def _report(self, body: bytes) -> ReportAnswer | int:
        before = len(self.reports)
        answer = await super()._report(body)
        new = self.reports[before:]
        back = [item for item in new if item.outcome == Outcome.RELEASED]
        self._ready += [self._given[item.job_id, item.nominal_us] for item in back]
        await self._ledger.note(released=len(back), ended=len(new) - len(back))
        return answer


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def peers(ledger: Ledger) -> AsyncIterator[list[Peer]]:
    peers: list[Peer] = [await Counted(ledger, number).start() for number in range(NODES)]
    for peer in peers:
        peer.listed = peers
    yield peers
    await asyncio.gather(*(peer.stop() for peer in peers))


async def test_it_never_claims_above_its_slots_where_all_nodes_have_work(peers, ledger, start):
    for peer in peers:
        for _ in range(3):
            await peer.grant("until_released")
    await start(peers[0], concurrency=SLOTS)
    await ledger.until(held=SLOTS)
    await asyncio.gather(*(peer.until(lambda peer=peer: len(peer.heartbeats) >= 2) for peer in peers))
    assert (ledger.most, ledger.released) == (SLOTS, 0)
    tasks.release.set()
    await ledger.until(ended=3 * NODES)
    assert all(peer.ends(Outcome.SUCCEEDED) for peer in peers), "a node was left unasked"


async def test_it_hands_back_at_once_what_idle_nodes_give_it_at_one_instant(peers, ledger, start):
    await start(peers[0], concurrency=SLOTS)
    await asyncio.gather(*(peer.until(lambda peer=peer: peer.claims) for peer in peers))
    for peer in peers:
        await peer.grant("until_released")
    began_s = monotonic_s()
    await ledger.until(held=SLOTS)
    assert monotonic_s() - began_s < PATIENCE_S, "it was handed back only because it had waited for so long"
    assert ledger.released == ledger.granted - SLOTS
    await asyncio.gather(*(peer.until(lambda peer=peer: len(peer.heartbeats) >= 3) for peer in peers))
    assert ledger.granted <= NODES, "what was handed back was claimed again although there was no room"
    tasks.release.set()
    await ledger.until(ended=NODES)


async def test_a_run_at_any_idle_node_is_taken_at_once(peers, ledger, start):
    await start(peers[0], concurrency=1)
    await asyncio.gather(*(peer.until(lambda peer=peer: peer.claims) for peer in peers))
    chance = random.Random(8)
    waited_s = []
    for _ in range(40):
        peer = chance.choice(peers)
        began_s = monotonic_s()
        await peer.end_of(await peer.grant("nothing"))
        waited_s.append(monotonic_s() - began_s)
    assert sorted(waited_s)[len(waited_s) // 2] < 0.1, waited_s
    assert ledger.released == 0
