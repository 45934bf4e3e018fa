"""Idempotency-Key: a change that is sent again is not carried out again, and gets the answer of the first time.

The key travels with the command, and the owner writes it in the transaction of its effect (node/commands/once.py). Rows
without an owner, such as API keys and tenants, are changed in one transaction with the key (node/registry.py).

A request is the same if caller, tenant, path, query and body are: anything else under its key is refused. A refusal is
not kept, for nothing was done.
"""

import hashlib
import re

import msgspec

from noonmark.api.dispatch.request import Request
from noonmark.errors import InvalidInput
from noonmark.wire.commands import RequestKey

KEY_HEADER = "Idempotency-Key"
READS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_KEY = 255
_KEY = re.compile(rf"[!-~]{{1,{MAX_KEY}}}")


async def request_key(request: Request, tenant_id: int) -> RequestKey | None:
    text = request.header(KEY_HEADER)
    if text is None or request.method in READS:
        return None
    if _KEY.fullmatch(text) is None:
        fix = f"send 1 to {MAX_KEY} printable ASCII characters without spaces, such as a UUID"
        raise InvalidInput(KEY_HEADER, f"{text[:40]!r} is no key", fix)
    caller = request.caller
    said = msgspec.json.encode((request.method, request.target, tenant_id, caller.key_id, caller.name))
    return RequestKey(text, hashlib.sha256(said + b"\n" + await request.body()).digest())
