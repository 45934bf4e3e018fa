"""The SDK: Noonmark from Python code, over HTTP or inside the caller's own SQL transaction."""

from noonmark.client.client import Client
from noonmark.client.current import Context, context
from noonmark.client.handle import RunHandle
from noonmark.client.pages import Page
from noonmark.client.sync.client import SyncClient
from noonmark.client.sync.handle import SyncRunHandle
from noonmark.client.transaction import submit_in, submit_in_sync

__all__ = [
    "Client",
    "Context",
    "Page",
    "RunHandle",
    "SyncClient",
    "SyncRunHandle",
    "context",
    "submit_in",
    "submit_in_sync",
]
