"""ExpeL: the counts worked out by hand, and a stream of pairs and reviews."""

from __future__ import annotations

from typing import Any

import pytest

from agents.base import MalformedReply
from envs.base import Task
from memories.expel.insights import Insight, Operation, apply
from tests.memories.helpers import Axes, Scripted, acts, build, experience

THREE = (Insight(1, "Look first", 3), Insight(2, "Open doors", 2), Insight(3, "Ask nobody", 1))


def counts(insights: tuple[Insight, ...]) -> list[tuple[int, str, int]]:
    return [(one.id, one.text, one.count) for one in insights]


def test_each_operation_changes_the_count_as_published() -> None:
    wishes = [
        Operation("ADD", None, "Focus last"),
        Operation("EDIT", 2, "Open every door"),
        Operation("AGREE", 1),
        Operation("REMOVE", 3),
    ]
    applied = apply(THREE, wishes, made=3, max_insights=20)
    assert counts(applied.insights) == [(1, "Look first", 4), (2, "Open every door", 3), (4, "Focus last", 2)]
    assert (applied.made, applied.dropped) == (4, 0)


@pytest.mark.parametrize(("size", "left"), [(24, 3), (25, 1)])
def test_past_the_limit_by_five_a_removal_weighs_three(size: int, left: int) -> None:
    full = tuple(Insight(n, f"insight {n:02d}", 4) for n in range(1, size + 1))
    applied = apply(full, [Operation("REMOVE", 7)], made=size, max_insights=20)
    assert next(one.count for one in applied.insights if one.id == 7) == left


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        # at most one operation an insight: the first counts
        ([Operation("AGREE", 1), Operation("REMOVE", 1)], [(1, 4), (2, 2), (3, 1)]),
        # at most four: the fifth is dropped
        (
            [Operation("ADD", None, f"new {n}") for n in "abcde"],
            [(1, 3), (2, 2), (4, 2), (5, 2), (6, 2), (7, 2), (3, 1)],
        ),
        # an ADD that an existing insight contains is dropped, whatever its case, spacing and full stop
        ([Operation("ADD", None, " open  DOORS.")], [(1, 3), (2, 2), (3, 1)]),
        ([Operation("ADD", None, "Door"), Operation("ADD", None, "door")], [(1, 3), (2, 2), (3, 1)]),
        # an EDIT that restates another insight is an AGREE with that one
        ([Operation("EDIT", 1, "open doors")], [(1, 3), (2, 3), (3, 1)]),
        # ... and then that one has had its operation
        ([Operation("EDIT", 1, "open doors"), Operation("REMOVE", 2)], [(1, 3), (2, 3), (3, 1)]),
        # ids that do not exist, and texts that are empty
        (
            [Operation("AGREE", 9), Operation("REMOVE", None), Operation("EDIT", 2, " "), Operation("ADD")],
            [(1, 3), (2, 2), (3, 1)],
        ),
        # a removal of the last count; equal counts keep their order
        ([Operation("REMOVE", 3), Operation("REMOVE", 1)], [(1, 2), (2, 2)]),
    ],
)
def test_what_is_dropped_or_read_otherwise(wishes: list[Operation], expected: list[tuple[int, int]]) -> None:
    applied = apply(THREE, wishes, made=3, max_insights=20)
    assert [(one.id, one.count) for one in applied.insights] == expected


def change(operation: str, insight: int | None = None, text: str = "") -> dict[str, Any]:
    return {"operation": operation, "insight": insight, "text": text}


