"""Reflection: abstraction, contract checks, failures, versions, and that nothing is half published."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.backbone import Model, for_all_roles
from agents.base import MalformedReply, Step
from agents.scripted import ScriptedClient
from memories.base import EmbeddingFailed, Experience, Recall, Resources
from memories.embedder import Hashing
from memories.evoweave import EvoWeave
from memories.evoweave.abstraction import leaked, plain
from memories.evoweave.contracts import PLACEHOLDER, Operation
from memories.evoweave.invoked import concrete_values
from memories.evoweave.merging import Contract, allowed, relation
from tests.memories.evoweave_case import plan, proposal, reflection
from tests.memories.helpers import Anything, Rules, Scripted, acts, build, experience

BOIL = acts(
    ("open cupboard", "The cupboard is now open."),
    ("pour water into kettle", "You pour the water into the kettle."),
    ("activate stove", "The stove is broken."),
    ("activate oven", "The oven is now on, at 180 degrees."),
)


def evoweave(*replies: Any, **changes: Any) -> EvoWeave:
    memory = build("evoweave", Scripted(*replies), **changes)
    assert isinstance(memory, EvoWeave)
    return memory


def operations(memory: EvoWeave) -> dict[str, Operation]:
    return memory._archive.graph.operations


def backbone(memory: EvoWeave) -> Scripted:
    found = memory._resources.backbone
    assert isinstance(found, Scripted)
    return found


def told(outcome: str = "success", number: int = 1, steps: tuple[Step, ...] = BOIL) -> Experience:
    return experience(number, "Boil water in the kettle.", outcome, steps)


POUR = proposal(
    [2],
    "Pour water into kettle.",
    source=["open(cupboard)"],
    target=["in({liquid}, {vessel})"],
    inputs=["liquid: substance", "vessel: container"],
    effects=["in({liquid}, {vessel})"],
    bindings={"liquid": "water", "vessel": "kettle", "shelf": "cupboard"},
)


def test_bound_values_become_placeholders_and_the_history_keeps_them() -> None:
    memory = evoweave(reflection({**POUR, "source": []}))
    memory.write(told())
    [made] = operations(memory).values()
    assert made.description == "pour {liquid} into {vessel}"
    assert made.effects == ("in({liquid:substance}, {vessel:container})",)
    assert made.api == "pour"
    states = memory._archive.graph.states
    assert states[made.source].predicates == ()
    assert states[made.target].predicates == ("in(substance, container)",)
    assert "it went on" in memory.documents()["history/00001.txt"]


def test_a_value_in_a_placeholders_place_is_mended_once_and_then_recorded() -> None:
    """`cupboard` is an argument of the episode's actions and no type: refused, with the reason."""
    wrong = {**POUR, "source": ["open(cupboard)"], "bindings": {"liquid": "water", "vessel": "kettle"}}
    memory = evoweave(reflection(wrong), reflection({**wrong, "source": ["open({liquid})"]}))
    memory.write(told())
    assert len(operations(memory)) == 1
    prompt = backbone(memory).prompts("Reflection")[1]
    assert "<wrong>" in prompt and "'cupboard', a value of this episode" in prompt

    memory = evoweave(reflection(wrong), reflection(wrong))
    memory.write(told())
    assert not operations(memory)
    assert memory.counters()["rejected"] == 1 and memory.counters()["repairs"] == 1
    assert "'cupboard'" in memory.documents()["history/00001.txt"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": [9]}, "no round 9"),
        ({"api": "fly"}, "no capability 'fly'"),
        ({"api": "activate"}, "do not use 'activate'"),
        ({"source": ["st0042"]}, "no state st0042"),
        ({"source": ["st0001", "at(agent, {liquid})"]}, "either one id in use or predicates"),
        ({"description": "pour {liquid} at 180 degrees"}, "180"),
        ({"effects": ["in({nobody})"]}, "neither an input nor an output"),
        ({"inputs": ["kettle: kettle"]}, "kettle"),
    ],
)
def test_what_validation_refuses(change: dict[str, Any], said: str) -> None:
    wrong = reflection({**POUR, "source": [], **change})
    memory = evoweave(wrong, wrong)
    memory.write(told())
    assert not operations(memory)
    assert said in memory.documents()["history/00001.txt"]


