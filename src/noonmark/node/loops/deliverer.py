"""Delivers notices: the node's own worker for the runs of `noonmark.deliver`.

Deliveries are ordinary runs: retried, dead-lettered and kept in history by the same rules. They are carried out here,
not by workers, because a job is late or silent above all when there are no workers, and because the secrets that sign
webhooks then never leave the nodes. One loop claims and another says which grants are held, by the worker protocol but
without the HTTP between. They do nothing until there is a subscription.
"""

import asyncio

import msgspec
import structlog

from noonmark.clock import monotonic_s, to_datetime
from noonmark.model.ids import WorkerId
from noonmark.model.notice import DELIVER_QUEUE, DELIVER_TASK, DELIVERY_REFUSED
from noonmark.model.reason import Outcome
from noonmark.node import dispatch
from noonmark.node.life import Life
from noonmark.node.loop import Loop
from noonmark.notify.send import Refused, Sender, Undelivered
from noonmark.store.notices import load_target
from noonmark.wire.worker import Claim, Heartbeat, Register, Report, ReportItem, RunGrant

MAX_AT_ONCE = 32
_UNDELIVERED = "noonmark.Undelivered"
_WAIT_S = 20.0

log = structlog.get_logger("noonmark.deliverer")


class _Event(msgspec.Struct, frozen=True):
    id: str
    type: str


class DelivererLoop(Loop):
    name = "deliverer"
    vital = False
    """A notice that fails to go out must not end the life of the node."""

    def __init__(self, life: Life, subscribed: asyncio.Event) -> None:
        super().__init__(0.0)  # a tick waits for deliveries by itself
        self._life = life
        self._subscribed = subscribed
        self._sender = Sender(private=life.config.private_webhooks)
        self._worker_id = 0
        self._going: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._grants: dict[int, int] = {}
        """How many runs of each grant are still going."""
        self._stopped: set[tuple[int, int]] = set()
        """Runs that were cancelled."""
        self._room = asyncio.Event()

    async def start(self) -> None:
        await self._subscribed.wait()
        await self._sender.__aenter__()

    async def stop(self) -> None:
        for task in self._going.values():
            task.cancel()
        await self._sender.__aexit__(None, None, None)

    async def tick(self) -> None:
        """Claims as many notices as there is room for, and begins to deliver them."""
        if not self._life.owner.fleet.knows(WorkerId(self._worker_id)):
            await self._register()
        self._room.clear()
        free = MAX_AT_ONCE - len(self._going)
        if free == 0:
            await self._room.wait()
            return
        answer = await dispatch.claim(self._life, Claim(self._worker_id, free, _WAIT_S), None)
        if answer.runs:
            self._grants[answer.grant] = len(answer.runs)
        for run in answer.runs:
            timeout_s = answer.terms[run.policy_id].timeout_s
            self._going[run.job_id, run.nominal_us] = asyncio.create_task(self._carry_out(answer.grant, run, timeout_s))

    async def beat(self) -> None:
        """Says which grants are held, and stops deliveries that were cancelled."""
        if not self._life.owner.fleet.knows(WorkerId(self._worker_id)):
            return
        answer = await dispatch.heartbeat(self._life, Heartbeat(self._worker_id, list(self._grants)), None)
        for key in answer.cancel:
            if key in self._going and key not in self._stopped:
                self._stopped.add(key)
                self._going[key].cancel()

    async def _register(self) -> None:
        name = f"node {self._life.node_id}, notifications"
        message = Register(name, [DELIVER_QUEUE], [DELIVER_TASK], MAX_AT_ONCE, self._worker_id)
        self._worker_id = (await dispatch.register(self._life, message, None)).worker

    async def _carry_out(self, grant: int, run: RunGrant, timeout_s: float) -> None:
        key = (run.job_id, run.nominal_us)
        started_us = self._life.clock.now_us()
        outcome, kind, error, result = Outcome.SUCCEEDED, None, None, None
        try:
            async with asyncio.timeout(timeout_s):
                result = await self._deliver(run)
        except asyncio.CancelledError:
            if key not in self._stopped:
                raise  # the node stops: the next owner grants it again
            outcome = Outcome.CANCELLED
        except TimeoutError:
            outcome, error = Outcome.TIMED_OUT, f"it took longer than its timeout of {timeout_s:g} s"
        except Refused as refused:
            outcome, kind, error = Outcome.FAILED, DELIVERY_REFUSED, str(refused)
        except Undelivered as failed:
            outcome, kind, error = Outcome.FAILED, _UNDELIVERED, str(failed)
        except Exception as failed:
            log.exception("a delivery failed in an unforeseen way")
            outcome, kind, error = Outcome.FAILED, type(failed).__name__, f"{type(failed).__name__}: {failed}"
        finished_us = self._life.clock.now_us()
        item = ReportItem(
            grant, run.job_id, run.nominal_us, run.attempt, outcome, started_us, finished_us, kind, error, result
        )
        try:
            await dispatch.report(self._life, Report(self._worker_id, [item]), None)
        except Exception as lost:
            log.warning("the end of a delivery was not reported", error=str(lost))
        finally:
            self._stopped.discard(key)
            del self._going[key]
            self._grants[grant] -= 1
            if not self._grants[grant]:
                del self._grants[grant]
            self._room.set()

    async def _deliver(self, run: RunGrant) -> str:
        target = await load_target(self._life.pool, run.job_id)
        if target is None:
            raise Refused("no subscription delivers by this job")
        body = run.input or "null"
        try:
            event = msgspec.json.decode(body, type=_Event)
        except msgspec.MsgspecError as error:
            raise Refused(f"the input is no notice: {error}") from None
        began_s = monotonic_s()
        result: dict[str, object] = {"event": event.id, "type": event.type}
        if target.kind == "webhook":
            secrets = [secret for secret in (target.secret, target.old_secret) if secret]
            now = to_datetime(self._life.clock.now_us())
            result["status"] = await self._sender.webhook(target.url, secrets, event.id, body, now)
        else:
            await self._sender.apprise(target.url, body)
        result["took_ms"] = round((monotonic_s() - began_s) * 1000)
        return msgspec.json.encode(result).decode()


class DeliveryHeartbeatLoop(Loop):
    name = "delivery-heartbeat"
    vital = False

    def __init__(self, life: Life, deliverer: DelivererLoop) -> None:
        super().__init__(life.config.heartbeat_s)
        self._deliverer = deliverer

    async def tick(self) -> None:
        await self._deliverer.beat()
