"""Forgetting at the workflow layer: competitive ages, rank-combined quality, collection under pressure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memories.strata.communities import Edges, Survivors
from memories.strata.similarity import Floats

_DECIMALS = 9


@dataclass(frozen=True)
class Ageing:
    """How ages move with each retrieval."""

    alpha: float = 0.02
    """Added to every live workflow once a task."""
    beta: float = 0.10
    """Weight of a lost competition [ours]."""
    gamma: float = 0.5
    """The winner's age is multiplied by it."""


def age_at(age: float, since: int, now: int, alpha: float) -> float:
    """G at clock `now` of a workflow whose age was `age` at clock `since`, with no competition between."""
    return round(age + alpha * (now - since), _DECIMALS)


def lost(age: float, score: float, winner: float, beta: float) -> float:
    """G of a workflow retrieved but not selected: the closer to the winner the faster it ages."""
    return round(age + beta * score * (1.0 - (winner - score)), _DECIMALS)


def won(age: float, gamma: float) -> float:
    """G of the winner."""
    return round(gamma * age, _DECIMALS)


def ranks(values: Sequence[float]) -> Floats:
    """Ranks scaled to [0, 1], ties averaged; a single value has 0.5. Shape (len(values),)."""
    if len(values) == 1:
        return np.array([0.5])
    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    middle = last - (count + 1) / 2
    scaled: Floats = middle[place] / (len(values) - 1)
    return scaled


def quality(activation: Sequence[float], ages: Sequence[float], w_a: float, w_g: float) -> Floats:
    """Q = w_A rank(A) + w_G (1 - rank(G)), rounded; the combination is reconstructed from the text."""
    combined: Floats = np.round(w_a * ranks(activation) + w_g * (1.0 - ranks(ages)), _DECIMALS)
    return combined


@dataclass(frozen=True)
class Deletion:
    """One step of a collection."""

    row: int
    quality: float
    spared: int | None
    """The row of lowest quality, if it was spared as a cut vertex."""


def collect(
    edges: Edges,
    ages: Sequence[float],
    target: int,
    *,
    w_a: float = 0.35,
    w_g: float = 0.65,
    bridges: bool = True,
) -> list[Deletion]:
    """Delete rows of lowest quality until `target` are left, cut vertices only if there is nothing else.

    Degrees, ranks and cut vertices are computed anew on the induced graph after each deletion. Equal
    qualities fall to the lower row, which is the older workflow.
    """
    left = Survivors(edges)
    deletions: list[Deletion] = []
    while len(left.rows) > target:
        scores = quality(left.degrees(), [ages[row] for row in left.rows], w_a, w_g)
        order = sorted(range(len(left.rows)), key=lambda place: (scores[place], left.rows[place]))
        cut = left.cut_vertices() if bridges else frozenset()
        chosen = next((place for place in order if left.rows[place] not in cut), order[0])
        spared = left.rows[order[0]] if chosen != order[0] else None
        row = left.rows[chosen]
        deletions.append(Deletion(row, float(scores[chosen]), spared))
        left.delete(row)
    return deletions


def survivors_wanted(cap: int, hysteresis: float) -> int:
    """How many workflows a collection leaves: at most cap (1 - hysteresis)."""
    return math.floor(cap * (1.0 - hysteresis) + 1e-9)
