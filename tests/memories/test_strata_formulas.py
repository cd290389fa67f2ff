"""STRATA's formulas on numbers worked out by hand, and its graph parts against an independent method."""

from __future__ import annotations

import math
import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.strata.communities import UNIT, Edges, Survivors, conductances, louvain
from memories.strata.forgetting import age_at, collect, lost, quality, ranks, survivors_wanted, won
from memories.strata.metas import distance
from memories.strata.retrieval import biased, ranking
from memories.strata.similarity import Weights, combine, exact, jaccard, words
from memories.strata.tags import Lexicon, clean_tag, leading_tag, read_tags, tags_by_rule
from memories.strata.thresholds import Groups, decide, quantile, threshold


def edges_of(size: int, weights: dict[tuple[int, int], float]) -> Edges:
    """A graph from its weighted pairs."""
    pairs = np.array([sorted(pair) for pair in weights], dtype=np.int64).reshape(-1, 2)
    scaled = np.array([round(w * UNIT) for w in weights.values()], dtype=np.int64)
    return Edges(size, pairs[:, 0], pairs[:, 1], scaled)


def as_networkx(size: int, weights: dict[tuple[int, int], float]) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from((a, b, w) for (a, b), w in weights.items())
    return graph


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, dict[tuple[int, int], float]]:
    size = draw(st.integers(1, 9))
    possible = [(a, b) for a in range(size) for b in range(a + 1, size)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True, max_size=14)) if possible else []
    return size, {pair: draw(st.integers(1, 4)) / 4 for pair in chosen}


# Thresholds


def test_the_prior_stands_alone_without_observations() -> None:
    assert threshold([], 0.25, 0.33, 30) == 0.33
    assert threshold([], 0.25, 0.33, 30, "per_group") == 0.33


def test_one_observation_weighs_one_in_thirty_one() -> None:
    # l = 1/31; t_low = (0.5 + 30 x 0.33) / 31 = 10.4 / 31, t_high = (0.5 + 30 x 0.62) / 31 = 19.1 / 31
    assert threshold([0.5], 0.25, 0.33, 30) == pytest.approx(10.4 / 31)
    assert threshold([0.5], 0.92, 0.62, 30) == pytest.approx(19.1 / 31)


def test_thirty_observations_weigh_half() -> None:
    scores = [n / 100 for n in range(21, 51)]
    # Q_0.25 at place 7.25: 0.2825; Q_0.92 at place 26.68: 0.4768
    assert quantile(scores, 0.25) == pytest.approx(0.2825)
    assert quantile(scores, 0.92) == pytest.approx(0.4768)
    assert threshold(scores, 0.25, 0.33, 30) == pytest.approx((0.2825 + 0.33) / 2)
    assert threshold(scores, 0.92, 0.62, 30) == pytest.approx((0.4768 + 0.62) / 2)


def test_three_hundred_observations_weigh_ten_in_eleven() -> None:
    scores = [0.4 + n / 1000 for n in range(300)]
    # Q_0.25 at place 74.75: 0.47475
    assert threshold(scores, 0.25, 0.33, 30) == pytest.approx((10 * 0.47475 + 0.33) / 11)
    assert threshold(scores, 0.25, 0.33, 30, "per_group") == pytest.approx(0.47475)
    assert threshold(scores, 0.25, 0.33, 30, "fixed") == 0.33


def test_edge_thresholds_shrink_with_kappa_six() -> None:
    # The median of the four is 0.55, l = 4 / 10.
    assert threshold([0.2, 0.5, 0.6, 0.9], 0.5, 0.40, 6) == pytest.approx(0.4 * 0.55 + 0.6 * 0.40)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_quantiles_agree_with_numpy(values: list[float], p: float) -> None:
    ordered = sorted(values)
    assert quantile(ordered, p) == pytest.approx(float(np.quantile(ordered, p)), abs=1e-12)


def test_groups_keep_their_scores_ascending_and_apart() -> None:
    groups = Groups()
    groups.add("op:heat", [0.5, 0.1])
    groups.add("op:heat", [0.3])
    assert list(groups.of("op:heat")) == [0.1, 0.3, 0.5]
    assert list(groups.of("op:cool")) == []


@pytest.mark.parametrize(
    ("score", "decision"),
    [(None, "create"), (0.32, "create"), (0.33, "add_bullet"), (0.62, "add_bullet"), (0.63, "noop")],
)
def test_the_band_includes_both_ends(score: float | None, decision: str) -> None:
    assert decide(score, 0.33, 0.62) == decision


