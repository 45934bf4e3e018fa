"""A request as its route sees it: its caller, tenant and node, and how to have a command carried out."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

import msgspec

from noonmark.api.access.keyring import KeyRing
from noonmark.api.dispatch.request import Request
from noonmark.api.schedule_load import ScheduleLoad
from noonmark.api.validate import ID_PREFIX, Validator
from noonmark.clock import SECOND_US
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.caller import Caller
from noonmark.model.ids import JobId, parse_job, shard_for, shard_of
from noonmark.node.commands.key_commands import no_tenant
from noonmark.node.commands.once import known_answers, recall
from noonmark.node.node import Node
from noonmark.node.registry import change_registry
from noonmark.store.connect import Connection
from noonmark.store.reads.jobs import JobRecord, fetch_job_ids, fetch_jobs
from noonmark.store.requests import NO_SHARD
from noonmark.wire.commands import Answer, Command, RequestKey

TENANT_HEADER = "Noonmark-Tenant"
DEFAULT_TENANT = "default"
PATIENCE_S = 10.0
"""A command is worth carrying out for so long: ownership moves within about 5 seconds, even after kill -9."""

T = TypeVar("T")


class Call:
    def __init__(
        self,
        node: Node,
        validator: Validator,
        load: ScheduleLoad,
        keys: KeyRing,
        request: Request,
        tenant: str,
        tenant_id: int,
        key: RequestKey | None,
    ) -> None:
        self.node = node
        self.validator = validator
        self.load = load
        self.keys = keys
        self.caller = request.caller
        self.tenant = tenant
        self.tenant_id = tenant_id
        self._request = request
        self._key = key
        self._deadline_us = node.clock.now_us() + round(PATIENCE_S * SECOND_US)

    @property
    def now_us(self) -> int:
        return self.node.clock.now_us()

    def schedule_key(self, name: str) -> str:
        """The text that decides the H in the schedule of a job of this name."""
        return f"{self.tenant_id}/{name}"

    # Jobs by reference

    def shard_of_ref(self, ref: str) -> int:
        """`ref` is a job's id or its name; both lead to its shard."""
        if ref.startswith(ID_PREFIX):
            return shard_of(_job_id(ref))
        return shard_for(self.tenant_id, ref, self.node.shard_count)

    async def job(self, ref: str) -> JobRecord:
        job_id = _job_id(ref) if ref.startswith(ID_PREFIX) else await self._job_id_of_name(ref)
        found = await fetch_jobs(self.node.pool, self.tenant_id, [job_id])
        if job_id not in found:
            raise _no_job(ref)
        return found[job_id]

    async def _job_id_of_name(self, name: str) -> JobId:
        if "\0" in name:
            raise _no_job(name)
        known = await fetch_job_ids(self.node.pool, self.tenant_id, [(self.shard_of_ref(name), name)])
        if name not in known:
            raise _no_job(name)
        return known[name].job_id

    # Changes

    def asked(self, step: str = "") -> dict[str, Any]:
        """The fields that every command of this request carries. A request with several commands names each step."""
        key = self._key
        if key is not None and step:
            key = RequestKey(f"{key.text} {step}", key.fingerprint)
        return {"tenant_id": self.tenant_id, "caller": self.caller, "deadline_us": self._deadline_us, "key": key}

    async def perform(self, command: Command[Answer]) -> Answer:
        """Has the command carried out: durable when this returns, and once only if the request has a key."""
        done = await self.node.performed(command)
        self._request.replayed |= done.replayed
        return cast(Answer, done.answer)

    async def was_begun(self, command: Command[Any]) -> bool:
        """Whether the same request has been carried out before, or a part of it.

        Its own effects may be the reason why the checks ahead of the command would refuse it now.
        """
        return command.key is not None and bool(await recall(self.node.pool, command, self.now_us))

    async def was_done(self) -> bool:
        """Whether the same request was carried out before; for one whose subject may be gone since."""
        if self._key is None:
            return False
        known = await known_answers(self.node.pool, self.tenant_id, self._key, self.now_us)
        self._request.replayed |= bool(known)
        return bool(known)

    async def recall_answer(self, kind: type[T]) -> T | None:
        """The earlier answer to a request with many commands, if all of them were carried out before."""
        if self._key is None:
            return None
        known = await known_answers(self.node.pool, self.tenant_id, self._key, self.now_us)
        if NO_SHARD not in known:
            return None
        self._request.replayed = True
        return msgspec.json.decode(known[NO_SHARD], type=kind)

    async def keep_answer(self, answer: T) -> T:
        """Keeps the answer of such a request, at its end; if it is sent again before that, it does the rest."""
        if self._key is not None:

            async def done(_: Connection) -> T:
                return answer

            return await self.change_registry(done, type(answer))
        return answer

    async def change_registry(
        self, change: Callable[[Connection], Awaitable[T]], kind: type[T], *, secret: bool = False
    ) -> T:
        """Changes rows without an owner, once; an answer that holds a secret is not kept."""
        done = await change_registry(
            self.node.pool, self.tenant_id, self._key, self.now_us, change, kind, secret=secret
        )
        self._request.replayed |= done.replayed
        return cast(T, done.answer)


async def tenant_of(node: Node, caller: Caller, named: str | None) -> tuple[str, int]:
    """The name and id of the tenant that is meant: the one that the header names, else the key's own.

    A key that belongs to a tenant is refused any other without a look at whether that exists.
    """
    if caller.tenant is not None and caller.tenant_id is not None:
        if named not in (None, caller.tenant):
            raise no_tenant(str(named))
        return caller.tenant, caller.tenant_id
    name = DEFAULT_TENANT if named is None else named
    try:
        return name, await node.tenant_id(name)
    except NotFound:
        raise no_tenant(name) from None


def _job_id(ref: str) -> JobId:
    try:
        return parse_job(ref)
    except InvalidInput:
        raise _no_job(ref) from None


def _no_job(ref: str) -> NotFound:
    return NotFound(f"there is no job {ref[:80]!r}", field="job", fix="list the jobs: GET /v1/jobs")
