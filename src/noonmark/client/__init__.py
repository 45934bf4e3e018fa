"""The SDK: Noonmark from Python code, over HTTP or inside the caller's own SQL transaction."""

from noonmark.client.client import Client, Page
from noonmark.client.transaction import submit_in, submit_in_sync

__all__ = ["Client", "Page", "submit_in", "submit_in_sync"]
