"""Bounded directed search between operations (EvoWeave, section 3.2, appendix B.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from memories.evoweave.graph import ExperienceGraph

MAX_DEPTH = 8
"""Connector edges of a path at most (table 5)."""
MAX_EXPANSIONS = 1000
"""States popped at most by one search (table 5)."""


@dataclass(frozen=True)
class Search:
    """What a breadth-first search from one state found."""

    paths: Mapping[str, tuple[str, ...]]
    """Target state -> the operations that lead there, fewest first, ties by ids; () for the start itself."""
    exhausted: bool
    """A target without a path has none: everything reachable was seen, or every target was found."""
    expansions: int
    """States popped."""


def search_from(
    graph: ExperienceGraph,
    start: str,
    targets: Collection[str],
    max_depth: int = MAX_DEPTH,
    max_expansions: int = MAX_EXPANSIONS,
) -> Search:
    """Shortest paths from `start` to each of `targets`, by one search for all of them.

    It pops at most `max_expansions` states and looks at most `max_depth` edges deep. A target's
    path and whether it is found are those of a search for it alone: sharing only saves repeats.
    """
    wanted = set(targets)
    missing = wanted - {start}
    reached: dict[str, str] = {start: ""}
    level, depth, popped, cut = [start], 0, 0, False
    successors = graph.successors
    while level and missing and popped < max_expansions:
        following: list[str] = []
        for place, state in enumerate(level):
            if not missing or popped == max_expansions:
                cut = True
                level = level[place:]
                break
            popped += 1
            if depth == max_depth:
                cut = cut or any(target not in reached for _, target in successors(state))
                continue
            for operation, target in successors(state):
                if target not in reached:
                    reached[target] = operation
                    following.append(target)
                    if target in missing:
                        missing.discard(target)
        else:
            level, depth = following, depth + 1
    paths = {target: _path(graph, target, reached) for target in sorted(wanted) if target in reached}
    return Search(paths, exhausted=not missing or (not level and not cut), expansions=popped)


def _path(graph: ExperienceGraph, target: str, reached: Mapping[str, str]) -> tuple[str, ...]:
    operations: list[str] = []
    while reached[target]:
        operations.append(reached[target])
        target = graph.operations[reached[target]].source
    return tuple(reversed(operations))


Status = Literal["connected", "no_candidate", "gap", "truncated"]


@dataclass(frozen=True)
class Pair:
    """One connected pair of candidates: the fragment is first + connector + last."""

    first: str
    last: str
    connector: tuple[str, ...]
    similarity: float
    """Of both candidates, summed."""

    @property
    def operations(self) -> tuple[str, ...]:
        """The whole fragment, its matched ends included even if the connector is empty."""
        return (self.first, *self.connector, self.last)

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """Order of preference: connector length, then similarity, then ids."""
        return (len(self.connector), -round(self.similarity, 6), self.first, self.last)


@dataclass(frozen=True)
class Connection:
    """What was found for one direct dependency of the plan."""

    before: str
    after: str
    status: Status
    pairs: tuple[Pair, ...] = ()
    """All connected pairs, best first."""
    expansions: int = 0


Scored = tuple[str, float]
"""(operation id, cosine)."""


def connect(
    graph: ExperienceGraph,
    dependency: tuple[str, str],
    before: Collection[Scored],
    after: Collection[Scored],
    max_depth: int = MAX_DEPTH,
    max_expansions: int = MAX_EXPANSIONS,
) -> Connection:
    """Search every candidate pair of a direct dependency (i, j): from v_a, a in `before`, to u_b, b in `after`.

    The status tells a step without candidates from a graph without the connection (`gap`: every
    search saw all it could reach) and from a search that stopped early (`truncated`).
    """
    if not before or not after:
        return Connection(*dependency, "no_candidate")
    starts: dict[str, list[Scored]] = {}
    for scored in before:
        starts.setdefault(graph.operations[scored[0]].target, []).append(scored)
    targets = {graph.operations[id].source for id, _ in after}
    pairs: list[Pair] = []
    exhausted, expansions = True, 0
    for start, firsts in starts.items():
        found = search_from(graph, start, targets, max_depth, max_expansions)
        expansions += found.expansions
        exhausted = exhausted and (found.exhausted or len(found.paths) == len(targets))
        pairs += [
            Pair(a, b, found.paths[graph.operations[b].source], score_a + score_b)
            for a, score_a in firsts
            for b, score_b in after
            if graph.operations[b].source in found.paths
        ]
    pairs.sort(key=lambda pair: pair.rank)
    status: Status = "connected" if pairs else "gap" if exhausted else "truncated"
    return Connection(*dependency, status, tuple(pairs), expansions)
