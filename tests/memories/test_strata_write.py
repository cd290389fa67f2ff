"""What STRATA learns from an episode: the cycle from the verdict to the collection."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from memories.base import DocumentError
from memories.strata import Strata
from memories.strata.graph import Bullet
from tests.memories.helpers import acts, experience
from tests.memories.strata_support import (
    Answers,
    Table,
    answers,
    change,
    do,
    draft,
    learn,
    plant,
    route,
    strata,
)

EAST, NORTH, HALF = (1.0, 0.0), (0.0, 1.0), (0.5, 0.5, 0.5, 0.5)


def ids(memory: Strata, kind: Any) -> list[str]:
    return [node.id for node in memory.store.graph.live(kind)]


def records(memory: Strata, kind: str) -> list[tuple[str, ...]]:
    return [entry.fields for entry in memory.store.state.entries if entry.kind == kind]


# The workflow's band


def test_the_first_workflow_is_created_and_records_nothing() -> None:
    memory = strata(answers(WorkflowDraft=draft("melt tin", "op:melt", "obj:tin", steps=["heat it", "wait"])))
    do(memory, 4, "melt tin")
    [node] = memory.store.graph.live("workflow")
    assert (node.title, node.content, node.sources) == ("melt tin", "1. heat it\n2. wait", (4,))
    assert (node.tags, node.age, node.age_at) == (("op:melt", "obj:tin"), 0.0, 1)
    assert records(memory, "score") == []


def band(cosine: tuple[float, ...], *tags: str) -> Strata:
    """A memory with one workflow, then a draft at a given cosine with given tags; no words in common."""
    memory = strata(answers(), Table({"first": EAST, "second": cosine}))
    learn(memory, 1, "x", WorkflowDraft=draft("first", "op:heat", "obj:tin", steps=["one"]))
    other = draft("second", *tags, steps=["two"]) | {"applicability": "elsewhere"}
    learn(memory, 2, "y", WorkflowDraft=other)
    return memory


def test_a_near_duplicate_is_dropped() -> None:
    # 0.65 x 1 + 0.30 x 1
    memory = band(EAST, "op:heat", "obj:tin")
    assert records(memory, "score") == [("op:heat", "0.95", "noop")]
    assert len(ids(memory, "workflow")) == 1
    assert memory.store.graph[ids(memory, "workflow")[0]].bullets == ()


def test_a_neighbour_adds_one_bullet_with_the_difference() -> None:
    # 0.65 x 0.5 + 0.30 x 1/3 = 0.425
    memory = band(HALF, "op:heat", "obj:lead")
    assert records(memory, "score") == [("op:heat", "0.425", "add_bullet")]
    [node] = memory.store.graph.live("workflow")
    assert node.bullets == (Bullet("variant", "When it differs: another way", 2),)
    assert node.content == "1. one" and node.sources == (1, 2)


def test_a_stranger_is_created() -> None:
    # 0.65 x 0.5 = 0.325 < 0.33
    memory = band(HALF, "op:find")
    assert records(memory, "score") == [("op:find", "0.325", "create")]
    assert len(ids(memory, "workflow")) == 2


def test_a_score_is_recorded_after_its_decision() -> None:
    memory = band(HALF, "op:heat", "obj:lead")
    assert list(memory.store.reflection.of("op:heat")) == [0.425]
    # l = 1/31: the next decision in this group reads (0.425 + 30 x 0.33) / 31
    assert memory.store.band("op:heat")[0] == pytest.approx((0.425 + 9.9) / 31)
    assert memory.store.band("op:find") == (0.33, 0.62)


@pytest.mark.parametrize(("apart", "decision"), [(False, "add_bullet"), (True, "create")])
def test_opposites_may_be_kept_apart(apart: bool, decision: str) -> None:
    """By the paper's rule a procedure that cools becomes a variant of one that heats; a switch forbids it."""
    memory = strata(answers(), Table({"first": EAST, "second": HALF, "third": NORTH}), opposites_apart=apart)
    learn(memory, 1, "x", WorkflowDraft=draft("third", "op:find", steps=["zero"]) | {"applicability": "far"})
    learn(memory, 2, "y", WorkflowDraft=draft("first", "op:heat", "obj:tin", steps=["one"]))
    other = draft("second", "op:freeze", "obj:tin", steps=["two"]) | {"applicability": "elsewhere"}
    learn(memory, 3, "z", WorkflowDraft=other)
    # 0.65 x 0.5 + 0.30 x 1/3 = 0.425 to the opposite; 0.65 x 0.5 = 0.325 to the other workflow
    assert records(memory, "score")[-1] == ("op:freeze", "0.325" if apart else "0.425", decision)
    assert memory.counters()["contrast_pairs"] == (1 if apart else 0)


