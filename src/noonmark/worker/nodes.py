"""Nodes as the worker sees them: one address each, the four calls of the protocol, and whether it answers.

A node is *known* from a list that some node sent, *registered* once it has accepted the worker, and *reachable* while
its answers come. It is forgotten when it is missing from the latest list and does not answer.
"""

import asyncio
import random
from typing import TYPE_CHECKING, TypeVar

import msgspec

from noonmark.clock import MonotonicClock
from noonmark.errors import Unauthorized
from noonmark.wire.worker import (
    Claim,
    ClaimAnswer,
    Heartbeat,
    HeartbeatAnswer,
    Register,
    Registered,
    Report,
    ReportAnswer,
    ReportItem,
)

if TYPE_CHECKING:
    import aiohttp

CONTENT_TYPE = "application/msgpack"
CALL_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 2.0
_T = TypeVar("_T")

_encoder = msgspec.msgpack.Encoder()
_registered = msgspec.msgpack.Decoder(Registered)
_claimed = msgspec.msgpack.Decoder(ClaimAnswer)
_heartbeaten = msgspec.msgpack.Decoder(HeartbeatAnswer)
_reported = msgspec.msgpack.Decoder(ReportAnswer)


class NodeError(Exception):
    """A call to a node did not work."""


class Unreachable(NodeError):
    """No usable answer: refused, timed out, or an error of the server."""


class NotRegistered(NodeError):
    """410: register again."""


class NotTheOwner(NodeError):
    """421: another node decides all of these."""


class Unacceptable(NodeError):
    """400, 413, 422: the node will never take this message."""


def connect(token: str | None) -> "aiohttp.ClientSession":
    import aiohttp

    headers = {"Content-Type": CONTENT_TYPE, "Accept": CONTENT_TYPE, "Accept-Encoding": "identity"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0)
    return aiohttp.ClientSession(connector=connector, headers=headers, cookie_jar=aiohttp.DummyCookieJar())


class Backoff:
    """Waits that grow from 20 ms to a second, with jitter, until something works."""

    def __init__(self) -> None:
        self._failures = 0

    def reset(self) -> None:
        self._failures = 0

    def next_s(self) -> float:
        self._failures += 1
        return min(1.0, 0.02 * 2.0 ** min(self._failures, 10)) * random.uniform(0.5, 1.0)


class NodeClient:
    def __init__(self, address: str, session: "aiohttp.ClientSession", clock: MonotonicClock) -> None:
        self.address = address.rstrip("/")
        self._session = session
        self._clock = clock
        self.reachable = True
        self.registered = asyncio.Event()
        self.lapsed = asyncio.Event()
        """Set to have the heartbeat loop register again at once."""
        self.busy = asyncio.Event()
        """Set while its claims come back full, so that more of them at a time are worthwhile."""
        self.asked = 0
        """Runs asked for in claims that are on their way."""
        self.expected = 0
        """Those of them that may come any moment; see `demand`."""
        self.idle = False
        """Its last claim hung or came back empty: the next one is on credit."""
        self.never: list[int] = []
        """The next heartbeat denies these: grants that the node asked about and the worker never had."""
        self.outbox: list[ReportItem] = []
        self.outbox_filled = asyncio.Event()

    def __repr__(self) -> str:
        return f"<Node {self.address}>"

    def lapse(self) -> None:
        """The node does not know the worker (any more)."""
        self.registered.clear()
        self.lapsed.set()

    def put(self, item: ReportItem) -> None:
        self.outbox.append(item)
        self.outbox_filled.set()

    async def register(self, message: Register) -> Registered:
        answer = await self._call("register", message, _registered, CALL_TIMEOUT_S)
        self.lapsed.clear()
        self.registered.set()
        return answer

    async def claim(self, message: Claim) -> ClaimAnswer:
        return await self._call("claim", message, _claimed, message.wait_s + CALL_TIMEOUT_S, observe=False)

    async def heartbeat(self, message: Heartbeat, timeout_s: float = CALL_TIMEOUT_S) -> HeartbeatAnswer:
        return await self._call("heartbeat", message, _heartbeaten, timeout_s)

    async def report(self, message: Report) -> ReportAnswer:
        return await self._call("report", message, _reported, CALL_TIMEOUT_S)

    async def _call(
        self, verb: str, message: object, answers: msgspec.msgpack.Decoder[_T], timeout_s: float, observe: bool = True
    ) -> _T:
        import aiohttp

        before_s = self._clock.elapsed_s()
        try:
            async with self._session.post(
                f"{self.address}/v1/worker/{verb}",
                data=_encoder.encode(message),
                timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S),
            ) as response:
                body = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.reachable = False
            raise Unreachable(f"{verb}: {str(error) or type(error).__name__}") from None
        self.reachable = response.status < 500
        match response.status:
            case 200:
                pass
            case 410:
                self.lapse()
                raise NotRegistered
            case 421:
                raise NotTheOwner
            case 400 | 413 | 422:
                raise Unacceptable(f"{verb}: {body[:200].decode(errors='replace')}")
            case 401:
                raise Unauthorized(f"{self.address} refuses this worker", fix="pass a valid key: --token nmk_…")
            case 403:
                raise Unauthorized(
                    f"{self.address} refuses this worker: its key is not a worker's",
                    fix="use a key with the role worker, for no tenant",
                )
            case status:
                raise Unreachable(f"{verb}: the node answered {status}: {body[:200].decode(errors='replace')}")
        try:
            answer = answers.decode(body)
        except msgspec.MsgspecError as error:
            raise Unreachable(f"{verb}: unreadable answer: {error}") from None
        if observe:
            now_us: int = answer.now_us  # type: ignore[attr-defined]
            self._clock.observe(before_s, now_us, self._clock.elapsed_s())
        return answer
