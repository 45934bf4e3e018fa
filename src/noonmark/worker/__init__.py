"""The worker: asks nodes for runs, carries them out, and reports. `Worker` is loaded when first named."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noonmark.worker.worker import Worker

__all__ = ["Worker"]


def __getattr__(name: str) -> Any:
    if name == "Worker":
        from noonmark.worker.worker import Worker

        return Worker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
