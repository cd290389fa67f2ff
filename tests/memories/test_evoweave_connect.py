"""Search and connection against exhaustive enumeration on small multigraphs, and both limits hit exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memories.evoweave.connect import connect, search_from
from memories.evoweave.contracts import Operation
from memories.evoweave.graph import ExperienceGraph
from tests.memories.evoweave_case import Edge, graph_of, operation

edges = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def walks(all_edges: list[Edge], start: int, longest: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every walk of at most `longest` edges from `start`: its end and its operations."""
    frontier: list[tuple[int, tuple[str, ...]]] = [(start, ())]
    for _ in range(longest + 1):
        yield from frontier
        frontier = [
            (target, (*walk, f"op{number:05d}"))
            for state, walk in frontier
            for number, (source, target) in enumerate(all_edges)
            if source == state
        ]


@settings(max_examples=60, deadline=None)
@given(edges, st.integers(0, 5), st.integers(0, 4))
@example(
    [(0, 1), (0, 2), (0, 4), (0, 5), (3, 0)], 3, 2
)  # all found at the last level: nothing is left to look for
def test_paths_are_the_shortest_and_of_those_the_first_in_order(
    drawn: list[Edge], start: int, depth: int
) -> None:
    """Self-loops, parallel edges, cycles and unreachable states are among what is drawn."""
    graph = graph_of(drawn, 6)
    best: dict[str, tuple[str, ...]] = {}
    for end, walk in walks(drawn[:12], start, depth):
        name = f"st{end:04d}"
        if name not in best or (len(walk), walk) < (len(best[name]), best[name]):
            best[name] = walk
    found = search_from(graph, f"st{start:04d}", graph.states, depth, 1000)
    assert found.paths == best
    beyond = {f"st{end:04d}" for end, _ in walks(drawn, start, 5)} - set(best)
    assert found.exhausted == (not beyond)
    assert found.expansions <= 6


@settings(max_examples=30, deadline=None)
@given(edges, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(1, 5))
def test_one_search_for_many_targets_is_many_searches_for_one(
    drawn: list[Edge], start: int, one: int, other: int, limit: int
) -> None:
    graph = graph_of(drawn, 6)
    begin, targets = f"st{start:04d}", {f"st{one:04d}", f"st{other:04d}"}
    together = search_from(graph, begin, targets, 3, limit)
    alone = {target: search_from(graph, begin, {target}, 3, limit) for target in targets}
    assert together.paths == {t: found.paths[t] for t, found in sorted(alone.items()) if t in found.paths}
    for target, found in alone.items():
        if target not in together.paths:
            assert found.exhausted == together.exhausted


def chain(length: int) -> ExperienceGraph:
    return graph_of([(n, n + 1) for n in range(length)])


def test_eight_connector_edges_are_found_and_nine_are_truncated() -> None:
    graph = chain(12)
    assert len(search_from(graph, "st0000", {"st0008"}).paths["st0008"]) == 8
    ninth = search_from(graph, "st0000", {"st0009"})
    assert not ninth.paths and not ninth.exhausted


def test_depth_reached_without_anything_left_is_a_gap() -> None:
    """The chain ends at the eighth edge, so that nothing beyond was left unseen."""
    graph = graph_of([(n, n + 1) for n in range(8)], states=12)
    found = search_from(graph, "st0000", {"st0011"})
    assert not found.paths and found.exhausted and found.expansions == 9


def star(rays: int) -> ExperienceGraph:
    return graph_of([(0, n) for n in range(1, rays + 1)], states=rays + 2)


def test_the_expansion_limit_hit_exactly() -> None:
    """The hub and 999 rays are 1,000 states: popping all of them exhausts the graph, one more does not."""
    full, more = star(999), star(1000)
    exact = search_from(full, "st0000", {"st1000"})
    assert exact.expansions == 1000 and exact.exhausted and not exact.paths
    over = search_from(more, "st0000", {"st1001"})
    assert over.expansions == 1000 and not over.exhausted and not over.paths


def test_equal_end_states_join_without_a_connector_and_keep_both_operations() -> None:
    graph = graph_of([(0, 1), (1, 2)])
    found = connect(graph, ("s1", "s2"), [("op00000", 0.9)], [("op00001", 0.8)])
    assert found.status == "connected" and found.expansions == 0
    assert found.pairs[0].operations == ("op00000", "op00001")


def test_pairs_are_ordered_by_connector_then_similarity_then_ids() -> None:
    """0-1 then 1-2 (empty), 0-3 -> 3-1 -> 1-2 (one edge); two firsts of equal similarity end in state 1."""
    graph = graph_of([(0, 1), (0, 1), (1, 2), (0, 3), (3, 1)])
    first = [("op00003", 0.99), ("op00000", 0.80), ("op00001", 0.80)]
    found = connect(graph, ("s1", "s2"), first, [("op00002", 0.9)])
    assert [(pair.first, pair.connector) for pair in found.pairs] == [
        ("op00000", ()),
        ("op00001", ()),
        ("op00003", ("op00004",)),
    ]


def test_no_candidate_gap_and_truncated_are_told_apart() -> None:
    graph = chain(12)
    late, early = [("op00011", 1.0)], [("op00000", 1.0)]
    assert connect(graph, ("a", "b"), [], early).status == "no_candidate"
    assert connect(graph, ("a", "b"), late, early).status == "gap"
    assert connect(graph, ("a", "b"), early, late).status == "truncated"
    assert connect(graph, ("a", "b"), early, [("op00009", 1.0)]).status == "connected"
    # One truncated pair among exhausted ones leaves the dependency truncated.
    assert (
        connect(graph, ("a", "b"), [*late, *early], [("op00011", 1.0), ("op00000", 0.9)]).status
        == "truncated"
    )


def test_superseded_operations_are_no_edges_and_newer_versions_take_their_place() -> None:
    graph = graph_of([(0, 1), (0, 1), (1, 2)])
    assert search_from(graph, "st0000", {"st0001"}).paths["st0001"] == ("op00000",)
    graph.put(superseded(0))
    assert search_from(graph, "st0000", {"st0001"}).paths["st0001"] == ("op00001",)
    graph.put(superseded(1))
    assert not search_from(graph, "st0000", {"st0001"}).paths
    assert graph.live() == {"op00002"}


def superseded(number: int) -> Operation:
    return replace(operation(number, 0, 1), version=2, superseded_by="op00009")