# Similarity


def test_the_four_signals_are_weighted_and_negative_cosines_floored() -> None:
    s = combine(*(np.array([v, w]) for v, w in ((0.5, -0.5), (0.2, 0.2), (0.5, 1.0), (1.0, 0.0))), Weights())
    # 0.2 + 0.05 + 0.15 + 0.05 and 0 + 0.05 + 0.30 + 0
    assert s.tolist() == [0.45, 0.35]


def test_a_dropped_signal_renormalises_the_others() -> None:
    without = Weights.of({"content": 0.40, "index": 0.25, "tags": 0, "lexical": 0.05})
    assert (without.content, without.index, without.tags) == pytest.approx((4 / 7, 2.5 / 7, 0))
    assert without.lexical == pytest.approx(0.5 / 7)
    assert Weights.of({"content": 1}) == Weights(1, 0, 0, 0)
    for wrong in ({"tag": 1.0}, {"content": 0.0}, {"content": -1.0, "index": 2.0}):
        with pytest.raises(ValueError, match="weights is"):
            Weights.of(wrong)


def test_jaccard_of_two_empty_sets_is_nothing() -> None:
    assert jaccard(np.array([1.0, 0.0]), 2, np.array([3.0, 0.0])).tolist() == [0.25, 0.0]
    assert jaccard(np.array([0.0]), 0, np.array([0.0])).tolist() == [0.0]


def test_cosines_on_the_grid_do_not_depend_on_the_order_of_summation() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    on_grid = exact(vectors)
    order = rng.permutation(384)
    whole = on_grid @ on_grid.T
    assert np.array_equal(whole, on_grid[:, order] @ on_grid[:, order].T)
    assert np.array_equal(whole[7], np.array([math.fsum(map(float, on_grid[7] * row)) for row in on_grid]))
    assert np.abs(whole - vectors @ vectors.T).max() < 1e-3


def test_words_leave_function_words_out() -> None:
    assert words("Heat the TIN until it melts, then cool_it.") == {"heat", "tin", "until", "melts", "cool"}


# Ages and quality


def test_winner_loser_and_bystander_age_by_their_rules() -> None:
    # Two tasks at 0.02 since the age was written down.
    assert age_at(0.2, since=3, now=5, alpha=0.02) == pytest.approx(0.24)
    assert won(0.24, gamma=0.5) == pytest.approx(0.12)
    # 0.10 x 0.5 x (1 - (0.7 - 0.5)) = 0.04; a closer loser ages faster: 0.10 x 0.69 x 0.99
    assert lost(0.24, score=0.5, winner=0.7, beta=0.1) == pytest.approx(0.28)
    assert lost(0.24, score=0.69, winner=0.7, beta=0.1) == pytest.approx(0.24 + 0.06831)


def test_ranks_average_ties_and_a_single_value_is_in_the_middle() -> None:
    assert ranks([2, 2, 5, 0]).tolist() == pytest.approx([0.5, 0.5, 1.0, 0.0])
    assert ranks([7]).tolist() == [0.5]
    assert ranks([3, 3, 3]).tolist() == [0.5, 0.5, 0.5]


def test_quality_combines_ranks() -> None:
    q = quality([2, 2, 5, 0], [0.1, 0.3, 0.3, 0.3], 0.35, 0.65)
    # rank(G) = 0, 2/3, 2/3, 2/3
    expected = [0.175 + 0.65, 0.175 + 0.65 / 3, 0.35 + 0.65 / 3, 0.65 / 3]
    assert q.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("cap", "left"), [(120, 102), (40, 34), (36, 30), (24, 20), (1, 0)])
def test_a_collection_leaves_at_most_85_percent_of_the_cap(cap: int, left: int) -> None:
    assert survivors_wanted(cap, 0.15) == left


# Collection


def test_a_bridge_of_lowest_quality_is_spared() -> None:
    # A path 0 - 1 - 2: 1 is the cut vertex; it is the oldest, so its quality is lowest.
    path = edges_of(3, {(0, 1): 0.5, (1, 2): 0.6})
    ages = [0.0, 9.0, 1.0]
    spared = collect(path, ages, 2)
    # Q: A = 0.5, 1.1, 0.6 -> ranks 0, 1, 0.5; G ranks 0, 1, 0.5 -> 0.65, 0.35, 0.5: 2 goes, 1 is spared.
    assert [(d.row, d.spared) for d in spared] == [(2, 1)]
    assert spared[0].quality == pytest.approx(0.5)
    assert [(d.row, d.spared) for d in collect(path, ages, 2, bridges=False)] == [(1, None)]


