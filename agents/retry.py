"""Trying again: which failures of a provider pass, and how long to wait for them.

Not retried, whatever happens: context overflow, refusal, and what only the user can mend (`AccessFailed`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from agents.base import BackboneFailed

T = TypeVar("T")
Tell = Callable[[str], None]


def silent(_: str) -> None:
    """The `tell` that says nothing."""


class AccessFailed(BackboneFailed):
    """Key, address, model name, parameters or credit: every further call would fail the same way.

    A run should stop on it, rather than record each of its tasks as failed.
    """


class Transient(Exception):
    """A failure that may pass: rate limit, server error, timeout, dropped connection, empty reply.

    `wait` is what the provider asked for (Retry-After), in seconds, or None.
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


@dataclass(frozen=True)
class RetryOptions:
    """How often and how long to wait. All values are [ours]."""

    retries: int = 6
    """Further attempts after the first."""
    first_wait: float = 1.0
    """Seconds before the second attempt; doubled for each later one."""
    longest_wait: float = 60.0
    """Seconds a wait of our own may take."""
    longest_asked_wait: float = 300.0
    """Seconds up to which a provider's Retry-After is honoured."""


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds asked for by a Retry-After header (a number or an HTTP date), None if it holds neither."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (TypeError, ValueError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    # nan compares false with everything, so it ends here as well
    return max(seconds, 0.0) if seconds < float("inf") else None


def wait_before(retry: int, options: RetryOptions, key: str, asked: float | None = None) -> float:
    """Seconds to wait before the retry numbered from 1.

    Doubling waits, each scaled into [1/2, 1] by a jitter drawn from `key` and the retry's number: runs in
    parallel spread out, and the same run waits the same. What the provider asked for goes first.
    """
    if asked is not None:
        return min(asked, options.longest_asked_wait)
    longest = min(options.first_wait * 2.0 ** (retry - 1), options.longest_wait)
    return longest * (0.5 + 0.5 * random.Random(f"{key}\n{retry}").random())


def with_retries(
    attempt: Callable[[], T],
    options: RetryOptions,
    *,
    key: str = "",
    sleep: Callable[[float], None] = time.sleep,
    tell: Tell = silent,
) -> tuple[T, int]:
    """What `attempt` gives, and how many retries it took.

    Only `Transient` is retried. Raises BackboneFailed once the retries are used up; any other
    exception of `attempt` passes through at once.
    """
    from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

    def pause(state: RetryCallState) -> float:
        failed = state.outcome.exception() if state.outcome else None
        asked = failed.wait if isinstance(failed, Transient) else None
        return wait_before(state.attempt_number, options, key, asked)

    def announce(state: RetryCallState) -> None:
        failed = state.outcome.exception() if state.outcome else None
        seconds = state.next_action.sleep if state.next_action else 0.0
        tell(f"waiting {seconds:.0f} s: {failed} (retry {state.attempt_number} of {options.retries})")

    retrying = Retrying(
        stop=stop_after_attempt(options.retries + 1),
        wait=pause,
        retry=retry_if_exception_type(Transient),
        sleep=sleep,
        before_sleep=announce,
        reraise=True,
    )
    try:
        result = retrying(attempt)
    except Transient as failed:
        raise BackboneFailed(f"no reply after {options.retries + 1} attempts; the last: {failed}") from None
    return result, int(retrying.statistics["attempt_number"]) - 1
