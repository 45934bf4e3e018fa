"""A child of `noonmark up` outlives it by no more than its own orderly stop.

The parent holds the other end of the child's standard input. When the parent is gone, however it went, the kernel
closes that end, and the child tells itself to stop. Works on every Unix, and has no race between fork and set-up.
"""

import os
import signal
import threading

LIFELINE = "NOONMARK_LIFELINE"


def hold_lifeline() -> None:
    """Call it once the process handles SIGTERM; no other code may read standard input, and children get no lifeline."""
    if os.environ.pop(LIFELINE, None):
        threading.Thread(target=_wait, name="noonmark-lifeline", daemon=True).start()


def _wait() -> None:
    while True:
        try:
            if not os.read(0, 1024):
                break
        except OSError:
            break
    os.kill(os.getpid(), signal.SIGTERM)
