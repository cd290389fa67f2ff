"""Per-group thresholds, shrunk towards a global prior in the manner of empirical Bayes (STRATA, thresholds).

t(g) = l Q_p(S_g) + (1 - l) G with l = |S_g| / (|S_g| + kappa). The paper's displayed formula is lost; this is
its shape as the text describes it.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from typing import Literal

Mode = Literal["shrunk", "per_group", "fixed"]
"""shrunk: the method; per_group: the group's quantile alone; fixed: the prior alone (two ablations)."""

Decision = Literal["create", "add_bullet", "noop"]


def quantile(ordered: Sequence[float], p: float) -> float:
    """The p-quantile of ascending values by linear interpolation [ours]."""
    place = p * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def threshold(ordered: Sequence[float], p: float, prior: float, kappa: float, mode: Mode = "shrunk") -> float:
    """t(g) from the group's ascending scores; the prior where there are none."""
    if mode == "fixed" or not ordered:
        return prior
    if mode == "per_group":
        return quantile(ordered, p)
    share = len(ordered) / (len(ordered) + kappa)
    return share * quantile(ordered, p) + (1.0 - share) * prior


def decide(score: float | None, low: float, high: float) -> Decision:
    """What to do with a drafted workflow whose nearest one scores `score` (None: there is none)."""
    if score is None or score < low:
        return "create"
    return "noop" if score > high else "add_bullet"


class Groups:
    """Ascending scores by group."""

    def __init__(self) -> None:
        self.scores: dict[str, list[float]] = {}

    def add(self, group: str, scores: Iterable[float]) -> None:
        """Record scores of a group."""
        held = self.scores.setdefault(group, [])
        for score in scores:
            insort(held, score)

    def of(self, group: str) -> Sequence[float]:
        """The ascending scores of a group, perhaps none."""
        return self.scores.get(group, ())
