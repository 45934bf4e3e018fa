"""What a process inherits from its parent, in one variable of its environment: open files, its number, its address."""

import os
import socket
import tempfile

import msgspec

from noonmark.api.server import Inherited

VARIABLE = "NOONMARK_PROCESS"


class Inheritance(msgspec.Struct, frozen=True):
    number: int
    public_address: str
    channel: int
    pages: list[int]


def bequeath(inheritance: Inheritance) -> dict[str, str]:
    return {VARIABLE: msgspec.json.encode(inheritance).decode()}


def inherit() -> Inheritance | None:
    """Call it once: processes that this one starts inherit nothing of it."""
    found = os.environ.pop(VARIABLE, None)
    return None if found is None else msgspec.json.decode(found, type=Inheritance)


def take_up(inheritance: Inheritance) -> Inherited:
    for descriptor in (inheritance.channel, *inheritance.pages):
        os.set_inheritable(descriptor, False)
    return Inherited(socket.socket(fileno=inheritance.channel), tuple(inheritance.pages))


def new_page() -> int:
    """A file without a name, gone with the last process that holds it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("noonmark-page")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