# Failures and unreadable verdicts


def test_a_failed_episode_adds_a_pitfall_to_the_nearest_workflow_and_nothing_else() -> None:
    memory = strata(answers(Routing=route("skill", "code", "role", "workflow")), Table({"melt": EAST}))
    workflow = plant(memory, "workflow", "melt tin", "op:melt")
    before = memory.store.graph[workflow]
    do(memory, 7, "melt lead", "failure")
    after = memory.store.graph[workflow]
    assert after.bullets == (Bullet("pitfall", "When it is hot: touching it", 7),)
    assert (after.content, after.calls, after.title) == (before.content, before.calls, before.title)
    assert len(memory.store.graph.nodes) == 1
    assert records(memory, "score") == []


def test_a_failed_episode_far_from_every_workflow_writes_and_asks_nothing() -> None:
    memory = strata(backbone := answers(), Table({"melt": EAST, "find": NORTH}))
    plant(memory, "workflow", "melt tin")
    do(memory, 7, "find a plant", "failure")
    assert [schema for _, schema, _, _ in backbone.calls] == ["QueryTags"]
    assert memory.counters()["pitfalls"] == 0


def test_the_router_may_see_nothing_worth_keeping() -> None:
    memory = strata(answers(Routing=route()), Table({"melt": EAST}))
    plant(memory, "workflow", "melt tin")
    do(memory, 7, "melt lead", "failure")
    do(memory, 8, "melt lead")
    assert len(memory.store.graph.nodes) == 1
    assert memory.store.graph[ids(memory, "workflow")[0]].bullets == ()


def test_an_unreadable_verdict_ages_and_writes_nothing_else() -> None:
    memory = strata(backbone := answers(), Table({"melt": EAST, "find": NORTH}))
    winner, bystander = plant(memory, "workflow", "melt tin"), plant(memory, "workflow", "find a plant")
    before = dict(memory.documents())
    do(memory, 3, "melt lead", "unreadable")
    assert [schema for _, schema, _, _ in backbone.calls] == ["QueryTags"]
    changed = {name for name, text in memory.documents().items() if before.get(name) != text}
    assert changed == {f"workflow/{winner}.md", "state/counters.md"}
    assert memory.store.age(memory.store.graph[winner]) == pytest.approx(0.01)
    assert memory.store.age(memory.store.graph[bystander]) == pytest.approx(0.02)


def test_ages_over_a_stream() -> None:
    # raw scores 0.65 and 0.65 x 0.75 = 0.4875; `find` is not retrieved.
    table = Table({"query": EAST, "melt": EAST, "boil": (0.75, 0.5, 0.25, 0.34), "find": NORTH})
    memory = strata(answers(), table)
    melt, boil, find = (plant(memory, "workflow", title) for title in ("melt", "boil", "find"))

    def ages() -> list[float]:
        return [memory.store.age(memory.store.graph[id]) for id in (melt, boil, find)]

    do(memory, 1, "query", "unreadable")
    lost = 0.10 * 0.4875 * (1 - (0.65 - 0.4875))
    assert ages() == pytest.approx([0.01, 0.02 + lost, 0.02])
    do(memory, 2, "query", "unreadable")
    assert ages() == pytest.approx([0.015, 0.04 + 2 * lost, 0.04])
    do(memory, 3, "find", "unreadable")
    assert ages() == pytest.approx([0.035, 0.06 + 2 * lost, 0.03])
    do(memory, 4, "elsewhere", "unreadable")
    assert ages() == pytest.approx([0.055, 0.08 + 2 * lost, 0.05])


