"""A command on its way to another node, and back its answer.

    POST {address}/v1/node/commands     the command as JSON, signed with the secret that all nodes read in the database
        200   done                      the answer, and whether it was an earlier one
        503   not_owner, …              nothing was done
        else  a refusal, as any caller would get it
    no connection                       nothing was done
    the connection broke, no answer,
    one that cannot be read             nobody knows

A command that arrives late is dropped by its deadline, so a message that was held up on the way does no harm.
"""

import hashlib
import hmac
from typing import Any

import aiohttp
import msgspec

from noonmark.clock import SECOND_US
from noonmark.errors import NoonmarkError, NotOwner, OutcomeUnknown
from noonmark.wire.commands import ANSWERS, AnyCommand, Command
from noonmark.wire.problems import error_of

PATH = "/v1/node/commands"
SIGNATURE_HEADER = "Noonmark-Signature"
_KEEP_ALIVE_S = 3.0
"""Shorter than the server's (uvicorn: 5 s), so that we never write into a connection that it is closing."""
_CONNECT_S = 2.0
_MORE_S = 1.0
"""How much longer than the command's deadline its answer is waited for."""
_MAX_CONNECTIONS = 100

_commands = msgspec.json.Decoder(AnyCommand)


class Performed(msgspec.Struct, frozen=True):
    answer: Any
    replayed: bool
    """It was done before under the same key, and this is the answer from then."""


class _Sent(msgspec.Struct, frozen=True):
    answer: msgspec.Raw
    replayed: bool


def sign(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def read_command(secret: str, body: bytes, signature: str) -> Command[Any] | None:
    """None if no node has sent it. A node that has not read the secret yet believes nobody."""
    if not secret or not hmac.compare_digest(sign(secret, body).encode(), signature.encode()):
        return None
    command: Command[Any] = _commands.decode(body)
    return command


class NodeTransport:
    """Keeps connections to other nodes open; `close` ends them."""

    def __init__(self) -> None:
        self.secret = ""
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, address: str, command: Command[Any], now_us: int) -> Performed:
        body = msgspec.json.encode(command)
        headers = {SIGNATURE_HEADER: sign(self.secret, body), "Content-Type": "application/json"}
        wait_s = max(0.0, (command.deadline_us - now_us) / SECOND_US) + _MORE_S
        timeout = aiohttp.ClientTimeout(total=wait_s, connect=_CONNECT_S, sock_connect=_CONNECT_S)
        try:
            async with self._open().post(address + PATH, data=body, headers=headers, timeout=timeout) as answer:
                content = await answer.read()
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotOwner(f"the node at {address}, which owns the shard, cannot be reached") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _lost(address) from error
        if answer.status == 200:
            return _read_answer(address, command, content)
        raise _refusal(address, answer.status, content, answer.headers.get("Retry-After"))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=_MAX_CONNECTIONS, keepalive_timeout=_KEEP_ALIVE_S)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        return self._session


def _read_answer(address: str, command: Command[Any], content: bytes) -> Performed:
    try:
        sent = msgspec.json.decode(content, type=_Sent)
        return Performed(msgspec.json.decode(sent.answer, type=ANSWERS[type(command)]), sent.replayed)
    except msgspec.MsgspecError as error:
        raise _lost(address) from error


def _lost(address: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"the node at {address} got the request, but its answer was lost",
        fix="send it again with the same Idempotency-Key, or look first",
    )


def _refusal(address: str, status: int, body: bytes, retry_after: str | None) -> NoonmarkError:
    error = error_of(status, body, retry_after)
    return _lost(address) if type(error) is NoonmarkError else error
