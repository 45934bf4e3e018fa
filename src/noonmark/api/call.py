"""What a route knows of its request: the tenant, the node, and the way to the owner of a shard."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from noonmark.api.access.keyring import KeyRing
from noonmark.api.crowd import Crowd
from noonmark.api.dispatch.request import Request
from noonmark.api.forward import FORWARDED_HEADER, ORIGIN_HEADER, Forwarder, Outbound
from noonmark.api.owners import Parts, at_owners
from noonmark.api.ports import NodePort
from noonmark.api.validate import ID_PREFIX, Validator
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.ids import JobId, parse_job, shard_for, shard_of
from noonmark.node.commands.asking import asked_by
from noonmark.node.commands.key_commands import no_tenant
from noonmark.store.reads.jobs import JobRecord, fetch_job_ids, fetch_jobs

TENANT_HEADER = "Noonmark-Tenant"
DEFAULT_TENANT = "default"
_PASSED_ON = ("Authorization", TENANT_HEADER, "Content-Type", "If-Match", "If-None-Match", "User-Agent")

Item = TypeVar("Item")
Done = TypeVar("Done")


class Call:
    def __init__(
        self,
        node: NodePort,
        validator: Validator,
        forwarder: Forwarder,
        crowd: Crowd,
        keys: KeyRing,
        request: Request,
        tenant: str,
        tenant_id: int,
    ) -> None:
        self.node = node
        self.validator = validator
        self.crowd = crowd
        self.keys = keys
        self.caller = asked_by()
        self.tenant = tenant
        self.tenant_id = tenant_id
        self._forwarder = forwarder
        self._request = request
        self._forwarded = request.header(FORWARDED_HEADER) is not None

    @property
    def now_us(self) -> int:
        return self.node.clock.now_us()

    def schedule_key(self, name: str) -> str:
        """What decides the H in the schedule of a job of this name."""
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

    # Commands at the owner

    async def at_owner(self, shard: int, command: Callable[[], Awaitable[Done]], answer: type[Done]) -> Done:
        """Does the command here, or passes the whole request on and reads the owner's answer."""

        async def here(_: list[None]) -> list[Done]:
            return [await command()]

        async def there(address: str, _: list[None]) -> list[Done]:
            body = bytes(await self._request.body())
            outbound = Outbound(self._request.method, self._request.target, self._passed_on(), body)
            return [msgspec.json.decode(await self._forwarder.send(address, outbound) or b"null", type=answer)]

        parts: Parts[None, Done] = Parts([None], [shard], here=here, there=there, label=str)
        return (await at_owners(self.node, parts, forwarded=self._forwarded))[0]

    async def at_owners(
        self,
        items: Sequence[Item],
        shards: Sequence[int],
        *,
        here: Callable[[list[Item]], Awaitable[list[Done]]],
        body: Callable[[list[Item]], object],
        read: Callable[[bytes, int], list[Done]],
        label: Callable[[int], str],
    ) -> list[Done]:
        """Does a batch, part by part; an owner elsewhere gets its part at the same path, as a batch of its own."""

        async def there(address: str, part: list[Item]) -> list[Done]:
            outbound = Outbound(
                self._request.method, self._request.path, self._passed_on(), msgspec.json.encode(body(part))
            )
            return read(await self._forwarder.send(address, outbound), len(part))

        parts = Parts(items, shards, here=here, there=there, label=label)
        return await at_owners(self.node, parts, forwarded=self._forwarded)

    def _passed_on(self) -> dict[str, str]:
        passed = {name: value for name in _PASSED_ON if (value := self._request.header(name)) is not None}
        return passed if self.caller.address is None else {**passed, ORIGIN_HEADER: self.caller.address}


async def tenant_of(node: NodePort, named: str | None) -> tuple[str, int]:
    """The name and id of the tenant that is meant: the one that the header names, else the key's own.

    A key that belongs to a tenant is refused any other without a look at whether that exists.
    """
    caller = asked_by()
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