# Atomics


def test_atomics_come_first_and_the_workflow_names_those_it_calls() -> None:
    def workflow(prompt: str) -> dict[str, Any]:
        found = re.findall(r"^id: (a\S+)$", prompt, re.MULTILINE)
        return draft("melt tin", calls=[*reversed(found), "a99999-none", found[0]])

    memory = strata(
        answers(
            Routing=route("workflow", "role", "skill"),
            AtomicChanges=lambda prompt: {
                "changes": [
                    change("stove" if "\nskill\n" in prompt else "searcher", tags=["op:use", "nonsense"])
                ]
            },
            WorkflowDraft=workflow,
        )
    )
    do(memory, 1, "melt tin")
    skill, role = memory.store.graph.live("atomic")
    assert [(node.type, node.title) for node in (skill, role)] == [("skill", "stove"), ("role", "searcher")]
    [node] = memory.store.graph.live("workflow")
    assert node.calls == (role.id, skill.id)
    assert memory.counters()["unknown_ids"] == 1
    assert memory.counters()["rejected_tags"] == 2


def test_a_refine_rewrites_one_node_and_keeps_its_id() -> None:
    memory = strata(answers(Routing=route("skill")))
    old = plant(memory, "atomic", "use stove", "op:heat", sources=(1,))
    learn(memory, 5, "use stove", AtomicChanges={"changes": [change("use any stove", old)]})
    [node] = memory.store.graph.live("atomic")
    assert (node.id, node.title, node.content) == (old, "use any stove", "how to use any stove")
    assert (node.tags, node.sources) == (("op:heat",), (1, 5))


def test_a_refine_of_several_leaves_tombstones_and_moves_their_callers() -> None:
    memory = strata(answers(Routing=route("skill")))
    one, two, three = (plant(memory, "atomic", f"use stove {n}") for n in "abc")
    workflow = plant(memory, "workflow", "melt", calls=(two, three, one))
    learn(memory, 5, "use stove", AtomicChanges={"changes": [change("use all stoves", one, two, "a77777-x")]})
    graph = memory.store.graph
    merged = ids(memory, "atomic")[-1]
    assert ids(memory, "atomic") == [three, merged]
    assert graph[merged].merged_from == (one, two)
    assert graph[workflow].calls == (merged, three)
    assert not graph[one].live and one not in memory.store.views.row
    assert "live: false" in memory.documents()[f"atomic/{one}.md"]
    assert memory.counters()["unknown_ids"] == 1 and memory.counters()["atomic_merged"] == 1
    assert graph.dangling() == []


def test_a_refine_of_unknown_ids_creates() -> None:
    memory = strata(
        answers(Routing=route("code"), AtomicChanges={"changes": [change("snippet", "a00099-x")]})
    )
    do(memory, 1, "x")
    assert [node.type for node in memory.store.graph.live("atomic")] == ["code"]


def test_replies_that_stay_malformed_are_counted_and_the_stream_goes_on() -> None:
    memory = strata(answers(Routing=None))
    do(memory, 1, "x")
    learn(memory, 2, "y", Routing=route("skill", "workflow"), AtomicChanges=None, WorkflowDraft=None)
    assert memory.counters()["malformed"] == 3
    learn(memory, 3, "z", WorkflowDraft=draft("z"))
    assert len(ids(memory, "workflow")) == 1
    # the tags of a query too, once there is something to find
    learn(memory, 4, "q", QueryTags=None, Routing=route())
    assert memory.counters()["malformed"] == 5


def test_a_draft_without_tags_is_in_no_group() -> None:
    memory = strata(answers(), Table({"first": EAST, "second": HALF}))
    learn(memory, 1, "x", WorkflowDraft=draft("first"))
    learn(memory, 2, "y", WorkflowDraft=draft("second"))
    assert [fields[0] for fields in records(memory, "score")] == ["none"]


