"""During the episode: tools, the execution check, re-planning, events, and the configurations C to F."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agents import tokens
from agents.base import Episode, Step, Verdict
from envs.base import Capability, Task
from memories.base import Experience, Resources
from memories.embedder import Hashing
from memories.evoweave import EvoWeave
from memories.evoweave.recall import EvoWeaveRecall
from tests.memories.evoweave_case import plan, proposal, reflection
from tests.memories.helpers import Rules, Scripted, acts, build, experience, live

LOGIN = Capability(
    "bank.login", "log in to the bank", "login(username, password): gives access_token for the account"
)
PAY = Capability(
    "bank.pay", "send money to a person", "pay(receiver, amount, access_token): sends money at once"
)
APIS = (LOGIN, PAY)
TASK = Task(7, "Move the cup to the shelf.")

FETCH = proposal(
    [1],
    "pick up {object}",
    target=["has(agent, {object})"],
    inputs=["object: object"],
    effects=["has(agent, {object})"],
)
CARRY = proposal(
    [1],
    "carry {object} to {place}",
    source=["has(agent, {object})"],
    target=["at({object}, {place})"],
    inputs=["object: object", "place: place"],
    effects=["at({object}, {place})"],
)
DROP = proposal(
    [1],
    "put down {object}",
    source=["at({object}, {place})"],
    target=["resting({object}, {place})"],
    inputs=["object: object", "place: place", "cloth: object"],
    effects=["resting({object}, {place})"],
)
PLAN = plan(
    ("s1", "pick up {object}", []),
    ("s2", "put down {object}", ["s1"]),
    ("s3", "sing {song}", ["s2"]),
    given=[
        {"name": "object", "type": "object", "value": "cup"},
        {"name": "place", "type": "place", "value": "shelf"},
    ],
)


def grown(name: str = "evoweave", *replies: Any, **changes: Any) -> EvoWeave:
    """A memory that holds pick up -> carry -> put down, and goes on with `replies`."""
    memory = build(name, Scripted(reflection(FETCH, CARRY, DROP), *replies), **changes)
    assert isinstance(memory, EvoWeave)
    memory.write(experience(1, "tidy up"))
    return memory


def begun(memory: EvoWeave) -> EvoWeaveRecall:
    recall = memory.begin(TASK, "A room.")
    assert isinstance(recall, EvoWeaveRecall)
    return recall


def use(recall: EvoWeaveRecall, tool: str, argument: str) -> str:
    return next(t for t in recall.tools if t.name == tool).call(argument)


def kinds(recall: EvoWeaveRecall) -> Counter[str]:
    return Counter(event.kind for event in recall.events)


def test_the_injected_text_has_plan_cards_fragment_gaps_and_what_is_missing() -> None:
    recall = begun(grown("evoweave", PLAN))
    text = recall.text
    assert "s2. put down {object} (after s1)" in text and "{object} = cup" in text
    assert "s1 -> s2: op00001 => op00002 => op00003" in text
    assert "from st0001: start -> st0002: has(agent, object)" in text
    assert "s2 -> s3: no_candidate" in text
    assert "s2 op00003: {cloth}: object" in text, "the third input comes from nowhere"
    assert kinds(recall) == {
        "plan": 1, "candidate": 2, "fragment": 1, "no_candidate": 1, "missing": 1, "retrieved": 3
    }  # fmt: skip
    assert [item.id for item in recall.items] == ["op00001", "op00002", "op00003"]


def test_the_planner_does_not_see_the_memory() -> None:
    memory = grown("evoweave", PLAN)
    begun(memory)
    backbone = memory._resources.backbone
    assert isinstance(backbone, Scripted)
    [prompt] = backbone.prompts("PlanReply")
    assert "op0000" not in prompt and "carry" not in prompt


def test_no_candidate_at_all_is_a_normal_answer() -> None:
    recall = begun(grown("evoweave", plan(("s1", "sing {song}", []))))
    assert recall.text.endswith("Plan:\ns1. sing {song}") and not recall.items
    assert "no operation that fits" in recall.text


def test_each_configuration_shows_and_offers_what_table_2_says() -> None:
    tools = {}
    for name in ("evoweave_c", "evoweave_d", "evoweave_e", "evoweave"):
        recall = begun(grown(name, PLAN))
        tools[name] = {tool.name for tool in recall.tools}
        connected = name in ("evoweave_d", "evoweave")
        assert ("=>" in recall.text) == ("st0001" in recall.text) == ("Needed" in recall.text) == connected
        assert ("op00002:" in recall.text) == connected, "the connector is no candidate of its own"
    capability = {"search_capabilities", "open_capability"}
    assert tools["evoweave_c"] == tools["evoweave_d"] == capability
    assert tools["evoweave_e"] == capability | {"open", "search", "replan"}
    assert tools["evoweave"] == tools["evoweave_e"] | {"neighbors", "path"}


def test_end_states_stay_hidden_in_e_even_when_an_operation_is_opened() -> None:
    assert "st0001" not in use(begun(grown("evoweave_e", PLAN)), "open", "op00001")
    assert "st0001" in use(begun(grown("evoweave", PLAN)), "open", "op00001")


def test_c_with_the_tokens_of_d_shows_the_same_operations_and_as_many_tokens() -> None:
    matched, d = begun(grown("evoweave_c_matched", PLAN)), begun(grown("evoweave_d", PLAN))
    assert [item.id for item in matched.items] == [item.id for item in d.items]
    assert "=>" not in matched.text and "st0001" not in matched.text
    assert abs(tokens.count(matched.text) - tokens.count(d.text)) <= 2


def test_tools_open_search_and_walk_the_graph() -> None:
    recall = begun(grown("evoweave", plan(("s1", "sing {song}", []))))
    opened = use(recall, "open", "op00003")
    assert "put down {object} (version 1)" in opened and "needs all of: {cloth}: object" in opened
    assert "pick up {object}" in use(recall, "search", "pick up {object}")
    assert "No operation is described" in use(recall, "search", "sing an aria")
    near = use(recall, "neighbors", "op00002")
    assert near.index("leads here") < near.index("op00001") < near.index("follows") < near.index("op00003")
    assert "op00001 => op00002 => op00003" in use(recall, "path", "op00001, op00003")
    assert "no path" in use(recall, "path", "op00003, op00001")
    for tool, argument in (
        ("open", "op00099"),
        ("neighbors", "x"),
        ("path", "op00001"),
        ("open_capability", "fly"),
    ):
        assert "no" in use(recall, tool, argument).lower() or "Unknown" in use(recall, tool, argument)
    shown = [event.item for event in recall.events if event.kind == "retrieved"]
    assert sorted(shown) == ["op00001", "op00002", "op00003"], "each card counts once an episode"
    assert [event.item for event in recall.events if event.kind == "opened"] == ["op00003"]


def test_replies_of_tools_hold_at_most_the_cards_allowed_and_say_so() -> None:
    many = [
        {**FETCH, "description": f"pick up {{object}} {word}"} for word in ("now", "soon", "here", "there")
    ]
    memory = build(
        "evoweave",
        Scripted(reflection(*many), plan(("s1", "sing", []))),
        max_cards=3,
        operation_threshold=0.3,
    )
    memory.write(experience(1, "tidy up"))
    recall = begun(memory)  # type: ignore[arg-type]
    for tool, argument in (("search", "pick up {object}"), ("neighbors", "st0001")):
        reply = use(recall, tool, argument)
        assert reply.count("(version 1)") == 3 and "truncated" in reply


def test_capabilities_are_found_as_cards_and_opened_as_bodies() -> None:
    recall = begun(grown("evoweave", PLAN))
    cards = use(recall, "search_capabilities", "pour a liquid into a container")
    assert "pour (api)" in cards and "LIQUID" not in cards
    assert "pour LIQUID into CONTAINER" in use(recall, "open_capability", "pour")
    events = [(event.kind, event.item) for event in recall.events]
    assert ("capability_card", "pour") in events and ("opened", "pour") in events
    assert events.index(("capability_card", "pour")) < events.index(("opened", "pour"))


def test_a_budget_of_searches_is_kept_and_neighbors_and_paths_are_outside_of_it() -> None:
    recall = begun(grown("evoweave", PLAN, search_budget=2))
    assert "version" in use(recall, "open", "op00001") and "pick up" in use(
        recall, "search", "pick up {object}"
    )
    assert "used up" in use(recall, "open", "op00002") and "used up" in use(
        recall, "search_capabilities", "pour"
    )
    assert "op00003" in use(recall, "neighbors", "op00002")


def test_replanning_keeps_steps_candidates_and_choices() -> None:
    again = plan(("s2", "put down {object}", []), ("s4", "pick up {object}", ["s2"]))
    wrong = plan(("s2", "carry {object} to {place}", []))
    recall = begun(grown("evoweave", PLAN, wrong, again))
    before = recall.retrieval
    assert before is not None
    text = use(recall, "replan", "the cup is at the shelf already")
    after = recall.retrieval
    assert after is not None and "s4. pick up {object} (after s2)" in text
    assert after.assignment.chosen["s2"] == before.assignment.chosen["s2"]
    assert after.candidates["s2"] == before.candidates["s2"]
    assert kinds(recall)["replan"] == 1

    recall = begun(grown("evoweave", PLAN, wrong, wrong))
    kept = recall.retrieval
    assert "a new step needs a new id" in use(recall, "replan", "why not")
    assert recall.retrieval is kept and kinds(recall)["malformed"] == 1


# The execution check


def bank() -> EvoWeaveRecall:
    backbone = Scripted(plan(("s1", "pay {person}", [])))
    memory = EvoWeave(Resources(backbone, Hashing(64), APIS, "code", 0))
    return begun(memory)


CODE = "apis.bank.login(username='a', password='b')\napis.bank.steal(amount=3)"


def test_code_that_calls_an_unread_api_is_held_back_once_with_the_definition() -> None:
    recall = bank()
    objection = recall.check_action(CODE, ())
    assert objection is not None and LOGIN.definition in objection and "steal" not in objection
    assert recall.check_action(CODE, ()) is None, "it was opened"
    events = [(event.kind, event.item) for event in recall.events if event.kind in ("opened", "executed")]
    assert events == [("opened", "bank.login"), ("executed", "bank.login")], "a guessed name creates nothing"


SEEN = '{"app": "bank", "login": ["username", "password"], "gives": "access_token for the account"}'


@pytest.mark.parametrize(
    ("code", "output", "opens"),
    [
        ("print(apis.api_docs.show_api_doc(app_name='bank', api_name='login'))", "{...}", True),
        ("print(apis.api_docs.show_api_doc(app_name='bank', api_name='pay'))", "{...}", False),
        ("for d in docs: print(d)", SEEN, True),
        ("print(apis.bank)", "bank: login, pay, steal", False),
        ("apis.bank.login(username='x', password='y')", "Execution failed.", False),
    ],
)  # fmt: skip
def test_the_environments_own_look_ups_count_as_opening(code: str, output: str, opens: bool) -> None:
    recall = bank()
    history = acts((code, output))
    assert (recall.check_action(CODE, history) is None) == opens


def test_opening_by_tool_counts_and_text_actions_are_never_held_back() -> None:
    recall = bank()
    use(recall, "open_capability", "bank.login")
    assert recall.check_action(CODE, ()) is None
    assert begun(grown("evoweave", PLAN)).check_action("open cupboard", ()) is None


def test_a_stored_function_must_be_read_and_defined() -> None:
    body = "def half(number):\n    return number / 2"
    reply = reflection(
        code=[
            {
                "name": "half",
                "kind": "function",
                "summary": "half of {number}",
                "body": body,
                "steps": [1],
                "test": "assert half(8) == 4",
            }
        ]
    )
    backbone = Scripted(reply, plan(("s1", "compute {share}", [])))
    memory = EvoWeave(Resources(backbone, Hashing(64), APIS, "code", 0))
    memory.write(experience(1, "halve it", steps=acts(("print(6 / 2)", "3.0"))))
    recall = begun(memory)
    objection = recall.check_action("print(half(10))", ())
    assert objection is not None and "return number / 2" in objection
    assert recall.check_action(f"{body}\nprint(half(10))", ()) is None
    assert [e.item for e in recall.events if e.kind == "executed"] == ["half"]


def test_events_of_reference_and_execution_are_logged_apart() -> None:
    memory = grown("evoweave", PLAN, reflection(cited=["op00001", "op00003", "op00099"]))
    recall = begun(memory)
    steps = (
        Step("act", "op00002 seems right, op00077 does not exist", "open door", "It is open."),
        Step("act", "op00001 next", "sing", "Nothing happens."),
    )
    assert recall.before_step(steps[:1]) is None
    recall.check_action("sing", steps[:1])
    memory.write(Experience(Episode(TASK, "A room.", steps, "finished"), Verdict("success"), recall))
    found = [
        (e.kind, e.item, e.detail) for e in recall.events if e.kind in ("referenced", "executed", "opened")
    ]
    assert found == [
        ("referenced", "op00002", "agent"),
        ("executed", "open", ""),
        ("referenced", "op00001", "agent"),
        ("referenced", "op00001", "reflection"),
    ], "op00003 does not stand in the episode, so that the reflection cannot have read it there"
    counters = memory.counters()
    assert (counters["referenced"], counters["executed"], counters["retrieved"]) == (3, 1, 3)


def test_c_to_f_learn_the_same_graph_from_the_same_episodes() -> None:
    """Actions fixed: references, events and counts of retrieval aside, every document is the same."""
    steps = acts(
        ("open door to hall", "The door is now open."),
        ("pour milk into jug", "You pour it."),
        ("activate lamp", "It is broken, error."),
        ("activate stove", "The stove is now on."),
    )
    kept: dict[str, dict[str, str]] = {}
    for name in ("evoweave_c", "evoweave_d", "evoweave_e", "evoweave", "evoweave_c_matched"):
        memory = build(name, Rules())
        for number, outcome in enumerate(("success", "failure", "success", "unreadable"), 1):
            live(memory, experience(number, "Pour milk. Then activate the lamp.", outcome, steps))
        kept[name] = {
            document: text for document, text in memory.documents().items()
            if not document.startswith(("history/", "state.txt"))
        }  # fmt: skip
    assert len(kept["evoweave"]) > 6
    assert all(found == kept["evoweave"] for found in kept.values())


def test_fixed_capabilities_publish_no_code_role_or_usage() -> None:
    steps = acts(("open door", "Open."), ("pour milk into jug", "Done."), ("activate stove", "It is on."))
    free, fixed = (build(name, Rules()) for name in ("evoweave", "evoweave_frozen_capabilities"))
    for memory in (free, fixed):
        live(memory, experience(1, "Pour milk. Then activate the stove.", "success", steps))
    assert free.counters()["code_nodes"] == 1 and free.counters()["role_nodes"] == 1
    assert fixed.counters()["code_nodes"] == fixed.counters()["role_nodes"] == 0
    assert free.counters()["operations"] == fixed.counters()["operations"] == 3


def test_the_reader_learns_api_calls_from_code_and_connects_them() -> None:
    memory = EvoWeave(Resources(Rules(), Hashing(64), APIS, "code", 0))
    steps = acts(
        ("token = apis.bank.login(username='ada', password='pw')", "done"),
        ("apis.bank.pay(receiver='bob', amount=5, access_token=token)", "paid"),
    )
    live(memory, experience(1, "Pay Bob what I owe.", "success", steps))
    first, second = memory._archive.graph.operations.values()
    assert (first.api, second.api) == ("bank.login", "bank.pay")
    assert first.target == second.source


def test_the_reader_plans_by_clauses_and_follows_what_it_learned() -> None:
    memory = build("evoweave", Rules())
    steps = acts(
        ("open door to hall", "Open."), ("pour milk into jug", "Done."), ("activate stove", "It is on.")
    )
    instruction = (
        "Your task is to find milk in the kitchen. First, pour milk into the jug. Then, activate the stove."
    )
    first = live(memory, experience(1, instruction, "success", steps))
    second = live(memory, experience(2, instruction, "success", steps))
    assert "s2. pour {object} into {container} (after s1)" in first.text and "{place} = kitchen" in first.text
    assert "s2 -> s3: op00002 => op00003" in second.text
    assert memory.counters()["evidence"] == 3 and memory.counters()["operations"] == 3
