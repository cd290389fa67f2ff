"""STRATA's stored graph, its documents, and W kept up to date against a computation from the definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.base import DocumentError
from memories.strata.communities import UNIT, Edges
from memories.strata.graph import Bullet, Graph, Node, make_id
from memories.strata.markdown import document_name, many_lines, one_line, read_node, write_node
from memories.strata.similarity import View, Weights
from memories.strata.state import Entry, State, read_state
from memories.strata.thresholds import Groups, threshold
from memories.strata.views import Views
from memories.strata.workflow_graph import WorkflowGraph
from tests.memories.helpers import HOSTILE

WORKFLOW = Node(
    "w00012-melt-a-metal",
    "workflow",
    "Melt a metal",
    "a metal has to become liquid",
    "1. focus on <metal>\n2. activate stove",
    tags=("op:melt", "obj:metal"),
    bullets=(Bullet("variant", "When it is lead: use the oven", 14), Bullet("pitfall", "When hot: run", 15)),
    calls=("a00003-use-stove", "a00001-focus"),
    contrasts=("w00007-freeze",),
    sources=(12, 14, 15),
    age=0.1 + 0.2,
    age_at=15,
    shown=2,
)

texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"])))


def test_a_node_reads_like_a_document() -> None:
    assert write_node(WORKFLOW) == (
        '---\nid: "w00012-melt-a-metal"\nkind: "workflow"\ntags: ["op:melt", "obj:metal"]\n'
        'calls: ["a00003-use-stove", "a00001-focus"]\ncontrasts: ["w00007-freeze"]\nsources: [12, 14, 15]\n'
        "age: 0.30000000000000004\nage_at: 15\nshown: 2\n---\n\n# Melt a metal\n\n"
        "## When it applies\n\na metal has to become liquid\n\n"
        "## Procedure\n\n1. focus on <metal>\n2. activate stove\n\n"
        "## Bullets\n\n- variant (task 14): When it is lead: use the oven\n- pitfall (task 15): When hot: run\n"
    )


@given(texts, texts, texts, texts)
@settings(max_examples=60, deadline=None)
def test_any_text_survives_a_document(title: str, applies: str, content: str, bullet: str) -> None:
    node = replace(
        WORKFLOW,
        title=one_line(title),
        applicability=one_line(applies),
        content=many_lines(content),
        bullets=(Bullet("variant", one_line(bullet), 3, "w00007-freeze"), *WORKFLOW.bullets),
    )
    assert read_node(document_name(node), write_node(node)) == node


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("---\nid", "id", 1, "does not start with"),
        ("age: 0.3", "age: old", 8, "not JSON"),
        ('"op:melt"', '"verb:melt"', 4, "not a list of tags"),
        ('["w00007-freeze"]', '["freeze"]', 6, "not a list of ids"),
        ("shown: 2", "hidden: 2", 1, "lacks shown"),
        ("shown: 2", "shown: 2\nhidden: 2", 11, "not one of"),
        ("## Procedure", "## Steps", 19, "'Steps'"),
        ("- pitfall (task 15)", "- danger (task 15)", 27, "- pitfall (task N)"),
        ("# Melt a metal", "Melt a metal", 13, "the title"),
        ("w00012-melt", "w00013-melt", 2, "belongs in"),
    ],
)
def test_an_edit_that_does_not_parse_names_document_and_line(
    old: str, new: str, line: int, told: str
) -> None:
    text = write_node(WORKFLOW)
    assert old in text
    with pytest.raises(DocumentError, match=rf"workflow/w00012-melt-a-metal\.md, line {line}: .*") as error:
        read_node(document_name(WORKFLOW), text.replace(old, new, 1))
    assert told in str(error.value)


def test_ids_are_safe_file_names() -> None:
    assert make_id("meta", 7, "Wärme & Kälte / ../x") == "m00007-warme-kalte-x"
    assert make_id("atomic", 123456, "水") == "a123456-atomic"


def test_removing_a_node_removes_every_edge_at_it() -> None:
    graph = Graph()
    atomic = Node("a00001-x", "atomic", "x", "", "", type="skill")
    one = Node("w00002-x", "workflow", "x", "", "", calls=("a00001-x",))
    two = Node("w00003-x", "workflow", "x", "", "", contrasts=("w00002-x",), calls=("a00001-x",))
    meta = Node("m00004-x", "meta", "x", "", "", members=("w00002-x", "w00003-x"))
    for node in (atomic, one, two, meta):
        graph.put(node)
    assert graph.opposed == {"w00002-x": {"w00003-x"}, "w00003-x": {"w00002-x"}}
    assert graph.contrast_pairs == 1
    graph.remove("w00002-x")
    assert graph.dangling() == []
    assert graph["m00004-x"].members == ("w00003-x",)
    assert graph["w00003-x"].contrasts == ()
    assert graph.callers["a00001-x"] == {"w00003-x"}
    assert graph.contrast_pairs == 0
    graph.remove("a00001-x")
    assert graph["w00003-x"].calls == ()
    assert graph.counts["workflow"] == 1 and graph.counts["skill"] == 0


def test_the_record_is_kept_in_files_of_a_hundred_lines() -> None:
    state = State()
    for task in range(1, 251):
        state.add(Entry(task, "score", ("op:heat", repr(task / 1000), "create")))
    documents = state.documents()
    assert sorted(documents) == ["state/counters.md", *(f"state/record-000{n}.md" for n in (1, 2, 3))]
    state.add(Entry(251, "deleted", ("w00001-x", "0.5", "-", "1 2")))
    changed = state.documents()
    assert [name for name in changed if changed[name] != documents.get(name)] == ["state/record-0003.md"]
    assert read_state(changed).entries == state.entries
    with pytest.raises(DocumentError, match=r"state/record-0002\.md, line 5: .*task one"):
        read_state(
            {
                **changed,
                "state/record-0002.md": changed["state/record-0002.md"].replace("task 102", "task one"),
            }
        )


# W against its definition

TAGS = ("op:heat", "op:cool", "op:find", "obj:tin", "obj:lead", "obj:water", "app:a", "app:b")
VOCABULARY = ("heat", "cool", "tin", "lead", "stove", "freezer", "find", "move", "focus", "open")


def random_view(rng: np.random.Generator) -> tuple[View, tuple[str, ...]]:
    vectors = rng.normal(size=(2, 6)).astype(np.float32)
    vectors[:, 0] += 1.5
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tags = tuple(map(str, rng.choice(TAGS, size=rng.integers(0, 4), replace=False)))
    text = " ".join(rng.choice(VOCABULARY, size=5))
    return View.of(vectors[0], vectors[1], tags, text), tags


def slow_score(one: View, other: View) -> float:
    """s_nn from its definition, with plain python."""

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return max(0.0, sum(float(x) * float(y) for x, y in zip(a, b, strict=True)))

    def overlap(a: frozenset[str], b: frozenset[str]) -> float:
        return len(a & b) / len(a | b) if a | b else 0.0

    s = 0.40 * cosine(one.content, other.content) + 0.25 * cosine(one.index, other.index)
    return round(s + 0.30 * overlap(one.tags, other.tags) + 0.05 * overlap(one.words, other.words), 6)


def slow_graph(
    views: dict[int, View], group: dict[int, str], records: Groups
) -> dict[tuple[int, int], float]:
    """W from its definition: every pair against its threshold, then each node's 6 strongest."""
    admitted: dict[int, list[tuple[float, int]]] = {number: [] for number in views}
    for one, other in combinations(sorted(views), 2):
        s = slow_score(views[one], views[other])
        same = group[one] == group[other]
        least = threshold(records.of(group[one]), 0.5, 0.40, 6) if same else 0.55
        if s > least:
            admitted[one].append((-s, other))
            admitted[other].append((-s, one))
    kept = {}
    for number, others in admitted.items():
        for s, other in sorted(others)[:6]:
            kept[tuple(sorted((number, other)))] = -s
    return kept  # type: ignore[return-value]


