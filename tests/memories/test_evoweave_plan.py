"""Predicates, plans, one consistent choice, missing conditions, and the budget of cards."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.evoweave.assemble import assign, missing, within_budget
from memories.evoweave.connect import Connection, Pair, connect
from memories.evoweave.contracts import ContractError, Parameter, normal_form, predicates
from memories.evoweave.plan import Plan, PlanError, PlanStep, topological
from memories.evoweave.planning import changed_steps, read_plan
from memories.evoweave.prompts import PlanReply
from memories.evoweave.retrieval import embed
from tests.memories.evoweave_case import graph_of, operation, parameters, plan

names = ("a", "b", "c")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["in", "on"]), st.sampled_from(names), st.sampled_from(names)), max_size=4
    ),
    st.permutations(names),
    st.randoms(use_true_random=False),
)
def test_a_state_does_not_depend_on_names_or_order(facts, renamed, rng) -> None:  # type: ignore[no-untyped-def]
    """Renaming placeholders of one type, or shuffling the set, gives the same normal form."""
    types = dict.fromkeys(names, "object")
    naming = dict(zip(names, renamed, strict=True))
    texts = [f"{fact}({{{x}}}, {{{y}}})" for fact, x, y in facts]
    other = [f"{fact.upper()}( {naming[x]},{naming[y]} )" for fact, x, y in facts]
    rng.shuffle(other)
    assert normal_form(texts, types) == normal_form(other, types)


def test_different_structures_stay_different_states() -> None:
    """All sets of two directed facts over three objects: equal normal forms exactly for isomorphic ones."""
    types = dict.fromkeys(names, "object")
    pairs = [(x, y) for x in names for y in names]
    sets = [frozenset({one, two}) for one in pairs for two in pairs]

    def isomorphic(one: frozenset[tuple[str, str]], two: frozenset[tuple[str, str]]) -> bool:
        return any(
            frozenset((m[x], m[y]) for x, y in one) == two
            for order in permutations(names)
            for m in [dict(zip(names, order, strict=True))]
        )

    for one in sets[:30]:
        for two in sets:
            same = normal_form([f"r({x}, {y})" for x, y in one], types) == normal_form(
                [f"r({x}, {y})" for x, y in two], types
            )
            assert same == isomorphic(one, two)


def test_opposites_and_types_stay_apart_and_bad_predicates_are_named() -> None:
    types = {"item": "object", "to": "place"}
    assert normal_form(["Has(agent, {item})"], types) == ("has(agent, object)",)
    assert normal_form(["not has(agent, {item})"], types) == ("not has(agent, object)",)
    assert normal_form(["has(agent, {to})"], types) != normal_form(["has(agent, {item})"], types)
    assert predicates(["at(agent, {to})"], types) == ("at(agent, {to:place})",)
    # Named by a type, something may be spoken of that is no input.
    assert (
        normal_form(["at(agent, {place})"], {})
        == ("at(agent, place)",)
        == normal_form(["at(agent, {to})"], types)
    )
    with pytest.raises(ContractError, match="no predicate"):
        normal_form(["the agent holds it, (somehow"], types)
    with pytest.raises(ContractError, match="neither an input nor an output"):
        normal_form(["has(agent, {nothing})"], types)


steps_drawn = st.lists(
    st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("abcde"), max_size=3)), min_size=1, max_size=5
)


@settings(max_examples=150, deadline=None)
@given(steps_drawn)
def test_a_plan_is_a_dag_of_distinct_known_steps(steps: list[tuple[str, list[str]]]) -> None:
    """By trying every order: an order exists exactly if the plan is accepted, and what is given is one."""
    ids = [id for id, _ in steps]
    legal = len(set(ids)) == len(ids) and all(set(after) <= set(ids) for _, after in steps)
    after = dict(steps)
    orders = legal and any(
        all(order.index(b) < order.index(id) for id in ids for b in after[id]) for order in permutations(ids)
    )
    if orders:
        found = topological(steps)
        assert sorted(found) == sorted(ids)
        assert all(found.index(before) < found.index(id) for id in ids for before in after[id])
    else:
        with pytest.raises(PlanError):
            topological(steps)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([("s1", "go on", ["s2"]), ("s2", "go on", ["s1"])], "cycle"),
        ([("s1", "go on", ["s9"])], "s9"),
        ([("s1", "go on", []), ("s1", "go on", [])], "more than once"),
        ([("s1", "go on", ["s1"])], "cycle"),
    ],
)
def test_a_reply_that_is_no_plan_is_malformed_and_says_why(steps, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=said):
        PlanReply.model_validate(plan(*steps))


def test_a_shortcut_dependency_is_kept_and_no_transitive_one_is_added() -> None:
    made = Plan((PlanStep("a", "x"), PlanStep("b", "x", ("a",)), PlanStep("c", "x", ("b", "a"))))
    assert made.dependencies == (("a", "b"), ("a", "c"), ("b", "c"))
    chain = Plan((PlanStep("a", "x"), PlanStep("b", "x", ("a",)), PlanStep("c", "x", ("b",))))
    assert chain.dependencies == (("a", "b"), ("b", "c"))
    assert chain.ancestors("c") == {"a", "b"}


def test_a_plan_is_abstracted_by_what_is_given() -> None:
    reply = PlanReply.model_validate(
        plan(
            ("s1", "Send the file to Ada Lovelace.", []),
            given=[{"name": "recipient", "type": "person", "value": "Ada Lovelace"}],
            facts=["knows(agent, Ada Lovelace)", "((broken"],
        )
    )
    made, bindings = read_plan(reply)
    assert made.steps[0].description == "send the file to {recipient}"
    assert bindings == {"recipient": "Ada Lovelace"}
    assert made.facts == ("knows(agent, {recipient:person})",)


def test_a_kept_step_id_means_the_same_step() -> None:
    old = Plan((PlanStep("s1", "find {x}"), PlanStep("s2", "use {x}")))
    assert changed_steps(old, Plan((PlanStep("s2", "use {x}"), PlanStep("s3", "drop {x}")))) == ""
    assert "s2" in changed_steps(old, Plan((PlanStep("s2", "sell {x}"),)))


def pair(first: str, last: str, *connector: str, similarity: float = 1.0) -> Pair:
    return Pair(first, last, connector, similarity)


def test_the_best_agreeing_pair_is_taken_along_a_chain() -> None:
    found = assign(
        [
            Connection("s1", "s2", "connected", (pair("a", "b"), pair("a", "c"))),
            Connection("s2", "s3", "connected", (pair("c", "d"), pair("b", "d", "x"))),
        ],
        {},
    )
    assert found.chosen == {"s1": "a", "s2": "b", "s3": "d"}
    assert [f.pair.operations for f in found.fragments] == [("a", "b"), ("b", "x", "d")]
    assert not found.conflicts


def test_one_reassignment_that_all_placed_dependencies_support() -> None:
    """s2 holds b, but only c reaches s3; a reaches c too, so s2 moves to c."""
    found = assign(
        [
            Connection("s1", "s2", "connected", (pair("a", "b"), pair("a", "c", "y"))),
            Connection("s2", "s3", "connected", (pair("c", "d"),)),
        ],
        {},
    )
    assert found.chosen == {"s1": "a", "s2": "c", "s3": "d"}
    assert [f.pair.operations for f in found.fragments] == [("a", "y", "c"), ("c", "d")]
    assert not found.conflicts


def test_what_cannot_be_reconciled_stands_apart_as_a_conflict() -> None:
    """No connection leads from s1 to c: moving s2 would break what is placed."""
    found = assign(
        [
            Connection("s1", "s2", "connected", (pair("a", "b"),)),
            Connection("s2", "s3", "connected", (pair("c", "d"),)),
        ],
        {"s3": [("e", 0.9)]},
    )
    assert found.chosen == {"s1": "a", "s2": "b", "s3": "e"}
    assert [(f.pair.operations, f.consistent) for f in found.fragments] == [
        (("a", "b"), True),
        (("c", "d"), False),
    ]
    [conflict] = found.conflicts
    assert (conflict.before, conflict.after, conflict.fixed, conflict.wanted) == (
        "s2",
        "s3",
        ("b",),
        ("c", "d"),
    )


def test_choices_of_an_earlier_plan_are_never_moved() -> None:
    connections = [Connection("s2", "s3", "connected", (pair("c", "d"),))]
    assert assign(connections, {}, {"s2": "b"}).conflicts
    assert assign(connections, {}).chosen == {"s2": "c", "s3": "d"}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_consistent_fragments_agree_and_every_dependency_is_accounted_for(drawn) -> None:  # type: ignore[no-untyped-def]
    """On a chain s0 -> s1 -> ... with drawn pairs."""
    connections = [
        Connection(
            f"s{n}",
            f"s{n + 1}",
            "connected",
            tuple(pair(a, b, similarity=-k) for k, (a, b) in enumerate(pairs)),
        )
        for n, pairs in enumerate(drawn)
    ]
    found = assign(connections, {})
    for fragment in found.fragments:
        if fragment.consistent:
            assert found.chosen[fragment.before] == fragment.pair.first
            assert found.chosen[fragment.after] == fragment.pair.last
    assert {(f.before, f.after) for f in found.fragments} == {(c.before, c.after) for c in connections}
    assert len(found.conflicts) == sum(not f.consistent for f in found.fragments)


def roommates():  # type: ignore[no-untyped-def]
    """The paper's illustration (appendix B.3): a bill is split among roommates.

    States 0 start, 1 bill read, 2 roommates known, 3 split computed, 4 payment requested.
    """
    graph = graph_of([], states=5)
    made = [
        operation(
            0,
            0,
            1,
            "read {bill}",
            inputs=parameters(bill="file"),
            outputs=parameters(amount="number", currency="text"),
        ),
        operation(1, 0, 2, "list roommates", outputs=parameters(recipients="list")),
        operation(
            2,
            1,
            3,
            "compute share of {amount}",
            inputs=parameters(amount="number", currency="text", recipients="list"),
            conditions=("same_household({recipients:list})",),
            outputs=parameters(share="number"),
        ),
        operation(
            3, 3, 4, "request payment of {share}", inputs=parameters(share="number", recipients="list")
        ),
    ]
    for each in made:
        graph.put(each)
    return graph


def resolved(graph, made: Plan, steps: dict[str, str]):  # type: ignore[no-untyped-def]
    candidates = {step: [(id, 1.0)] for step, id in steps.items()}
    connections = [connect(graph, d, candidates[d[0]], candidates[d[1]]) for d in made.dependencies]
    chosen = assign(connections, candidates)
    lacking = missing(made, chosen, graph.operations, graph.states)
    return connections, {(m.step, m.operation): (m.inputs, m.conditions) for m in lacking}


def test_a_path_that_supplies_one_input_leaves_the_other_missing() -> None:
    """Reading the bill leads to the computation, but recipients come from nowhere: AND, not OR."""
    made = Plan((PlanStep("s1", "read"), PlanStep("s2", "compute", ("s1",))), (Parameter("bill", "file"),))
    connections, lacking = resolved(roommates(), made, {"s1": "op00000", "s2": "op00002"})
    assert connections[0].status == "connected"
    assert lacking == {
        ("s2", "op00002"): ((Parameter("recipients", "list"),), ("same_household({recipients:list})",))
    }


def test_both_inputs_are_supplied_by_two_direct_dependencies() -> None:
    """The list of roommates has no path to the computation, yet it is placed before it and supplies them."""
    made = Plan(
        (PlanStep("s1", "read"), PlanStep("s2", "list"), PlanStep("s3", "compute", ("s1", "s2"))),
        (Parameter("bill", "file"), Parameter("recipients", "person")),
        ("same_household({recipients:list})",),
    )
    steps = {"s1": "op00000", "s2": "op00001", "s3": "op00002"}
    connections, lacking = resolved(roommates(), made, steps)
    assert [c.status for c in connections] == ["connected", "gap"]
    assert lacking == {}


def test_type_and_role_must_both_fit_and_unknown_is_not_satisfied() -> None:
    """`bill` as a text, and recipients of another type: neither counts."""
    made = Plan(
        (PlanStep("s1", "read"), PlanStep("s2", "compute", ("s1",))),
        (Parameter("bill", "text"), Parameter("recipients", "person"), Parameter("housemates", "list")),
    )
    _, lacking = resolved(roommates(), made, {"s1": "op00000", "s2": "op00002"})
    assert lacking["s1", "op00000"] == ((Parameter("bill", "file"),), ())
    assert lacking["s2", "op00002"][0] == (Parameter("recipients", "list"),)


def test_a_connector_is_checked_and_supplies_what_follows() -> None:
    """read -> [compute] -> request: the connector lacks recipients; its share reaches the request."""
    made = Plan((PlanStep("s1", "read"), PlanStep("s2", "request", ("s1",))), (Parameter("bill", "file"),))
    _, lacking = resolved(roommates(), made, {"s1": "op00000", "s2": "op00003"})
    recipients = (Parameter("recipients", "list"),)
    assert lacking["s1->s2", "op00002"][0] == recipients
    assert lacking["s2", "op00003"] == (recipients, ())


def test_cards_are_fragments_then_choices_then_the_rest_and_a_cut_is_told() -> None:
    made = Plan((PlanStep("s1", "x"), PlanStep("s2", "x", ("s1",)), PlanStep("s3", "x")))
    connection = Connection("s1", "s2", "connected", (pair("a", "b", "c", "d"),))
    candidates = {"s1": [("a", 1.0), ("e", 0.9)], "s2": [("b", 1.0)], "s3": [("f", 0.8), ("a", 0.75)]}
    chosen = assign([connection], candidates)
    whole = within_budget(made, chosen, candidates)
    assert whole.cards == ("a", "c", "d", "b", "f", "e") and not whole.cut and whole.left_out == 0
    short = within_budget(made, chosen, candidates, max_cards=3)
    assert short.cards == ("a", "c", "d") and short.cut == (("s1", "s2"),) and short.left_out == 3


def test_names_of_placeholders_weigh_less_than_verbs() -> None:
    """With the default embedder: other names stay candidates at 0.72, opposite verbs do not become ones."""
    from memories.embedder import MiniLM

    texts = [
        "focus on {object}",
        "focus on {plant}",
        "open {container}",
        "close {container}",
        "go to {place}",
    ]
    cosines = embed(MiniLM(), texts) @ embed(MiniLM(), texts).T
    assert cosines[0, 1] >= 0.82 and cosines[2, 3] < 0.72 and cosines[0, 4] < 0.5
    assert all(abs(cosines[n, n] - 1) < 1e-5 for n in range(5))