def test_cut_vertices_are_found_anew_after_each_deletion() -> None:
    # 0 - 1 - 2 - 3: once 3 is gone 2 is no cut vertex any more.
    path = edges_of(4, {(0, 1): 0.5, (1, 2): 0.5, (2, 3): 0.5})
    order = [d.row for d in collect(path, [0.0, 0.1, 9.0, 8.0], 2)]
    assert order == [3, 2]


def test_equal_qualities_fall_to_the_older_workflow() -> None:
    assert [d.row for d in collect(edges_of(4, {}), [0.3] * 4, 2)] == [0, 1]


def test_if_all_were_cut_vertices_the_lowest_quality_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every finite graph has a row that is no cut vertex, so this is made up: a collection always ends.
    monkeypatch.setattr(Survivors, "cut_vertices", lambda self: frozenset(self.rows))
    deletions = collect(edges_of(3, {(0, 1): 0.5, (1, 2): 0.6}), [0.0, 9.0, 1.0], 1)
    assert [(d.row, d.spared) for d in deletions] == [(1, None), (2, None)]


def test_a_single_workflow_has_middling_quality() -> None:
    assert quality([0], [3.0], 0.35, 0.65).tolist() == [0.5]
    assert [d.quality for d in collect(edges_of(1, {}), [3.0], 0)] == [0.5]


def test_a_collection_can_take_everything() -> None:
    assert len(collect(edges_of(3, {(0, 1): 1.0, (1, 2): 1.0}), [0.0, 1.0, 2.0], 0)) == 3
    assert collect(edges_of(0, {}), [], 0) == []


@given(graphs(), st.integers(0, 9), st.lists(st.integers(0, 5), min_size=9, max_size=9))
@settings(max_examples=60, deadline=None)
def test_a_deletion_is_a_cut_vertex_only_if_all_were(
    drawn: tuple[int, dict[tuple[int, int], float]], target: int, ages: list[int]
) -> None:
    size, weights = drawn
    left = as_networkx(size, weights)
    deletions = collect(edges_of(size, weights), [float(a) for a in ages[:size]], target)
    for deletion in deletions:
        cut = set(cut_by_removal(left))
        assert deletion.row not in cut or cut == set(left)
        assert deletion.spared is None or deletion.spared in cut
        left.remove_node(deletion.row)
    assert len(left) == min(size, target)


def cut_by_removal(graph: nx.Graph) -> list[int]:
    """Cut vertices by their definition: without one of them there are more components."""
    found = []
    for node in graph:
        less = graph.copy()
        less.remove_node(node)
        if nx.number_connected_components(less) > nx.number_connected_components(graph):
            found.append(node)
    return found


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_cut_vertices_and_degrees_by_another_method(drawn: tuple[int, dict[tuple[int, int], float]]) -> None:
    size, weights = drawn
    survivors, reference = Survivors(edges_of(size, weights)), as_networkx(size, weights)
    for row in [*range(0, size, 2), None]:
        assert sorted(survivors.cut_vertices()) == sorted(cut_by_removal(reference))
        degree = dict(reference.degree(weight="weight"))
        assert [d / UNIT for d in survivors.degrees()] == pytest.approx([degree[r] for r in survivors.rows])
        if row is not None:
            survivors.delete(row)
            reference.remove_node(row)


# Communities


def test_conductance_by_hand() -> None:
    # A triangle, tied by 0.5 to a pair: cut 0.5, volumes 6.5 and 2.5.
    weights = {(0, 1): 1.0, (1, 2): 1.0, (0, 2): 1.0, (2, 3): 0.5, (3, 4): 1.0}
    assert conductances(edges_of(5, weights), [[0, 1, 2], [3, 4]]) == pytest.approx([0.2, 0.2])
    # Alone in the graph there is neither cut nor outside.
    assert conductances(edges_of(2, {(0, 1): 1.0}), [[0, 1]]) == [0.0]


@given(graphs(), st.data())
@settings(max_examples=60, deadline=None)
def test_conductance_agrees_with_networkx(
    drawn: tuple[int, dict[tuple[int, int], float]], data: st.DataObject
) -> None:
    size, weights = drawn
    members = sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1)))
    reference = as_networkx(size, weights)
    volume = nx.volume(reference, members, weight="weight")
    rest = nx.volume(reference, set(reference) - set(members), weight="weight")
    [ours] = conductances(edges_of(size, weights), [members])
    if min(volume, rest) > 0:
        assert ours == pytest.approx(nx.conductance(reference, members, weight="weight"))
    else:
        assert ours == 0.0


