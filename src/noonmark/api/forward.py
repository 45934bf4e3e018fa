"""One request to another node: it was done, it was refused, it never arrived, or nobody knows.

A forwarded request carries `Noonmark-Forwarded: 1` and is never forwarded again: a node that does not own the shard
answers 503 not_owner. What never arrived (no connection, or not_owner) did nothing and may be sent again; a request
whose answer was lost is not repeated, because it may have been carried out.
"""

from collections.abc import Mapping

import aiohttp
import msgspec

from noonmark.api.problems import Relayed
from noonmark.errors import NoonmarkError, NotOwner, Unavailable
from noonmark.wire.resources import Problem

FORWARDED_HEADER = "Noonmark-Forwarded"
ORIGIN_HEADER = "Noonmark-Origin"
"""The address that the request first came from."""
_TIMEOUT = aiohttp.ClientTimeout(total=10, connect=2, sock_connect=2)
_KEEP_ALIVE_S = 3.0
"""Shorter than the server's (uvicorn: 5 s), so that we never write into a connection that it is closing."""
_MAX_CONNECTIONS = 100

_problem_decoder = msgspec.json.Decoder(Problem)


class NeverArrived(Unavailable):
    """No node got the request, or the one that did had just lost the shard: nothing was done."""


class AnswerLost(NoonmarkError):
    """The owner got the request, but its answer did not come back."""

    code, status, exit_code = "answer_lost", 504, 7


class Outbound(msgspec.Struct, frozen=True):
    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    body: bytes


class Forwarder:
    """Keeps connections to other nodes open; `close` ends them."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, address: str, request: Outbound) -> bytes:
        """The body of a good answer; Relayed, NeverArrived or AnswerLost otherwise."""
        headers = {**request.headers, FORWARDED_HEADER: "1"}
        url = address.rstrip("/") + request.path
        try:
            async with self._open().request(
                request.method, url, data=request.body, headers=headers, allow_redirects=False
            ) as answer:
                body = await answer.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NeverArrived(f"the node at {address}, which owns the shard, cannot be reached") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise AnswerLost(
                f"the node at {address} got the request, but its answer was lost",
                fix="look whether it was carried out before sending it again",
            ) from error
        if answer.status < 300:
            return body
        raise _refusal(address, answer.status, answer.headers.get("Retry-After"), body)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, keepalive_timeout=_KEEP_ALIVE_S)
            self._session = aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT, auto_decompress=False)
        return self._session


def _refusal(address: str, status: int, retry_after: str | None, body: bytes) -> NoonmarkError:
    try:
        problem = _problem_decoder.decode(body)
    except msgspec.DecodeError:
        return AnswerLost(f"the node at {address} answered {status} and nothing that could be read")
    if problem.code == NotOwner.code:
        return NeverArrived(problem.detail)
    return Relayed(problem, float(retry_after) if retry_after and retry_after.isdigit() else None)