def test_a_placeholder_named_like_a_value_takes_its_types_name() -> None:
    made = {
        **POUR,
        "description": "pour {water} into {kettle}",
        "source": [],
        "target": ["in({water}, {kettle})"],
        "effects": ["in({water}, {kettle})"],
        "inputs": ["water: substance", "kettle: container"],
        "bindings": {"water": "water", "kettle": "kettle"},
    }
    memory = evoweave(reflection(made))
    memory.write(told())
    [one] = operations(memory).values()
    assert one.description == "pour {substance} into {container}"
    assert one.effects == ("in({substance:substance}, {container:container})",)


READ = proposal(
    [4], "switch on {device}", inputs=["device: device"], outputs=["temperature: number", "smell: text"]
)


def test_outputs_are_observed_only_where_an_observation_shows_their_value() -> None:
    bound = {**READ, "bindings": {"device": "oven", "temperature": "180", "smell": "roses"}}
    memory = evoweave(reflection(bound))
    memory.write(told())
    [made] = operations(memory).values()
    assert {p.name: p.observed for p in made.outputs} == {"temperature": True, "smell": False}
    failed = evoweave(reflection(bound))
    failed.write(told("failure"))
    [made] = operations(failed).values()
    assert [p.name for p in made.outputs] == ["temperature"], "a failed episode gives observed outputs only"


def test_an_expected_output_becomes_observed_only_by_evidence() -> None:
    expected = {**READ, "bindings": {"device": "oven", "temperature": "180"}}
    seen = {**READ, "bindings": {"device": "oven", "temperature": "180", "smell": "oven is now on"}}
    memory = evoweave(reflection(expected), reflection(expected), reflection(seen))
    for number in (1, 2):
        memory.write(told(number=number))
        [made] = operations(memory).values()
        assert [p.observed for p in made.outputs] == [False, True]  # smell, temperature
    memory.write(told(number=3))
    [made] = operations(memory).values()
    assert all(p.observed for p in made.outputs) and made.version == 3


def test_a_failure_keeps_its_error_and_only_an_evidenced_recovery() -> None:
    failed = proposal(
        [3],
        "activate {device}",
        target=["active({device})"],
        inputs=["device: device"],
        effects=["active({device})"],
        outputs=["heat: number"],
        bindings={"device": "stove"},
        worked=False,
        error="The stove is broken.",
        recovery="activate another {device}",
    )
    evidenced = {**failed, "recovery_steps": [4]}
    for given_reply, recovery in (
        (failed, ""),
        (evidenced, "activate another {device}"),
        ({**failed, "recovery_steps": [2]}, ""),
    ):
        memory = evoweave(reflection(given_reply))
        memory.write(told("failure"))
        [made] = operations(memory).values()
        [failure] = made.failures
        assert (failure.error, failure.recovery) == ("The {device} is broken.", recovery)
        assert made.source == made.target and not made.effects and not made.outputs
    invented = evoweave(reflection({**failed, "error": "It exploded."}))
    invented.write(told("failure"))
    [made] = operations(invented).values()
    assert made.failures[0].error == "it did not work"


def test_a_failure_of_a_known_operation_is_told_there() -> None:
    good = proposal(
        [4],
        "activate {device}",
        effects=["active({device})"],
        inputs=["device: device"],
        bindings={"device": "oven"},
    )
    bad = {
        **good,
        "steps": [3],
        "worked": False,
        "error": "The stove is broken.",
        "bindings": {"device": "stove"},
    }
    memory = evoweave(reflection(good), reflection(bad))
    memory.write(told())
    memory.write(told("failure", 2))
    [made] = operations(memory).values()
    assert made.version == 2 and made.effects == ("active({device:device})",)
    assert made.failures[0].error == "The {device} is broken."
    assert [s.worked for s in made.provenance] == [True, False]


def test_an_unreadable_episode_leaves_history_only() -> None:
    memory = evoweave(reflection({**POUR, "source": []}))
    memory.write(told("unreadable"))
    assert not operations(memory) and set(memory.documents()) == {"state.txt", "history/00001.txt"}


# Contract checks

REQUEST = proposal(
    [1],
    "send payment of {amount} to {person}",
    inputs=["amount: number", "person: person"],
    target=["requested({amount}, {person})"],
    effects=["requested({amount}, {person})"],
)
SEND = {**REQUEST, "target": ["paid({amount}, {person})"], "effects": ["paid({amount}, {person})"]}