def test_a_worked_stream() -> None:
    """Similar means cosine of the instructions at least 0.6; axes: boil, melt, find."""
    backbone = Scripted(
        {
            "operations": [change("ADD", None, "Heat long enough"), change("ADD", None, "Look first")]
        },  # 3 against 1
        {
            "operations": [change("AGREE", 1), change("EDIT", 2, "Look around first"), change("AGREE", 77)]
        },  # 4 against 3
        MalformedReply("no", "{"),  # 7 against 5
        {"operations": [change("REMOVE", 2)]},  # review of 8 successes
    )
    memory = build("expel", backbone, Axes("boil", "melt", "find"), successes=4)
    stream = [
        (1, "boil water", "success"),
        (2, "find a plant", "failure"),  # its only opposite has cosine 0
        (3, "boil boil melt", "failure"),  # cosine with 1: 2/sqrt 5 = 0.894
        (4, "boil milk", "success"),  # nearest failure: 3
        (5, "melt ice", "success"),  # nearest failure: 3, cosine 1/sqrt 5 = 0.447: no pair
        (6, "find find melt", "unreadable"),
        (7, "melt tin", "failure"),  # nearest success: 5, cosine 1
        (
            8,
            "find a cat",
            "success",
        ),  # nearest failure: 2, cosine 1 -> contrast, then the 4th success -> review
    ]
    backbone.replies.insert(
        3, {"operations": [change("ADD", None, "look around")]}
    )  # 8 against 2: contained, dropped
    for number, instruction, outcome in stream:
        memory.write(experience(number, instruction, outcome, acts((f"act {number}", "done"))))
    assert not backbone.replies
    assert memory.documents()["insights.txt"] == (
        "# by importance count; one without a count left is gone\n"
        "id: 1\ncount: 3\ntext: Heat long enough\n---\nid: 2\ncount: 2\ntext: Look around first\n"
    )
    assert sorted(name for name in memory.documents() if "/" in name) == [
        *(f"failures/0000{n}.txt" for n in (1, 2, 3)),
        *(f"successes/0000{n}.txt" for n in (1, 2, 3, 4)),
    ]
    found = memory.counters()
    assert {name: found[name] for name in ("contrasts", "reviews", "add", "edit", "agree", "remove", "dropped")} == {
        "contrasts": 4, "reviews": 1, "add": 2, "edit": 1, "agree": 1, "remove": 1, "dropped": 2
    }  # fmt: skip
    assert (found["malformed"], found["unreadable"]) == (1, 1)
    pairs = [
        (
            prompt.count("<success>"),
            prompt.count("<failure>"),
            [n for n in range(1, 9) if f"act {n}\n" in prompt],
        )
        for prompt in backbone.prompts("Changes")
    ]
    assert pairs == [(1, 1, [1, 3]), (1, 1, [3, 4]), (1, 1, [5, 7]), (1, 1, [2, 8]), (4, 0, [1, 4, 5, 8])]
    assert "1. Heat long enough\n2. Look around first" in backbone.prompts("Changes")[-1]
    assert {call[3] for call in backbone.calls} == {0.0}


def test_insights_and_the_nearest_successes_are_recalled() -> None:
    backbone = Scripted(
        {"operations": [change("ADD", None, "Second"), change("ADD", None, "First")]},
        {"operations": [change("AGREE", 2)]},
    )
    memory = build("expel", backbone, Axes("boil", "melt", "find"), successes=2, examples=2)
    for number, instruction in enumerate(["find a plant", "boil water", "melt ice", "boil melt"], 1):
        memory.write(experience(number, instruction, "success", acts((f"act {number}", "done"))))
    recall = memory.begin(Task(5, "boil tin"), "")
    assert recall.text.startswith(
        "Insights from earlier tasks, the best confirmed first:\n1. First\n2. Second\n"
    )
    assert [(i.id, i.kind) for i in recall.items] == [
        ("insight-2", "insight"),
        ("insight-1", "insight"),
        ("00002", "example"),  # cosine 1
        ("00004", "example"),  # 0.707
    ]
    assert recall.text.index("act 2\n") < recall.text.index("act 4\n")


def test_the_full_list_asks_for_removals() -> None:
    added = {"operations": [change("ADD", None, word) for word in ("one", "two", "three", "four")]}
    memory = build("expel", backbone := Scripted(added, {"operations": []}), successes=1, max_insights=4)
    memory.write(experience(1, "boil water"))
    memory.write(experience(2, "boil tin"))
    first, second = backbone.prompts("Changes")
    assert "The list is full" not in first
    assert "The list is full: prefer REMOVE" in second
    assert memory.counters()["insights"] == 4


def test_examples_are_cut() -> None:
    memory = build("expel", Scripted(), example_tokens=200)
    memory.write(experience(1, "boil water", steps=acts(*[(f"step {n}", "word " * 100) for n in range(50)])))
    assert len(memory.begin(Task(2, "boil tin"), "").text.split()) < 250


def test_the_prompts_name_as_many_operations_as_will_be_applied() -> None:
    wishes = {"operations": [change("ADD", None, word) for word in ("one", "two", "three")]}
    memory = build("expel", backbone := Scripted(wishes), successes=1, operations=2)
    memory.write(experience(1, "boil water"))
    assert "by at most 2 operations in all" in backbone.prompts("Changes")[0]
    assert memory.counters()["insights"] == 2
