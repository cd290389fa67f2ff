"""Stored code: macros replayed, functions compared with their calls, pure ones tested in a cage."""

from __future__ import annotations

import os
from typing import Any

import pytest

from agents.base import Step
from envs.base import Capability
from memories.embedder import Hashing
from memories.evoweave.abstraction import Rejected
from memories.evoweave.capabilities import CapabilityStore
from memories.evoweave.invoked import Reading, concrete_values
from memories.evoweave.prompts import ProposedCode
from memories.evoweave.sandbox import impurity, run_test
from memories.evoweave.stored_code import validated
from tests.memories.helpers import CAPABILITIES, acts

TEXT = Reading({c.id: c.definition for c in CAPABILITIES}, "text")
CODE = Reading({"bank.login": "login(username, password)", "bank.pay": "pay(receiver, amount)"}, "code")
ROUNDS = acts(
    ("open red box", "Open."), ("pour milk into red box", "Poured."), ("open door to hall", "Open.")
)


def macro(**change: Any) -> ProposedCode:
    fields = {
        "name": "open_and_pour",
        "kind": "macro",
        "summary": "fill {vessel} with {liquid}",
        "body": "open {vessel}\npour {liquid} into {vessel}",
        "bindings": {"vessel": "red box", "liquid": "milk"},
        "steps": [1, 2],
    }
    return ProposedCode.model_validate(fields | change)


def check(proposal: ProposedCode, steps: tuple[Step, ...] = ROUNDS, reading: Reading = TEXT) -> Any:
    values = concrete_values("", [step.action for step in steps], reading)
    return validated(proposal, steps, values, reading, 3)


def test_a_macro_that_replays_its_rounds_is_published() -> None:
    code = check(macro())
    assert code.body == "open {vessel}\npour {liquid} into {vessel}"
    assert code.parameters == ("vessel", "liquid") and code.calls == ("open", "pour")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": "open {vessel}\npour {vessel} into {liquid}"}, "gives 'pour red box into milk'"),
        ({"bindings": {"vessel": "red box"}}, "{liquid} has no binding"),
        ({"body": "open red box\npour {liquid} into red box"}, "holds 'red box'"),
        ({"steps": [1, 9]}, "no round 9"),
        ({"steps": [2, 1], "body": "pour {liquid} into {vessel}\nopen {vessel}"}, "order of the episode"),
        ({"steps": [1, 2, 3]}, "a line for each"),
        ({"summary": "fill it beside the hall"}, "name or summary"),
        ({"steps": [1], "body": "open {vessel}"}, "at least two"),
    ],
)
def test_a_macro_that_does_not_replay_or_holds_a_value_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Rejected, match=said.replace("{", r"\{").replace("}", r"\}")):
        check(macro(**change))


BLOCK = acts(
    ("t = apis.bank.login(username='ada', password='pw')\napis.bank.pay(receiver='bob', amount=5)", "done"),
    ("apis.bank.pay(receiver='eve', amount=9)", "Execution failed. Traceback: no money"),
)
PAYING = """def pay_someone(user, secret, receiver, amount):
    token = apis.bank.login(username=user, password=secret)
    return apis.bank.pay(receiver=receiver, amount=amount)"""


def function(**change: Any) -> ProposedCode:
    fields = {
        "name": "pay_someone",
        "kind": "function",
        "summary": "pay {amount} to {receiver}",
        "body": PAYING,
        "bindings": {"user": "ada", "secret": "pw", "receiver": "bob", "amount": "5"},
        "steps": [1],
    }
    return ProposedCode.model_validate(fields | change)


def test_a_function_whose_calls_were_made_is_published_under_its_own_name() -> None:
    code = check(function(), BLOCK, CODE)
    assert (code.id, code.parameters) == ("pay_someone", ("user", "secret", "receiver", "amount"))
    assert code.calls == ("bank.login", "bank.pay")


