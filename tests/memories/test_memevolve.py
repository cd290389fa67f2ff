"""MemEvolve: scores, edges and the consolidation at 50, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from agents.base import MalformedReply
from envs.base import Task
from memories.memevolve.fusion import FusionNode, Link, fused, taken_in, united, useless, with_neighbours
from memories.memevolve.tfidf import Tfidf
from tests.memories.helpers import Axes, Scripted, build, experience, live


def encoded(
    success: str = "", pattern: str = "", playbook: tuple[str, ...] = (), checklist: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {"success": success, "pattern": pattern, "playbook": list(playbook), "checklist": list(checklist)}


def test_tfidf_is_the_usual_smoothed_one() -> None:
    """Texts: ab ab cd | cd ef. idf(ab) = idf(ef) = ln(3/2) + 1, idf(cd) = ln(3/3) + 1 = 1."""
    tfidf = Tfidf()
    tfidf.put("gone", "ab zz zz")
    tfidf.put("1", "ab AB cd")
    tfidf.put("2", "cd ef")
    tfidf.remove("gone")
    rare = math.log(1.5) + 1
    first = 2 * rare / math.sqrt((2 * rare) ** 2 + 1)  # query "ab" against the first
    assert tfidf.scores("ab zz unknown") == pytest.approx({"1": first, "2": 0}, abs=1e-6)
    assert tfidf.scores("cd cd")["2"] == pytest.approx(1 / math.sqrt(1 + rare**2), abs=1e-6)
    assert Tfidf().scores("ab") == {}


def test_scores_and_neighbours() -> None:
    assert fused(0.5, 1.0) == pytest.approx(0.2 * 0.5 + 0.8 * 1.0)
    hits = [("a", 0.8), ("b", 0.4), ("c", 0.21)]
    around = {"a": ["b", "d", "e"], "b": ["e", "f"], "c": ["g"]}
    # d, e take 0.8 x 0.7 = 0.56 (e its better way), f 0.4 x 0.7 = 0.28; c is under 0.22, and brings nobody
    assert with_neighbours(hits, around) == [
        ("a", 0.8, ""),
        ("d", 0.56, "a"),
        ("e", 0.56, "a"),
        ("b", 0.4, ""),
        ("f", 0.28, "b"),
    ]
    assert [id for id, _, _ in with_neighbours(hits, around, most=1)] == ["a", "d", "b"]
    assert with_neighbours([("a", 0.3)], {"a": ["b"]}) == [("a", 0.3, "")]  # 0.21 is too little


def test_an_edge_is_useless_after_ten_uses_with_under_a_fifth_of_successes() -> None:
    assert not useless(Link("similar", 9, 0))
    assert useless(Link("similar", 10, 1))
    assert not useless(Link("similar", 10, 2))


def test_texts_are_united_by_line() -> None:
    assert united("- a\n- b", "- B \n- c") == "- a\n- b\n- c"
    assert len(united("\n".join(map(str, range(11))), "x\ny\nz").splitlines()) == 12


def test_a_merge_unites_points_and_replaces_procedures() -> None:
    older = FusionNode("checklist", 1, "task 1", "- a", 2, True, {"00001": Link("similar", 3, 1)})
    newer = FusionNode("checklist", 5, "task 5", "- b", 1, False, {"00002": Link("similar")})
    merged = taken_in(older, newer)
    assert merged == FusionNode("checklist", 1, "task 1", "- a\n- b", 3, False, older.links)
    procedures = [replace(node, kind="playbook") for node in (older, newer)]
    merged = taken_in(*procedures)
    assert merged == FusionNode("playbook", 5, "task 5", "- b", 3, False, older.links)
    assert taken_in(older, replace(older, links={})).settled


def test_a_worked_stream() -> None:
    backbone = Scripted(
        encoded("boil boil", "find", ("go", "boil"), ("check",)),
        encoded(pattern="boil melt"),
        MalformedReply("no", "{"),
        encoded(),
        encoded(playbook=(" ", "melt  it")),
    )
    memory = build("memevolve", backbone, Axes("boil", "melt", "find"))
    outcomes = ["success", "failure", "success", "success", "unreadable", "success", "success"]
    for number, outcome in enumerate(outcomes, 1):
        memory.write(experience(number, f"task {number}", outcome))
    assert not backbone.replies
    documents = {name: text for name, text in memory.documents().items() if "/" in name}
    same = "same_task used 0 succeeded 0"
    near = "similar used 0 succeeded 0"
    head = "task: 1\nabout: task 1\nsupport: 1\nsettled: no\n"
    assert documents["nodes/00001.txt"] == f"kind: success\n{head}links:\ntext: boil boil\n"
    assert documents["nodes/00002.txt"] == f"kind: pattern\n{head}links:\n  - 00001 {same}\ntext: find\n"
    assert documents["nodes/00003.txt"] == (
        f"kind: playbook\n{head}links:\n  - 00001 {same}\n  - 00002 {same}\ntext:\n    - go\n    - boil\n"
    )
    assert documents["nodes/00004.txt"] == (
        f"kind: checklist\n{head}links:\n  - 00001 {same}\n  - 00002 {same}\n  - 00003 {same}\ntext: - check\n"
    )
    # boil melt: cosine 0.707 with nodes 1 and 3, under 0.75: no edge
    assert documents["nodes/00005.txt"] == (
        "kind: pattern\ntask: 3\nabout: task 3\nsupport: 1\nsettled: no\nlinks:\ntext: boil melt\n"
    )
    assert documents["nodes/00006.txt"] == (
        "kind: playbook\ntask: 7\nabout: task 7\nsupport: 1\nsettled: no\nlinks:\ntext: - melt it\n"
    )
    assert len(documents) == 6
    assert near not in "".join(documents.values())
    found = memory.counters()
    assert (found["successes"], found["malformed"], found["unreadable"], found["edges"]) == (5, 1, 1, 6)
    assert (
        found["nodes_success"],
        found["nodes_pattern"],
        found["nodes_playbook"],
        found["nodes_checklist"],
    ) == (1, 2, 2, 1)


def test_consolidation_at_fifty_successes() -> None:
    """Two families of patterns, told apart by cosine 0; 25 of each become one node of support 25."""
    backbone = Scripted(
        *[encoded(pattern=("boil it" if n % 2 else "melt it") + f"\npoint {n}") for n in range(1, 51)]
    )
    memory = build("memevolve", backbone, Axes("boil", "melt"))
    for number in range(1, 50):
        memory.write(experience(number, "a task"))
    assert memory.counters()["nodes"] == 49
    assert memory.counters()["edges"] == sum(min(5, n) for n in range(25)) + sum(min(5, n) for n in range(24))
    memory.write(experience(50, "a task"))
    found = memory.counters()
    assert (found["nodes"], found["merged"], found["consolidations"], found["edges"]) == (2, 48, 1, 0)
    points = "".join(f"    point {n}\n" for n in range(1, 23, 2))
    assert memory.documents()["nodes/00001.txt"] == (
        f"kind: pattern\ntask: 1\nabout: a task\nsupport: 25\nsettled: no\nlinks:\ntext:\n    boil it\n{points}"
    )
    assert "support: 25" in memory.documents()["nodes/00002.txt"]


def test_kinds_are_not_merged_with_each_other() -> None:
    backbone = Scripted(encoded("boil", "boil"), encoded("boil", "boil"))
    memory = build("memevolve", backbone, Axes("boil"), merge_every=2)
    memory.write(experience(1, "a task"))
    memory.write(experience(2, "a task"))
    graph = memory.graph()
    assert graph is not None
    assert [(node.id, node.kind) for node in graph.nodes] == [("00001", "success"), ("00002", "pattern")]
    # what led to the merged nodes leads to those that took them in
    assert [(edge.source, edge.target, edge.kind) for edge in graph.edges] == [
        ("00002", "00001", "same_task")
    ]


def test_edges_are_credited_by_the_verdict_and_pruned() -> None:
    """Node 2 (find) is recalled beside node 1 (boil) for "boil": ten uses, one success."""
    backbone = Scripted(encoded("boil", "find"), encoded())
    memory = build("memevolve", backbone, Axes("boil", "find"), top=1, merge_every=2)
    memory.write(experience(1, "a task"))
    for number in range(2, 11):
        recall = live(memory, experience(number, "boil", "failure", reason="no success"))
        assert [(item.id, item.kind) for item in recall.items] == [("00001", "success"), ("00002", "pattern")]
    live(memory, experience(11, "boil", "unreadable"))
    assert "  - 00001 same_task used 9 succeeded 0\n" in memory.documents()["nodes/00002.txt"]
    live(memory, experience(12, "boil", "success"))
    assert (memory.counters()["pruned"], memory.counters()["edges"]) == (1, 0)
    assert [item.id for item in memory.begin(Task(13, "boil"), "").items] == ["00001"]


def test_what_scores_too_little_is_not_recalled() -> None:
    memory = build("memevolve", Scripted(encoded("boil")), Axes("boil", "find"))
    memory.write(experience(1, "a task"))
    assert memory.begin(Task(2, "find"), "").text == ""
    assert "## How a similar task was completed (a task)\nboil" in memory.begin(Task(2, "boil"), "").text
