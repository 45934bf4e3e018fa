"""Which addresses a node may send to. Without this, a subscription could reach servers that only the node can."""

import asyncio
import ipaddress
import socket
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class PrivateAddress(OSError):
    """The target is not on the public internet, and this node sends nowhere else."""


def is_public(address: str) -> bool:
    """Of a numeric address; one that carries an IPv4 address inside is judged by that."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(str(inner))
    return found.is_global and not found.is_multicast


def as_address(host: str) -> str | None:
    """The host if it is a numeric address. Old spellings of one (`127.1`, `0x7f000001`) count as well."""
    try:
        return str(ipaddress.ip_address(host.strip("[]").partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return None


def check_host(host: str) -> None:
    """Refuses addresses that are wrong before any name is looked up."""
    numeric = as_address(host)
    name = host.rstrip(".").lower()
    if (numeric is not None and not is_public(numeric)) or name == "localhost" or name.endswith(".localhost"):
        raise PrivateAddress(f"{host} is not on the public internet")


async def check_resolved(host: str) -> None:
    """Refuses a name that leads to a private address; one that leads nowhere fails when it is used."""
    check_host(host)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return
    for *_, place in found:
        if not is_public(str(place[0])):
            raise PrivateAddress(f"{host} leads to {place[0]}, which is not on the public internet")


class PublicResolver(AbstractResolver):
    """Looks at the very addresses that will be connected to, so a name cannot change its mind in between."""

    def __init__(self) -> None:
        self._inner = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        for one in found:
            if not is_public(one["host"]):
                raise PrivateAddress(f"{host} leads to {one['host']}, which is not on the public internet")
        return found

    async def close(self) -> None:
        await self._inner.close()


def connector_settings(*, private: bool) -> dict[str, Any]:
    return {} if private else {"resolver": PublicResolver(), "use_dns_cache": False}