OTHER = {"user": "ada", "secret": "pw", "receiver": "eve", "amount": "9"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bindings": OTHER, "steps": [1, 2]}, "no successful call bank.pay"),
        ({"body": PAYING.replace("amount=amount", "amount=amount, note='x'")}, "no successful call bank.pay"),
        ({"body": PAYING.replace("receiver=receiver", "receiver='bob'")}, "holds 'bob'"),
        ({"body": "import os\n" + PAYING}, "one def"),
        ({"body": "def broken(:"}, "does not parse"),
    ],
)  # fmt: skip
def test_a_function_that_does_something_else_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(Rejected, match=said):
        check(function(**change), BLOCK, CODE)


SHARE = "def share(total, people):\n    import math\n    return math.floor(total / people * 100) / 100"


def test_a_pure_function_needs_a_test_that_passes() -> None:
    pure = {"body": SHARE, "summary": "share of {total}", "bindings": {}}
    assert (
        check(function(**pure, test="assert share(10, 4) == 2.5"), BLOCK, CODE).validated
        == "its own test passed"
    )
    for test, said in (
        ("assert share(10, 4) == 3", "test failed"),
        ("share(1, 2)", "asserts nothing"),
        ("", "asserts nothing"),
    ):
        with pytest.raises(Rejected, match=said):
            check(function(**pure, test=test), BLOCK, CODE)


@pytest.mark.parametrize(
    "body",
    [
        "import os",
        "import subprocess as s",
        "from pathlib import Path",
        "open('x')",
        "eval('1')",
        "(1).__class__",
        "__import__('os')",
        "from . import x",
        "getattr(1, 'real')",
    ],
)
def test_impure_code_is_named_and_never_run(body: str) -> None:
    assert impurity(body)
    assert run_test(body, "assert True") == impurity(f"{body}\n\nassert True\n")


def test_the_cage_has_no_keys_and_limits_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What static reading lets pass is still bounded by the process's limits."""
    from memories.evoweave import sandbox

    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert run_test("x = 1", "while True:\n    x += 1\nassert x", seconds=1)
    assert run_test("def f(n):\n    return [0] * n", "assert f(10**9)", megabytes=128)
    assert run_test("x = 2", "assert x == 2") == ""
    monkeypatch.setattr(sandbox, "impurity", lambda code: "")
    look = "import os\nfound = sorted(os.environ)\nhere = os.listdir('.')"
    assert run_test(look, "assert 'SOME_API_KEY' not in found and here == []") == ""
    assert "test failed" in run_test(
        "handle = open('file', 'w')\nhandle.write('x')\nhandle.flush()", "assert True"
    )
    assert os.environ["SOME_API_KEY"] == "secret"


def test_definitions_are_immutable_and_learned_usage_stands_beside_them() -> None:
    store = CapabilityStore([Capability("pour", "pour a liquid", "pour LIQUID into CONTAINER")], Hashing(32))
    assert store.note_usage("pour", "the container must be open") and not store.note_usage(
        "pour", "the container must be open"
    )
    body = store.body("pour")
    assert body == "pour LIQUID into CONTAINER\nLearned: the container must be open"
    assert store.apis["pour"].definition == "pour LIQUID into CONTAINER"
    assert store.body("guessed") is None and "guessed" not in store.apis
    first = store.put_role("kitchen", ["open things first"])
    assert store.put_role("kitchen", ["open things first", "then pour"]) == first
    assert store.roles[first].advice == ("open things first", "then pour") and store.roles[first].version == 2


def test_a_capability_search_gives_at_most_eight_apis_and_four_codes_above_their_thresholds() -> None:
    apis = [Capability(f"a{n}", f"pour water number {n}", "x") for n in range(12)]
    store = CapabilityStore(apis, Hashing(256))
    for n in range(6):
        store.put_code(check(macro(name=f"filling_{'abcdef'[n]}", summary=f"pour water {'abcdef'[n]}")))
    cards = store.search("pour water")
    assert [card.kind for card in cards] == ["api"] * 8 + ["code"] * 4
    assert all(card.similarity >= 0.35 for card in cards)
    assert store.search("zzz") == []