def test_louvain_finds_planted_communities_and_leaves_lone_rows_out() -> None:
    rng = random.Random(3)
    planted = [list(range(0, 8)), list(range(8, 14)), list(range(14, 20))]
    weights = {(a, b): 0.6 + 0.3 * rng.random() for block in planted for a in block for b in block if a < b}
    weights |= {(7, 8): 0.41, (13, 14): 0.41}
    for seed in range(3):
        assert louvain(edges_of(22, weights), 1.5, seed) == planted
    assert louvain(edges_of(5, {}), 1.5, 0) == []


@given(graphs(), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_louvain_is_deterministic_and_no_worse_than_no_communities(
    drawn: tuple[int, dict[tuple[int, int], float]], seed: int
) -> None:
    size, weights = drawn
    found = louvain(edges_of(size, weights), 1.5, seed)
    assert found == louvain(edges_of(size, weights), 1.5, seed)
    inside = [row for members in found for row in members]
    assert len(inside) == len(set(inside)) and all(len(members) > 1 for members in found)
    if weights:
        alone = [{row} for row in range(size) if row not in inside]
        reference = as_networkx(size, weights)
        score = nx.community.modularity(reference, [*map(set, found), *alone], "weight", 1.5)
        lonely = nx.community.modularity(reference, [{row} for row in range(size)], "weight", 1.5)
        assert score >= lonely - 1e-9


def test_the_distance_to_a_meta_is_one_minus_cosine() -> None:
    # The centroid of (1, 0) and (0, 1) lies at 45 degrees to both axes.
    assert distance([0.5, 0.5], [[1.0, 0.0], [0.6, 0.8]]) == pytest.approx(
        [1 - math.sqrt(0.5), 1 - 1.4 / math.sqrt(2)], abs=1e-6
    )


# Ranking


def test_the_layer_bias_ranks_and_the_gate_reads_the_raw_score() -> None:
    scores = np.array([0.56, 0.48, 0.40, 0.34, 0.40])
    order = np.array([2, 1, 0, 0, 3], dtype=np.int8)  # atomic, workflow, meta, meta, removed
    assert biased(scores, order, 0.15)[:4].tolist() == pytest.approx([0.56, 0.555, 0.55, 0.49])
    numbers = np.array([1, 2, 3, 4, 5])
    assert ranking(scores, order, numbers, gate=0.35, bias=0.15, limit=6) == [0, 1, 2]
    assert ranking(scores, order, numbers, gate=0.35, bias=0.15, limit=1) == [0]


def test_equal_scores_go_to_the_older_node_wherever_it_lies() -> None:
    scores, order = np.array([0.5] * 4), np.array([1] * 4, dtype=np.int8)
    assert ranking(scores, order, np.array([9, 4, 7, 1]), 0.35, 0.15, 3) == [3, 1, 2]


# Tags


def test_tags_outside_the_grammar_are_dropped_and_counted() -> None:
    given_tags = ["App: Gmail", "op:heat", "op:heat", "obj:tin cup", "place:oven", "op:", "heat", "`op:cool`"]
    assert read_tags(given_tags) == (("app:gmail", "op:heat", "obj:tin_cup", "op:cool"), 3)
    assert clean_tag("obj:水") == "obj:水"


def test_the_group_is_the_leading_tag() -> None:
    assert leading_tag(("obj:tin", "op:heat", "app:gmail", "app:phone")) == "app:gmail"
    assert leading_tag(("obj:tin", "op:heat")) == "op:heat"
    assert leading_tag(("obj:tin",)) == "none"


def test_opposition_follows_the_lexicon_whatever_the_objects() -> None:
    lexicon = Lexicon()
    assert lexicon.opposed(["op:melt", "obj:lead"], ["op:freeze", "obj:tin"])
    assert lexicon.opposed(["op:delete"], ["op:create"])
    assert not lexicon.opposed(["op:melt"], ["op:boil"])
    assert not lexicon.opposed(["op:heat", "op:cool"], ["op:cool"])
    assert not lexicon.opposed(["op:heat"], ["op:create"])


def test_tags_by_rule_read_the_vocabulary_and_the_lexicon() -> None:
    used = ["obj:tin_cup", "obj:lead", "app:gmail"]
    assert tags_by_rule("Melting the lead in a tin cup", used, Lexicon()) == (
        "obj:lead",
        "obj:tin_cup",
        "op:heat",
    )