def named(edges: Edges, numbers: list[int]) -> dict[tuple[int, int], float]:
    return {
        (numbers[a], numbers[b]): w / UNIT
        for a, b, w in zip(edges.low.tolist(), edges.high.tolist(), edges.weight.tolist(), strict=True)
    }


@given(st.integers(0, 10_000), st.lists(st.integers(0, 5), min_size=20, max_size=45))
@settings(max_examples=15, deadline=None)
def test_w_equals_a_full_computation_after_any_writes_and_deletions(seed: int, script: list[int]) -> None:
    rng = np.random.default_rng(seed)
    store, w, records = Views(6, Weights()), WorkflowGraph(), Groups()
    views: dict[int, View] = {}
    group: dict[int, str] = {}

    def id_of(number: int) -> str:
        return f"w{number:05d}-x"

    for number, action in enumerate(script, 1):
        if action == 0 and len(views) > 3:
            gone = [int(n) for n in rng.choice(sorted(views), size=len(views) // 3, replace=False)]
            for dead in gone:
                store.remove(id_of(dead))
                del views[dead], group[dead]
            w.remove(gone, lambda n: store.node_scores(views[n])[store.rows("workflow")])
        else:
            view, tags = random_view(rng)
            # Workflows share the matrices with other kinds of nodes.
            store.put(f"a{number + 1000:05d}-x", number + 1000, "atomic", random_view(rng)[0])
            scores = store.node_scores(view)[store.rows("workflow")]
            assert scores.tolist() == [slow_score(view, views[n]) for n in sorted(views)]
            group[number] = next((t for t in tags if t.startswith("app:")), "none")
            in_group = sorted(
                (s for s, n in zip(scores, sorted(views), strict=True) if group[n] == group[number])
            )
            best = w.add(number, group[number], scores)
            assert best == in_group[::-1][:6]
            records.add(group[number], best)
            store.put(id_of(number), number, "workflow", view)
            views[number] = view
        edges = w.edges(lambda g: threshold(records.of(g), 0.5, 0.40, 6), 0.55)
        assert named(edges, sorted(views)) == pytest.approx(slow_graph(views, group, records))
        anew = WorkflowGraph()
        blocks = store.pair_scores(store.rows("workflow"))
        anew.build(sorted(views), [group[n] for n in sorted(views)], blocks)
        again = anew.edges(lambda g: threshold(records.of(g), 0.5, 0.40, 6), 0.55)
        assert named(again, sorted(views)) == named(edges, sorted(views))


def test_the_query_side_counts_the_share_of_its_rare_words() -> None:
    store = Views(2, Weights(0, 0, 0, 1.0))
    nothing = np.zeros(2, dtype=np.float32)
    for number, text in enumerate(("melt tin", "melt lead", "find water"), 1):
        store.put(f"w{number:05d}-x", number, "workflow", View.of(nothing, nothing, (), text))
    scores = store.query_scores(View.of(nothing, nothing, (), "melt the lead"))
    # of N = 3: melt is in 2, ln(4/3) + 1; lead in 1, ln 2 + 1
    melt, lead = 1 + np.log(4 / 3), 1 + np.log(2)
    assert scores.tolist() == pytest.approx([melt / (melt + lead), 1.0, 0.0], abs=1e-6)
    assert store.query_scores(View.of(nothing, nothing, (), "")).tolist() == [0, 0, 0]


def test_removed_rows_are_reused_and_leave_no_trace() -> None:
    rng = np.random.default_rng(1)
    store, kept = Views(6, Weights()), {}
    for number in range(1, 400):
        view, _ = random_view(rng)
        store.put(f"w{number:05d}-x", number, "workflow", view)
        kept[number] = view
        if number % 3:
            store.remove(f"w{number:05d}-x")
            del kept[number]
    assert len(store) == len(kept) and len(store.ids) < 2 * len(kept)
    query, _ = random_view(rng)
    scores = store.node_scores(query)[store.rows("workflow")]
    assert scores.tolist() == [slow_score(query, view) for view in kept.values()]
