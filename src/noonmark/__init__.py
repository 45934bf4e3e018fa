"""Noonmark: cron as a service."""

from noonmark.app import App, at, cron, every
from noonmark.client import Client, context, submit_in, submit_in_sync
from noonmark.model.job import Misfire
from noonmark.model.policy import Retry

__version__ = "0.1.0"

__all__ = [
    "App",
    "Client",
    "Misfire",
    "Retry",
    "__version__",
    "at",
    "context",
    "cron",
    "every",
    "submit_in",
    "submit_in_sync",
]
