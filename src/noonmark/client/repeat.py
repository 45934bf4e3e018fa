"""Which requests are sent again, and after which wait.

    nothing was done      `unavailable`, `not_owner`, `deadline_passed`, `too_busy`, no connection   always
    done in part          `partly_done`                                                              with a key
    unknown               `outcome_unknown`, a connection that broke                                 with a key

A POST or PATCH carries an `Idempotency-Key`, the same one each time that it is sent, so the server does it once however
often it arrives. A GET, PUT or DELETE needs none.
"""

import random
from collections.abc import Mapping
from uuid import uuid4

from noonmark import errors

RETRIES = 4
BACKOFF_S = 0.1
MAX_WAIT_S = 10.0
"""A server that asks for more patience than this gets its error raised, which says how long it asked for."""
KEY = "Idempotency-Key"
_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_READS = frozenset({"GET", "HEAD"})
_NOTHING_DONE = (errors.Unavailable, errors.TooBusy)
_UNCERTAIN = (errors.OutcomeUnknown, errors.PartlyDone)


class Repetition:
    """The fate of one call over all the times that it is sent."""

    def __init__(self, method: str, headers: Mapping[str, str] | None) -> None:
        self.headers = dict(headers or {})
        if method in ("POST", "PATCH"):
            self.headers.setdefault(KEY, uuid4().hex)
        self._method = method
        self._repeatable = method in _REPEATABLE or KEY in self.headers
        self._retries = 0
        self._unanswered = False

    def wait_s(self, error: errors.NoonmarkError) -> float:
        """How long to wait before it is sent again; raises the error if it must not be, or was often enough."""
        if not isinstance(error, _NOTHING_DONE) and not (self._repeatable and isinstance(error, _UNCERTAIN)):
            raise error
        self._unanswered |= isinstance(error, _UNCERTAIN)
        asked_s = float(getattr(error, "retry_after_s", 0.0))
        if self._retries == RETRIES or asked_s > MAX_WAIT_S:
            raise error
        backoff_s: float = BACKOFF_S * 2**self._retries * random.uniform(0.5, 1.0)
        self._retries += 1
        return max(backoff_s, asked_s)

    def done_before(self, error: errors.NoonmarkError) -> bool:
        """Whether the thing to delete is gone because an earlier, unanswered sending has deleted it."""
        return self._method == "DELETE" and self._unanswered and error.code == errors.NotFound.code


def no_answer(server: str, error: Exception, method: str, *, connected: bool) -> errors.NoonmarkError:
    """The error of a request without an answer: one that never arrived, or only reads, has done nothing."""
    why = f"no answer from {server}: {str(error) or type(error).__name__}"
    if connected and method not in _READS:
        return errors.OutcomeUnknown(why, fix="look whether it was done before sending it again")
    refusal = errors.Unavailable(why, fix="is the node running, and is the address right?")
    refusal.retry_after_s = 0.0
    return refusal