def test_requesting_a_payment_and_sending_money_stay_apart_whatever_the_words() -> None:
    """The same description, cosine 1: no decision is even asked for, since the contracts forbid it."""
    memory = evoweave(reflection(REQUEST), reflection(SEND))
    memory.write(told())
    memory.write(told(number=2))
    assert len(operations(memory)) == 2
    assert [schema for _, schema, _, _ in backbone(memory).calls] == ["Reflection", "Reflection"]


def test_the_contract_vetoes_what_the_backbone_proposes() -> None:
    """Other conditions: at most a variant, though the backbone says evidence."""
    later = {
        **REQUEST,
        "description": "send payment of {amount} to {person} now",
        "conditions": ["verified({person})"],
    }
    claim = {"decisions": [{"proposal": 1, "decision": "evidence", "target": "op00001@1"}]}
    memory = evoweave(reflection(REQUEST), reflection(later), claim)
    memory.write(told())
    memory.write(told(number=2))
    first, second = operations(memory).values()
    assert second.variant_of == first.id and first.version == 1
    assert (second.source, second.target) == (first.source, first.target), "a parallel edge"
    assert memory.counters()["vetoes"] == 1 and memory.counters()["variant"] == 1


@pytest.mark.parametrize(
    ("decision", "target", "versions"),
    [
        ("evidence", "op00001@1", [2]),
        ("evidence", "op00001@7", [1, 1]),
        ("evidence", "op00099@1", [1, 1]),
        ("new", "", [1, 1]),
    ],
)
def test_evidence_needs_the_current_version_of_a_candidate(
    decision: str, target: str, versions: list[int]
) -> None:
    again = {**REQUEST, "description": "send payment of {amount} to {person} again"}
    reply = {"decisions": [{"proposal": 1, "decision": decision, "target": target}]}
    memory = evoweave(reflection(REQUEST), reflection(again), reply)
    memory.write(told())
    memory.write(told(number=2))
    assert [each.version for each in operations(memory).values()] == versions


def test_similarity_below_the_threshold_asks_nothing_and_at_most_three_are_candidates() -> None:
    """Five equal contracts with near words: the sixth is compared with three of them."""
    extra = ["soon", "later", "today", "tonight", "tomorrow", "again"]
    texts = [f"send payment of {{amount}} to {{person}} {word}" for word in extra]
    new = {"decisions": [{"proposal": 1, "decision": "new"}]}
    replies: list[Any] = [reflection({**REQUEST, "description": texts[0]})]
    for text in texts[1:]:
        replies += [reflection({**REQUEST, "description": text}), new]
    memory = evoweave(*replies, merge_threshold=0.6)
    for number in range(6):
        memory.write(told(number=number + 1))
    assert backbone(memory).prompts("Decisions")[-1].count("(version 1)") == 3
    other = evoweave(
        reflection(REQUEST), reflection({**REQUEST, "description": "wash {person} with {amount}"})
    )
    other.write(told())
    other.write(told(number=2))
    assert len(operations(other)) == 2


CONTRACT = Contract(("a",), ("b",), ("x",), ("y",), ("c",), ("e",), "pour")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, "evidence"),
        ({"inputs": ("x", "x")}, "variant"),
        ({"conditions": ()}, "variant"),
        ({"target": ("z",)}, "variant"),
        ({"effects": ("f",)}, "new"),
        ({"outputs": ()}, "new"),
        ({"api": "open"}, "new"),
    ],
)
def test_the_relation_of_two_contracts(change: dict[str, Any], found: str) -> None:
    assert relation(replace(CONTRACT, **change), CONTRACT) == found


def test_the_weaker_claim_counts() -> None:
    assert allowed("evidence", "variant") == "variant" == allowed("variant", "evidence")
    assert allowed("evidence", "new") == "new" == allowed("new", "evidence")
    assert allowed("evidence", "evidence") == "evidence"


# Malformed replies and failed embeddings


def test_a_malformed_reflection_or_merge_publishes_nothing_and_is_counted() -> None:
    memory = evoweave(MalformedReply("no JSON", "..."))
    memory.write(told())
    assert memory.counters()["malformed_reflections"] == 1 and not operations(memory)

    again = {**REQUEST, "description": "send payment of {amount} to {person} again"}
    memory = evoweave(reflection(REQUEST), reflection(again, POUR | {"source": []}), MalformedReply("no", ""))
    memory.write(told())
    before = {name: text for name, text in memory.documents().items() if name.startswith(("op", "states"))}
    memory.write(told(number=2))
    after = {name: text for name, text in memory.documents().items() if name.startswith(("op", "states"))}
    assert after == before and memory.counters()["malformed_merges"] == 1


