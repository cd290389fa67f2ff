"""Plan-guided retrieval: candidates, connections, one consistent choice, what is missing (section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memories.base import Embedder, EmbeddingFailed, Vectors
from memories.evoweave.assemble import (
    MAX_CARDS,
    Assignment,
    Missing,
    Visible,
    assign,
    missing,
    within_budget,
)
from memories.evoweave.capabilities import API_THRESHOLD, CODE_THRESHOLD, MAX_APIS, MAX_CODES
from memories.evoweave.connect import MAX_DEPTH, MAX_EXPANSIONS, Connection, Scored, connect
from memories.evoweave.contracts import PLACEHOLDER
from memories.evoweave.graph import ExperienceGraph
from memories.evoweave.plan import Plan
from memories.index import VectorIndex

OPERATION_THRESHOLD = 0.72
"""Cosine from which an operation is a candidate for a step (table 5)."""
OPERATION_CANDIDATES = 3
"""Candidates a step at most (table 5)."""


@dataclass(frozen=True)
class Limits:
    """The reference parameters of table 5."""

    operation_threshold: float = OPERATION_THRESHOLD
    operation_candidates: int = OPERATION_CANDIDATES
    max_depth: int = MAX_DEPTH
    max_expansions: int = MAX_EXPANSIONS
    max_cards: int = MAX_CARDS
    api_threshold: float = API_THRESHOLD
    max_apis: int = MAX_APIS
    code_threshold: float = CODE_THRESHOLD
    max_codes: int = MAX_CODES


@dataclass(frozen=True)
class Retrieval:
    """What was found for a plan."""

    plan: Plan
    candidates: Mapping[str, Sequence[Scored]]
    """Step id -> (operation, cosine), best first; an empty list is a normal answer."""
    connections: tuple[Connection, ...]
    """One for each direct dependency, in topological order; empty without connections (C and E)."""
    assignment: Assignment
    missing: tuple[Missing, ...]
    visible: Visible

    @property
    def expansions(self) -> int:
        """States popped by all searches together."""
        return sum(found.expansions for found in self.connections)


def wording(description: str) -> str:
    """What is embedded of a description: its placeholders' names as plain words [ours]."""
    return PLACEHOLDER.sub(lambda found: found[1].replace("_", " "), description)


def embed(embedder: Embedder, descriptions: Sequence[str]) -> Vectors:
    """A vector a description. Raises EmbeddingFailed, also for a wrong number of vectors."""
    vectors = embedder.embed([wording(description) for description in descriptions])
    if vectors.shape != (len(descriptions), embedder.dimension):
        raise EmbeddingFailed(
            f"{embedder.name} gave vectors of shape {vectors.shape} for {len(descriptions)} descriptions"
        )
    return vectors


def retrieve(
    graph: ExperienceGraph,
    index: VectorIndex,
    plan: Plan,
    vectors: Vectors,
    limits: Limits = Limits(),
    connected: bool = True,
    kept: Mapping[str, Sequence[Scored]] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> Retrieval:
    """Everything for `plan`, whose steps' descriptions have the rows of `vectors`.

    `index` holds the live operations only, so that filtering precedes ranking. `kept` and `fixed` are
    the candidates and choices of an earlier plan's steps, which stay as they were.
    """
    hits = index.search_many(vectors, limits.operation_candidates, floor=limits.operation_threshold)
    candidates: dict[str, Sequence[Scored]] = {
        step.id: (kept or {}).get(step.id, found) for step, found in zip(plan.steps, hits, strict=True)
    }
    connections = tuple(
        connect(
            graph,
            pair,
            candidates[pair[0]],
            candidates[pair[1]],
            limits.max_depth,
            limits.max_expansions,
        )
        for pair in (plan.dependencies if connected else ())
    )
    still = {step: id for step, id in (fixed or {}).items() if step in candidates}
    assignment = assign(connections, candidates, still)
    lacking = tuple(missing(plan, assignment, graph.operations, graph.states)) if connected else ()
    return Retrieval(
        plan,
        candidates,
        connections,
        assignment,
        lacking,
        within_budget(plan, assignment, candidates, limits.max_cards),
    )
