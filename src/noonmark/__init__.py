"""Noonmark: cron as a service."""

from noonmark.app import App
from noonmark.client import Client, RunHandle, SyncClient, context, submit_in, submit_in_sync
from noonmark.model.job import Misfire
from noonmark.model.policy import Retry
from noonmark.version import __version__
from noonmark.when import at, cron, delay, english, every, interval, rrule, solar, times

__all__ = [
    "App",
    "Client",
    "Misfire",
    "Retry",
    "RunHandle",
    "SyncClient",
    "__version__",
    "at",
    "context",
    "cron",
    "delay",
    "english",
    "every",
    "interval",
    "rrule",
    "solar",
    "submit_in",
    "submit_in_sync",
    "times",
]