def test_a_malformed_plan_is_recorded_and_the_episode_goes_on() -> None:
    memory = evoweave(MalformedReply("no plan", "..."))
    recall = memory.begin(told().episode.task, "A kitchen.")
    assert recall.text == "" and [event.kind for event in recall.events] == ["malformed"]
    assert {tool.name for tool in recall.tools} >= {"open", "search", "path"}


class Broken:
    """An embedder that fails."""

    name, dimension = "broken", 8

    def embed(self, texts):  # type: ignore[no-untyped-def]
        raise EmbeddingFailed("the embedding service is down")


def test_a_failed_embedding_is_an_error_and_never_an_empty_match() -> None:
    memory = build("evoweave", Rules(), Broken())
    with pytest.raises(EmbeddingFailed, match="service is down"):
        memory.begin(told().episode.task, "A kitchen.")
    with pytest.raises(EmbeddingFailed, match="service is down"):
        memory.write(told())


# Laws over random replies

words = st.sampled_from(
    ["water", "kettle", "{item}", "{place}", "oven", "pour", "stove", "cupboard 3", "7", "st0001"]
)
phrases = st.lists(words, min_size=1, max_size=4).map(" ".join)
facts = st.lists(
    st.sampled_from(["at(agent, {place})", "has({item})", "hot(kettle)", "on(oven)", "ready"]), max_size=2
)
proposals = st.fixed_dictionaries(
    {
        "steps": st.lists(st.integers(0, 5), min_size=1, max_size=2),
        "description": phrases.map(lambda text: f"use {text}"),
        "source": facts,
        "target": facts,
        "inputs": st.lists(
            st.sampled_from(["item: object", "place: place", "kettle: stove", "water"]), max_size=3
        ),
        "outputs": st.lists(st.sampled_from(["result: number", "oven: oven"]), max_size=1),
        "conditions": facts,
        "effects": facts,
        "api": st.sampled_from(["", "pour", "open", "fly"]),
        "bindings": st.dictionaries(
            st.sampled_from(["item", "place", "result"]), st.sampled_from(["water", "oven", "180"])
        ),
        "worked": st.booleans(),
        "error": st.sampled_from(["", "The stove is broken.", "nothing of the kind"]),
        "recovery": phrases,
        "recovery_steps": st.lists(st.integers(0, 5), max_size=2),
    }
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.lists(proposals, max_size=4), st.sampled_from(["success", "failure"])),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_proposed_no_value_is_published_references_resolve_and_versions_grow(stream) -> None:  # type: ignore[no-untyped-def]
    memory = evoweave(merge_threshold=0.5)
    versions: dict[str, int] = {}
    for number, (made, outcome) in enumerate(stream, 1):
        reply = reflection(*made)
        seen = told(outcome, number)
        write_with(memory, seen, reply)
        values = concrete_values(seen.episode.task.instruction, [s.action for s in BOIL], memory._reading)
        graph = memory._archive.graph
        for id, each in graph.operations.items():
            bare = [
                each.description,
                *(f.recovery for f in each.failures),
                *(p.type for p in (*each.inputs, *each.outputs)),
            ]
            bare += [
                PLACEHOLDER.sub(" ", re.sub(r"\{\w+:(\w+)\}", r" \1 ", fact))
                for fact in (*each.conditions, *each.effects)
            ]
            bare += [fact for state in (each.source, each.target) for fact in graph.states[state].predicates]
            bare += [f.error for f in each.failures]
            for text in bare:
                assert not leaked(text, values), (text, values)
            names = {p.name for p in (*each.inputs, *each.outputs)}
            assert not {plain(name) for name in names} & values
            assert each.source in graph.states and each.target in graph.states
            assert not each.api or each.api in memory._reading.definitions
            assert all(code in memory._archive.capabilities.codes for code in each.code)
            assert each.version >= versions.get(id, 1)
            versions[id] = each.version
        assert set(versions) == set(graph.operations), "nothing is ever lost"
        assert len({s.predicates for s in graph.states.values()}) == len(graph.states)