def test_a_long_trajectory_is_cut_to_the_configured_length() -> None:
    from agents import tokens

    memory = strata(backbone := answers(WorkflowDraft=draft("x")), episode_tokens=2000)
    steps = acts(*((f"open door {n}", "The door is open. " * 60) for n in range(60)))
    given = experience(1, "x", "success", steps)
    memory.write(given)
    assert sum(tokens.count(step.observation) for step in steps) > 10_000
    for _, _, text, _ in backbone.calls:
        assert tokens.count(text) < 2000 + 1000


# Contrast edges


def contrasts(kind: str, *titles_and_tags: tuple[str, ...], **parameters: Any) -> Strata:
    memory = strata(answers(), Table({}), contrast=kind, thresholds="fixed", low_prior=2.0, **parameters)
    for number, (title, *tags) in enumerate(titles_and_tags, 1):
        learn(memory, number, title, WorkflowDraft=draft(title, *tags))
    return memory


PAIRS = (
    ("melt", "op:melt", "obj:lead"),
    ("freeze", "op:freeze", "obj:tin"),
    ("both", "op:heat", "op:cool"),
    ("boil", "op:boil", "obj:tin"),
    ("find", "op:find", "obj:tin"),
)


def test_opposite_operators_are_linked_whatever_their_objects() -> None:
    memory = contrasts("rule", *PAIRS)
    melt, freeze, _, boil, _ = ids(memory, "workflow")
    assert memory.store.graph.opposed == {melt: {freeze}, freeze: {melt, boil}, boil: {freeze}}
    assert memory.counters()["contrast_pairs"] == 2


def test_hand_placed_and_no_contrast_edges() -> None:
    assert contrasts("none", *PAIRS).counters()["contrast_pairs"] == 0
    pairs = [[["op:freeze", "obj:*"], ["op:boil", "obj:tin"]]]
    memory = contrasts("hand", *PAIRS, hand_pairs=pairs)
    _, freeze, _, boil, _ = ids(memory, "workflow")
    assert memory.store.graph.opposed == {boil: {freeze}, freeze: {boil}}


# The meta layer


def family(memory: Strata, *titles: str, tags: tuple[str, ...] = ("op:heat",)) -> list[str]:
    """Workflows planted by hand."""
    return [plant(memory, "workflow", title, *tags) for title in titles]


def round_of(memory: Strata, number: int = 9) -> None:
    """One write that adds nothing of its own."""
    learn(memory, number, "elsewhere", Routing=route())


def test_a_community_becomes_a_meta_with_a_routing_table() -> None:
    def meta(prompt: str) -> dict[str, Any]:
        first = re.findall(r"^id: (w\S+)$", prompt, re.MULTILINE)[0]
        routes = [
            {"member": first, "when": "it is tin.", "note": "slow"},
            {"member": "w1-x", "when": "never"},
        ]
        return {
            "title": "heating",
            "principle": "heat\nrises",
            "applicability": "hot things",
            "routes": routes,
        }

    memory = strata(answers(MetaDraft=meta), Table({"melt": EAST}))
    one, two = family(memory, "melt tin", "melt lead")
    round_of(memory)
    [node] = memory.store.graph.live("meta")
    assert (node.title, node.content, node.members) == ("heating", "heat\nrises", (one, two))
    assert node.tags == ("op:heat",)
    assert node.bullets == (
        Bullet("variant", 'it is tin: follow "melt tin" (slow)', 9, one),
        Bullet("variant", 'for melt lead: follow "melt lead"', 9, two),
    )
    assert memory.counters()["unknown_ids"] == 1
    assert memory.counters()["meta_support"] == 2
    assert records(memory, "meta") == [("created", node.id, "-", f"{one} {two}")]
    round_of(memory, 10)
    assert len(ids(memory, "meta")) == 1 and memory.counters()["metas_updated"] == 0


def named_after_members(prompt: str) -> dict[str, Any]:
    title = "melt family" if "melt" in prompt else "grow family"
    return {"title": title, "principle": "alike", "applicability": "such tasks", "routes": []}


