"""What is tried again, how often, and how long the waits are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.base import BackboneFailed, ContextOverflow, Refusal
from agents.retry import AccessFailed, RetryOptions, Transient, retry_after, wait_before, with_retries


class Attempts:
    """Gives or raises the given outcomes in turn, and counts."""

    def __init__(self, *outcomes: str | Exception) -> None:
        self.outcomes = list(outcomes)
        self.made = 0

    def __call__(self) -> str:
        outcome = self.outcomes[self.made]
        self.made += 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def test_a_passing_failure_is_tried_again_and_counted() -> None:
    waits: list[float] = []
    told: list[str] = []
    attempts = Attempts(Transient("429: slow down", 12.0), Transient("500: oops", 3.0), "done")
    assert with_retries(attempts, RetryOptions(), sleep=waits.append, tell=told.append) == ("done", 2)
    assert waits == [12.0, 3.0]
    assert told == ["waiting 12 s: 429: slow down (retry 1 of 6)", "waiting 3 s: 500: oops (retry 2 of 6)"]


def test_success_at_once_waits_for_nothing() -> None:
    waits: list[float] = []
    assert with_retries(Attempts("done"), RetryOptions(), sleep=waits.append) == ("done", 0)
    assert waits == []


def test_used_up_retries_say_how_many_and_what_came_last() -> None:
    waits: list[float] = []
    attempts = Attempts(*[Transient(f"500: oops {n}") for n in range(5)])
    with pytest.raises(BackboneFailed, match=r"after 3 attempts; the last: 500: oops 2"):
        with_retries(attempts, RetryOptions(retries=2), sleep=waits.append)
    assert attempts.made == 3
    assert len(waits) == 2


@pytest.mark.parametrize("final", [ContextOverflow, Refusal, AccessFailed, BackboneFailed, KeyboardInterrupt])
def test_what_cannot_pass_is_not_tried_again(final: type[BaseException]) -> None:
    made = 0

    def attempt() -> str:
        nonlocal made
        made += 1
        raise final("no")

    with pytest.raises(final):
        with_retries(attempt, RetryOptions(), sleep=lambda _: pytest.fail("waited"))
    assert made == 1


def test_retry_after_is_capped() -> None:
    options = RetryOptions(longest_asked_wait=300)
    assert wait_before(1, options, "", asked=20) == 20
    assert wait_before(1, options, "", asked=86_400) == 300


@given(retry=st.integers(1, 40), key=st.text(max_size=20))
@settings(max_examples=50)
def test_waits_double_within_bounds_and_are_the_same_for_the_same_call(retry: int, key: str) -> None:
    options = RetryOptions(first_wait=2.0, longest_wait=50.0)
    wait = wait_before(retry, options, key)
    full = min(2.0 * 2 ** (retry - 1), 50.0)
    assert full / 2 <= wait <= full
    assert wait == wait_before(retry, options, key)


def test_waits_differ_between_calls() -> None:
    assert len({wait_before(1, RetryOptions(), f"seed {n}") for n in range(20)}) == 20


def test_retry_after_header() -> None:
    now = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after("7") == 7
    assert retry_after("1.5") == 1.5
    assert retry_after("-3") == 0
    assert retry_after("Sun, 01 Mar 2026 12:01:30 GMT", now) == 90
    assert retry_after("Sun, 01 Mar 2026 11:00:00 GMT", now) == 0
    for nothing in (None, "", "soon", "nan", "inf"):
        assert retry_after(nothing) is None