def write_with(memory: EvoWeave, seen: Experience, reply: dict[str, Any]) -> None:
    """Write with a backbone that repeats `reply` and claims evidence for every proposal."""
    claim = {
        "decisions": [{"proposal": n, "decision": "evidence", "target": f"op{n:05d}@1"} for n in range(1, 6)]
    }

    class Claims(Scripted):
        def answer(self, messages, role, schema, text):  # type: ignore[no-untyped-def]
            self.replies = [claim if schema and schema.__name__ == "Decisions" else reply]
            return super().answer(messages, role, schema, text)

    memory._resources = replace(memory._resources, backbone=Claims())
    memory.write(seen)


@pytest.mark.parametrize("kind", [Rules, Anything])
def test_a_recall_of_another_kind_is_written_too(kind) -> None:  # type: ignore[no-untyped-def]
    """A memory may be given experience from an episode that it did not accompany."""
    memory = build("evoweave", kind())
    memory.write(Experience(told().episode, told().verdict, Recall()))
    assert memory.counters()["episodes"] == 1


def test_a_bad_reply_is_asked_for_again_once_with_the_reason_and_then_recorded() -> None:
    """Through the real backbone: a cyclic plan is answered by a good one; a reflection stays broken."""
    cycle = json.dumps(plan(("s1", "pour {liquid}", ["s2"]), ("s2", "drink {liquid}", ["s1"])))
    good = json.dumps(plan(("s1", "pour {liquid}", [])))
    client = ScriptedClient([cycle, good, "I would rather not.", "Still not."])
    memory = EvoWeave(Resources(Model(for_all_roles(client)), Hashing(64)))
    recall = memory.begin(told().episode.task, "A kitchen.")
    assert "s1. pour {liquid}" in recall.text
    assert "cycle" in client.requests[1].messages[-1]["content"]
    memory.write(Experience(told().episode, told().verdict, recall))
    assert len(client.requests) == 4
    assert memory.counters()["malformed_reflections"] == 1 and memory.counters()["operations"] == 0
    assert {request.role for request in client.requests[:2]} == {"plan"}
    assert {request.role for request in client.requests[2:]} == {"write"}


MACRO = {
    "name": "Fill And Heat",
    "kind": "macro",
    "summary": "fill {vessel}, then heat",
    "body": "pour {liquid} into {vessel}\nactivate {device}",
    "bindings": {"liquid": "water", "vessel": "kettle", "device": "oven"},
    "steps": [2, 4],
}


def test_an_operation_refers_to_code_and_roles_that_exist_or_is_refused() -> None:
    role = {"domain": "Kitchen", "advice": ["open things first"]}
    made = {**POUR, "source": [], "code": ["Fill And Heat"], "role": "kitchen"}
    seen = told(steps=(*BOIL, Step("act", "", "look around", "This is the kitchen.")))
    memory = evoweave(reflection(made, code=[MACRO], roles=[role]))
    memory.write(seen)
    [one] = operations(memory).values()
    assert one.code == ("fill_and_heat",) and one.roles == ("role:kitchen",)
    assert memory.counters()["code_links"] == memory.counters()["role_links"] == 1

    for strange in ({"code": ["nobody_wrote_it"]}, {"role": "garden"}):
        wrong = reflection({**made, "code": [], "role": "", **strange})
        memory = evoweave(wrong, wrong)
        memory.write(seen)
        assert not operations(memory) and memory.counters()["rejected"] == 1

    bad = reflection(made, code=[{**MACRO, "steps": [2, 1]}], roles=[{**role, "domain": "galaxy"}])
    bad["operations"][0]["role"] = "galaxy"
    memory = evoweave(bad, bad)
    memory.write(seen)
    [one] = operations(memory).values()
    assert not one.code and not one.roles, "what was refused itself is left out, the operation stays"


def test_macros_of_one_name_get_numbers_and_the_same_body_is_one_macro() -> None:
    other = {**MACRO, "body": "open {shelf}\npour {liquid} into {vessel}", "steps": [1, 2]}
    other["bindings"] = {"shelf": "cupboard", "liquid": "water", "vessel": "kettle"}
    memory = evoweave(reflection(code=[MACRO]), reflection(code=[other]), reflection(code=[MACRO, other]))
    for number in (1, 2, 3):
        memory.write(told(number=number))
    codes = memory._archive.capabilities.codes
    assert sorted(codes) == ["fill_and_heat", "fill_and_heat_2"]
    assert codes["fill_and_heat_2"].body.startswith("open {shelf}")


def test_a_placeholder_may_have_any_name() -> None:
    from memories.evoweave.abstraction import abstract

    assert abstract("go to the hall now", {r"\n{x}\1": "hall"}) == r"go to the {\n{x}\1} now"
