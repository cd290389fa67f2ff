"""The statistics of comparisons, on plain numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 10_000
"""Bootstrap resamples [ours]."""


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def sample_sd(values: Sequence[float]) -> float | None:
    """Sample standard deviation (n - 1), None for fewer than two values."""
    if len(values) < 2:
        return None
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) * (value - centre) for value in values) / (len(values) - 1))


def separable(difference: float, sd: float | None, other_sd: float | None) -> bool | None:
    """Whether a difference reaches one combined standard deviation (STRATA, seed variance).

    The combined deviation is the root of the sum of squares: with it the paper's own list of clear and
    unclear gaps comes out (98.6 +- 0.9 against 96.3 +- 1.9 is clear). None if a deviation is unknown.
    """
    if sd is None or other_sd is None:
        return None
    return abs(difference) >= math.hypot(sd, other_sd)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided McNemar p-value from the two counts of discordant pairs; 1 if there are none."""
    if only_first < 0 or only_second < 0:
        raise ValueError(f"counts of pairs cannot be negative: {only_first}, {only_second}")
    n, k = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, i) for i in range(k + 1))
    return min(1.0, 2 * tail / (1 << n))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given."""
    m = len(p_values)
    adjusted = [0.0] * m
    running = 0.0
    for rank, index in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        running = max(running, min(1.0, (m - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


@dataclass(frozen=True)
class Bootstrap:
    """A paired difference with its percentile interval."""

    difference: float
    low: float
    high: float
    p: float
    """Two-sided: twice the smaller share of resamples at or beyond zero, never below 1/(resamples + 1)."""


def clustered_bootstrap(
    differences: Mapping[str, Sequence[float]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Bootstrap:
    """Paired bootstrap: whole clusters (scenarios) are drawn with replacement.

    `differences` holds, per cluster, the difference of every pair in it. The statistic is the mean over
    pairs, so a cluster weighs by its size. Raises ValueError if there is no pair.
    """
    import numpy as np

    clusters = [list(values) for values in differences.values() if values]
    if not clusters:
        raise ValueError("no pairs: the two have no task in common")
    sums = np.array([math.fsum(values) for values in clusters])
    sizes = np.array([len(values) for values in clusters], dtype=float)
    generator = np.random.default_rng(seed)
    means: list[float] = []
    for start in range(0, resamples, 500):  # in blocks: 10,000 x 812 indices would be 65 MB
        block = min(500, resamples - start)
        drawn = generator.integers(0, len(clusters), size=(block, len(clusters)))
        means.extend((sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)).tolist())
    edge = (1 - level) / 2
    low, high = np.quantile(np.array(means), [edge, 1 - edge]).tolist()
    # Sums in another order differ in the last bits: a zero is a zero within rounding.
    below = sum(value <= 1e-12 for value in means)
    above = sum(value >= -1e-12 for value in means)
    p = min(1.0, 2 * (min(below, above) + 1) / (resamples + 1))
    return Bootstrap(float(sums.sum() / sizes.sum()), float(low), float(high), p)
