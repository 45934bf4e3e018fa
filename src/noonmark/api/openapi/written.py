"""The OpenAPI document as it is committed: without a node, and indented so that a change can be read."""

import msgspec
from litestar import Litestar

from noonmark.api.app import routes
from noonmark.api.openapi.document import document


async def _call() -> None:
    """Stands in for what only a running node can provide."""


async def _node() -> None:
    """Likewise."""


async def _followers() -> None:
    """Likewise."""


def unattached() -> Litestar:
    """The routes, to be looked at only."""
    return routes({"call": _call, "node": _node, "followers": _followers})


def written() -> bytes:
    return msgspec.json.format(msgspec.json.encode(document(unattached())), indent=2) + b"\n"
