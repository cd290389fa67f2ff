"""What a run costs per task: tokens, rounds, steps, seconds, calls and money.

Per-task numbers are means over tasks that did not fail, from the attempt that counts; money is all that
was spent, retries and failed tasks included. Tokens of an episode are those of the roles that work
during it (act, plan, retrieve): with acting calls alone EvoWeave's own table adds up for every
baseline (input less injected is about 5,600 tokens a round), so judge and write are kept apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from agents.base import ROLES
from harness.load import Run

EPISODE_ROLES = ("act", "plan", "retrieve")


@dataclass(frozen=True)
class Efficiency:
    """Means per task of one run."""

    injected: float
    """Injected tokens, summed over the task's acting calls."""
    injected_per_call: float
    injected_once: float
    """Injected tokens, each text once."""
    lines: float
    """Injected lines, each text once."""
    input: float
    """Input tokens of the episode."""
    cache_percent: float
    """Share of the episode's input tokens read from the provider's prompt cache."""
    output: float
    """Output tokens of the episode."""
    rounds: float
    steps: float
    seconds_round: float
    """Seconds of the whole task over its rounds, as a ratio of sums."""
    seconds: float
    """Seconds of the whole task (latency)."""
    calls: dict[str, float]
    """Backbone calls by role."""
    learning_input: float
    """Input tokens of judging and writing."""
    learning_output: float
    cost: float | None
    """US dollars a task, all attempts; None if a price is unknown."""
    estimated: bool
    """Whether any token count is an estimate of ours."""


def efficiency(run: Run) -> Efficiency | None:
    """The efficiency of one run, None if none of its tasks counts."""
    import numpy as np

    tasks = run.tasks[~run.tasks["failed"]]
    n = len(tasks)
    if not n:
        return None
    attempts = {
        (int(task), int(attempt)) for task, attempt in zip(tasks["number"], tasks["attempt"], strict=True)
    }
    calls = run.calls
    pairs = zip(calls["task"].tolist(), calls["attempt"].tolist(), strict=True)
    kept = calls.loc[np.array([pair in attempts for pair in pairs], dtype=bool)]
    episode = kept[kept["role"].isin(EPISODE_ROLES)]
    learning = kept[~kept["role"].isin(EPISODE_ROLES)]
    input_tokens, rounds = float(episode["input_tokens"].sum()), float(tasks["rounds"].sum())
    total = spent(run)
    seconds, injected = float(tasks["seconds"].sum()), float(tasks["injected_tokens_calls"].sum())
    return Efficiency(
        injected=injected / n,
        injected_per_call=injected / rounds if rounds else 0.0,
        injected_once=float(tasks["injected_tokens"].sum()) / n,
        lines=float(tasks["injected_lines"].sum()) / n,
        input=input_tokens / n,
        cache_percent=100 * float(episode["cached_tokens"].sum()) / input_tokens if input_tokens else 0.0,
        output=float(episode["output_tokens"].sum()) / n,
        rounds=rounds / n,
        steps=float(tasks["steps"].sum()) / n,
        seconds_round=seconds / rounds if rounds else math.nan,
        seconds=seconds / n,
        calls={role: float((kept["role"] == role).sum()) / n for role in ROLES},
        learning_input=float(learning["input_tokens"].sum()) / n,
        learning_output=float(learning["output_tokens"].sum()) / n,
        cost=None if total is None else total / len(run.tasks),
        estimated=bool(kept["estimated"].any()),
    )


def spent(run: Run) -> float | None:
    """US dollars of every call of a run, None if a price is unknown."""
    cost = run.calls["cost"]
    return None if cost.isna().any() else float(cost.sum())


def injection_saving(injected: float, baseline: float) -> float | None:
    """100 (1 - I / I_b), EvoWeave appendix F; None against a memory that injects nothing (undefined)."""
    return 100 * (1 - injected / baseline) if baseline else None