def grown(**parameters: Any) -> Strata:
    """Two metas; then two newcomers join the first one's community."""
    memory = strata(
        answers(MetaDraft=named_after_members), Table({"melt": EAST, "grow": NORTH}), **parameters
    )
    family(memory, "melt tin", "melt lead", tags=("op:heat", "obj:tin"))
    family(memory, "grow pea", "grow rose", "grow fern", "grow oak", tags=("op:grow",))
    round_of(memory)
    family(memory, "melt water", "melt ice", tags=("op:heat", "obj:water"))
    round_of(memory, 10)
    return memory


def test_a_known_meta_absorbs_newcomers_and_its_tags_follow_this_round() -> None:
    memory = grown()
    melt, grow = memory.store.graph.live("meta")
    assert [memory.store.graph[id].title for id in melt.members] == [
        "melt tin",
        "melt lead",
        "melt water",
        "melt ice",
    ]
    assert len(grow.members) == 4
    assert [bullet.task for bullet in melt.bullets] == [9, 9, 10, 10]
    assert melt.tags == ("op:heat", "obj:tin", "obj:water")
    assert memory.counters()["metas_created"] == 2 and memory.counters()["metas_updated"] == 1
    assert memory.counters()["metas_churned"] == 0
    assert melt.sources == (9, 10)


def test_meta_tags_may_accumulate_instead() -> None:
    # Two separate communities: the newcomers share neither content nor tags with the old ones.
    def tags(mode: str) -> tuple[str, ...]:
        half = (0.75, 0.5, 0.25, 0.34)
        memory = strata(answers(), Table({"family": half, "melt": EAST, "grow": NORTH}), meta_tags=mode)
        family(memory, "melt tin", "melt lead", tags=("op:heat", "obj:tin"))
        round_of(memory)
        family(memory, "grow pea", "grow rose", tags=("op:grow", "obj:plant"))
        round_of(memory, 10)
        [meta] = memory.store.graph.live("meta")
        assert len(meta.members) == 4
        return meta.tags

    assert tags("round") == ("op:grow", "obj:plant")
    assert tags("accumulate") == ("op:heat", "obj:tin", "op:grow", "obj:plant")


def test_a_community_far_from_every_meta_is_novel() -> None:
    memory = strata(answers(), Table({"family": EAST, "melt": EAST, "grow": NORTH}))
    family(memory, "melt tin", "melt lead", tags=("op:heat",))
    family(memory, "grow pea", "grow rose", tags=("op:grow",))
    round_of(memory)
    assert [len(node.members) for node in memory.store.graph.live("meta")] == [2, 2]
    assert memory.counters()["metas_churned"] == 1  # the two drafts are the same but for their members


def test_without_the_novelty_gate_unlinked_members_make_a_meta_of_their_own() -> None:
    memory = grown(novelty_gate=False)
    assert [len(node.members) for node in memory.store.graph.live("meta")] == [2, 4, 2]
    assert memory.counters()["metas_updated"] == 0


def test_a_lone_workflow_makes_no_meta() -> None:
    memory = strata(answers(), Table({"melt": EAST, "grow": NORTH}))
    family(memory, "melt tin")
    family(memory, "grow pea", tags=("op:grow",))
    round_of(memory)
    assert ids(memory, "meta") == []


# Collection


def test_a_collection_cascades_to_atomics_and_metas() -> None:
    memory = strata(answers(), Table({}), cap=2, meta=False, hysteresis=0.0)
    lonely, shared = plant(memory, "atomic", "lonely"), plant(memory, "atomic", "shared")
    never = plant(memory, "atomic", "never called")
    buried = plant(memory, "atomic", "buried")
    memory.store.bury(buried)
    memory.store.touch(replace(memory.store.graph[lonely], merged_from=(buried,)))
    old = plant(memory, "workflow", "old", "op:a", calls=(lonely, shared), age=5.0)
    kept = plant(memory, "workflow", "kept", "op:b", calls=(shared,))
    young = plant(memory, "workflow", "young", "op:c")
    only = plant(memory, "meta", "only", members=(old,))
    both = plant(memory, "meta", "both", members=(old, kept), bullets=(Bullet("variant", "x", 1, old),))
    round_of(memory)
    assert ids(memory, "workflow") == [kept, young]
    assert ids(memory, "atomic") == [shared, never]
    assert buried not in memory.store.graph
    assert ids(memory, "meta") == [both] and only not in memory.store.graph
    assert memory.store.graph[both].members == (kept,)
    assert memory.store.graph[both].bullets == (Bullet("variant", "x", 1, old),)
    counters = memory.counters()
    assert (counters["deletions"], counters["atomics_cascaded"], counters["metas_cascaded"]) == (1, 1, 1)
    [(deleted, _, spared, sources)] = records(memory, "deleted")
    assert (deleted, spared) == (old, "-") and sources
    assert memory.store.graph.dangling() == []


