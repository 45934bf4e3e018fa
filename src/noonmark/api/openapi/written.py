"""The OpenAPI document as it is committed: without a node, and indented so that a change can be read."""

import msgspec

from noonmark.api.openapi.document import document
from noonmark.api.table import TABLE


def written() -> bytes:
    return msgspec.json.format(msgspec.json.encode(document(TABLE)), indent=2) + b"\n"
