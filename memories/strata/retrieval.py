"""Retrieval of a subgraph (STRATA, "Retrieval"): rank with a layer bias, gate on the raw score, expand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from memories.strata.graph import Graph, number_of
from memories.strata.similarity import Floats
from memories.strata.tags import Lexicon
from memories.strata.views import Rows

_UNIT = 1_000_000
_LOW = (1 << 32) - 1


def biased(scores: Floats, order: npt.NDArray[np.int8], bias: float) -> Floats:
    """s + bias (2 - ord) / 2, with ord 0 for a meta, 1 for a workflow, 2 for an atomic."""
    ranked: Floats = scores + bias * (2 - order) / 2
    return ranked


def ranking(
    scores: Floats, order: npt.NDArray[np.int8], numbers: Rows, gate: float, bias: float, limit: int
) -> list[int]:
    """Rows with a raw score of at least `gate`, best biased score first, at most `limit`.

    `order` holds ord of each row's kind, or 3 for a row to leave out. Equal scores go to the older node.
    """
    rows = np.flatnonzero(scores >= gate)
    rows = rows[order[rows] < 3]
    packed = np.rint(biased(scores[rows], order[rows], bias) * _UNIT).astype(np.int64) << 32
    packed |= _LOW - numbers[rows]
    if len(rows) > limit:
        best = np.argpartition(packed, len(rows) - limit)[-limit:]
        rows, packed = rows[best], packed[best]
    places: list[int] = rows[np.argsort(packed)[::-1]].tolist()
    return places


@dataclass(frozen=True)
class Subgraph:
    """What is shown to the agent: ids in the order of rendering."""

    metas: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()
    """(the one not to follow, the one to follow), opposite to each other."""
    atomics: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.metas or self.procedures or self.warnings or self.atomics)


def expand(
    graph: Graph,
    seeds: Sequence[str],
    score: Callable[[str], float],
    query_tags: Iterable[str],
    lexicon: Lexicon,
    gate: float,
    contrasts: int,
) -> Subgraph:
    """The seeds (best first) with meta parents, called atomics and contrast neighbours.

    Of a contrast pair the side whose operators agree with the query's is the procedure, the other the
    warning; if neither or both agree the seed is the procedure [ours]. What is decided for a better seed
    stands.
    """
    wanted = lexicon.operators(query_tags)
    procedures: dict[str, None] = {}
    warnings: dict[str, str] = {}

    def agrees(node: str) -> bool:
        return bool(wanted & lexicon.operators(graph[node].tags))

    def near(nodes: Iterable[str]) -> list[str]:
        return sorted(nodes, key=lambda node: (-score(node), number_of(node)))

    for seed in (seed for seed in seeds if graph[seed].kind == "workflow"):
        for neighbour in near(graph.opposed.get(seed, ()))[:contrasts]:
            seed_is_right = agrees(seed) or not agrees(neighbour)
            right, wrong = (seed, neighbour) if seed_is_right else (neighbour, seed)
            if right not in warnings and wrong not in procedures:
                warnings.setdefault(wrong, right)
                procedures[right] = None
        if seed not in warnings:
            procedures[seed] = None

    metas = dict.fromkeys(seed for seed in seeds if graph[seed].kind == "meta")
    for workflow in [*(seed for seed in seeds if graph[seed].kind == "workflow"), *procedures]:
        metas |= dict.fromkeys(meta for meta in near(graph.parents.get(workflow, ())) if score(meta) >= gate)
    atomics = dict.fromkeys(atomic for workflow in procedures for atomic in graph[workflow].calls)
    atomics |= dict.fromkeys(seed for seed in seeds if graph[seed].kind == "atomic")
    return Subgraph(tuple(metas), tuple(procedures), tuple(warnings.items()), tuple(atomics))