def test_the_cap_triggers_and_hysteresis_leaves_room() -> None:
    memory = strata(answers(), Table({}), cap=20, meta=False, thresholds="fixed", low_prior=2.0)
    sizes = []
    for number in range(1, 26):
        learn(memory, number, f"task {number}", WorkflowDraft=draft(f"task {number}", f"obj:thing{number}"))
        sizes.append(len(ids(memory, "workflow")))
    # 21 workflows fall to 17 = 20 x 0.85; then it grows again
    assert sizes[19:] == [20, 17, 18, 19, 20, 17]
    assert memory.counters()["deletions"] == 8


def test_without_collection_the_store_grows() -> None:
    memory = strata(
        answers(), Table({}), cap=3, collection=False, meta=False, thresholds="fixed", low_prior=2.0
    )
    for number in range(1, 9):
        learn(memory, number, f"task {number}", WorkflowDraft=draft(f"task {number}"))
    assert len(ids(memory, "workflow")) == 8


# Documents


def test_an_edit_by_hand_takes_effect() -> None:
    backbone = answers(WorkflowDraft=draft("melt tin", "op:melt", steps=["light the stove"]))
    memory = strata(backbone, Table({"melt": EAST, "grow": NORTH}))
    do(memory, 1, "melt tin")
    [name] = [name for name in memory.documents() if name.startswith("workflow/")]
    edited = (
        memory.documents()[name].replace("# melt tin", "# grow a pea").replace("light the stove", "water it")
    )
    memory.load({**memory.documents(), name: edited.replace("for melt tin", "for grow")})
    assert "water it" in do(memory, 2, "grow", "unreadable").text


def test_an_edge_to_nothing_is_refused_by_name_and_line() -> None:
    memory = strata(answers(WorkflowDraft=draft("melt tin")))
    do(memory, 1, "melt tin")
    [name] = [name for name in memory.documents() if name.startswith("workflow/")]
    broken = memory.documents()[name].replace("calls: []", 'calls: ["a00042-gone"]')
    before = dict(memory.documents())
    with pytest.raises(DocumentError, match=rf"{name}, line 5: calls names 'a00042-gone'"):
        memory.load({**before, name: broken})
    assert dict(memory.documents()) == before


def test_the_drawn_graph_shows_age_quality_and_every_kind_of_edge() -> None:
    memory = grown()
    first, second, *_ = ids(memory, "workflow")
    skill = plant(memory, "atomic", "stove")
    plant(memory, "workflow", "melt all", "op:heat", calls=(skill,), contrasts=(first,))
    graph = memory.graph()
    facts = {node.id: node.facts for node in graph.nodes}
    assert {"age", "quality", "tags", "shown", "bullets"} <= set(facts[second])
    assert {edge.kind for edge in graph.edges} == {"call", "contrasts", "generalizes", "similar"}
    assert {node.kind for node in graph.nodes} == {"skill", "workflow", "meta"}


def test_wrong_parameters_are_named() -> None:
    for wrong, told in (
        ({"thresholds": "none"}, "memory.thresholds is 'none'"),
        ({"contrast": "all"}, "memory.contrast is 'all'"),
        ({"cap": 0}, "memory.cap is 0"),
        ({"gate": 1.5}, "memory.gate is 1.5"),
        ({"weights": {"tag": 1}}, "weights is"),
    ):
        with pytest.raises(ValueError, match=re.escape(told)):
            strata(Answers(), **wrong)
