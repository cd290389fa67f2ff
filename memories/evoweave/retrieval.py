"""Plan-guided retrieval: candidates, connections, one consistent choice, what is missing (section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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


def wordings(description: str) -> tuple[str, str]:
    """What is embedded of a description: its placeholders' names as plain words, and `something` for each."""
    named = PLACEHOLDER.sub(lambda found: found[1].replace("_", " "), description)
    return named, PLACEHOLDER.sub("something", description)


def embed(embedder: Embedder, descriptions: Sequence[str]) -> Vectors:
    """A unit vector a description. Raises EmbeddingFailed, also for a wrong number of vectors.

    It is the mean of both wordings [ours]: planner and reflector do not see each other's placeholders, and
    with the names alone `focus on {plant}` and `focus on {object}` have cosine 0.54 (0.87 so), less
    than `open {container}` and `close {container}` with 0.77 (0.64 so).
    """
    pairs = [wordings(description) for description in descriptions]
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    vectors = embedder.embed(texts)
    if vectors.shape != (len(texts), embedder.dimension):
        raise EmbeddingFailed(f"{embedder.name} gave vectors of shape {vectors.shape} for {len(texts)} texts")
    rows = {text: vectors[row] for row, text in enumerate(texts)}
    means = np.array([rows[named] + rows[bare] for named, bare in pairs], dtype=np.float32)
    means = means.reshape(len(pairs), embedder.dimension)
    unit: Vectors = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.float32(1e-9))
    return unit


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
