"""Which addresses are on the public internet."""

import socket

import pytest

from noonmark.notify.addresses import PrivateAddress, PublicResolver, as_address, check_host, check_resolved, is_public


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::8.8.8.8"])
def test_public(address: str) -> None:
    assert is_public(address)
    check_host(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "ff02::1",
    ],
)  # fmt: skip
def test_private(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(PrivateAddress):
        check_host(address)


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "017700000001", "localhost", "api.LOCALHOST."])
def test_other_spellings_of_this_machine(host: str) -> None:
    with pytest.raises(PrivateAddress):
        check_host(host)


def test_a_name_is_not_an_address() -> None:
    assert as_address("example.com") is None
    check_host("example.com")


async def test_a_name_is_judged_by_the_addresses_it_leads_to() -> None:
    resolver = PublicResolver()
    with pytest.raises(PrivateAddress):
        await resolver.resolve("localhost", 80, socket.AF_INET)
    await resolver.close()
    with pytest.raises(PrivateAddress):
        await check_resolved("ip6-localhost" if _leads("ip6-localhost") else "localhost")
    await check_resolved("no-such-host.invalid")


def _leads(host: str) -> bool:
    try:
        return bool(socket.getaddrinfo(host, None))
    except OSError:
        return False
