"""The one similarity of STRATA ("Similarity"): content, index, tags and words, weighted and summed.

Retrieval, the reflection band, the edges of the workflow graph and the collector's activation all use it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memories.base import Vectors

Floats = npt.NDArray[np.float64]

GRID = 2048
"""Embeddings are rounded to multiples of 1/2048 [ours]: every product and every partial sum of a dot product
is then exact in float32, so a cosine (off by about 2e-4) depends neither on the order of the rows nor on the
BLAS, and an incremental computation equals a full one."""

DECIMALS = 6
"""Scores are rounded to 1e-6 [ours]."""

_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = """a an and are as at be been but by can do each for from has have how i if in into is it its of
on or so that the their them then there these this those to use used using was what when where which will with
you your"""
_STOP = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class Weights:
    """Weights of the four signals; a weight of 0 removes its signal, and the others are renormalised."""

    content: float = 0.40
    index: float = 0.25
    tags: float = 0.30
    lexical: float = 0.05

    @classmethod
    def of(cls, given: Mapping[str, float]) -> Weights:
        """From configuration: renormalised to a sum of 1. Raises ValueError."""
        unknown = sorted(set(given) - set(cls.__dataclass_fields__))
        values = [float(given.get(name, 0.0)) for name in cls.__dataclass_fields__]
        if unknown or min(values) < 0 or sum(values) <= 0:
            raise ValueError(
                f"weights is {dict(given)}: it needs numbers >= 0, not all 0, for "
                f"{', '.join(cls.__dataclass_fields__)} and nothing else"
            )
        return cls(*(value / sum(values) for value in values))


def exact(vectors: Vectors) -> Vectors:
    """Unit vectors on the grid, any shape."""
    on_grid: Vectors = np.rint(vectors * np.float32(GRID)).astype(np.float32) / np.float32(GRID)
    return on_grid


def combine(content: Floats, index: Floats, tags: Floats, lexical: Floats, weights: Weights) -> Floats:
    """s for every node: cosines floored at 0 [ours], the weighted sum rounded. All of shape (n,)."""
    total = np.maximum(content, 0.0) * weights.content
    total += np.maximum(index, 0.0) * weights.index
    total += tags * weights.tags
    total += lexical * weights.lexical
    return np.round(total, DECIMALS)


def jaccard(shared: Floats, one: int, other: Floats) -> Floats:
    """|A and B| / |A or B| from the sizes; 0 where both are empty [ours]."""
    union = one + other - shared
    result: Floats = shared / np.maximum(union, 1)
    return result


def words(text: str) -> frozenset[str]:
    """The tokens of the lexical signal: lower-case words without function words and numbers [ours]."""
    found = _WORD.findall(text.lower())
    return frozenset(word for word in found if word not in _STOP and not word.isdigit())


def inverse_frequency(nodes: int, holding: int) -> float:
    """Weight of a token that `holding` of `nodes` nodes hold: ln((N + 1) / (n + 1)) + 1 [ours]."""
    return math.log((nodes + 1) / (holding + 1)) + 1.0


@dataclass(frozen=True)
class View:
    """What one side of a comparison looks like: a query or a node."""

    content: Vectors
    """On the grid, shape (dimension,)."""
    index: Vectors
    tags: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, content: Vectors, index: Vectors, tags: Iterable[str], text: str) -> View:
        """From raw embeddings, tags and text."""
        return cls(exact(content), exact(index), frozenset(tags), words(text))
