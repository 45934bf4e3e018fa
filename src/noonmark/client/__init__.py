"""The SDK: Noonmark from Python code, over HTTP or inside the caller's own SQL transaction."""

from noonmark.client.client import Client, Page
from noonmark.client.current import Context, context
from noonmark.client.transaction import submit_in, submit_in_sync

__all__ = ["Client", "Context", "Page", "context", "submit_in", "submit_in_sync"]
