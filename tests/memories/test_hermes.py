"""Hermes: notes under a cap, skills that are opened by name, patches before creations."""

from __future__ import annotations

from typing import Any

import pytest

from agents.base import MalformedReply, Step
from envs.base import Task
from memories.base import Memory, Recall
from memories.hermes.shelf import Shelf, ShelfError
from tests.memories.helpers import Scripted, build, experience, live


def note(operation: str, number: int | None = None, text: str = "") -> dict[str, Any]:
    return {"operation": operation, "note": number, "text": text}


def skill(operation: str, name: str, description: str = "", old: str = "", text: str = "") -> dict[str, Any]:
    return {"operation": operation, "name": name, "description": description, "old": old, "text": text}


def review(notes: list[Any], skills: list[Any]) -> dict[str, Any]:
    return {"notes": notes, "skills": skills}


def view(memory: Memory, number: int, name: str) -> tuple[Recall, str]:
    recall = memory.begin(Task(number, "boil water"), "")
    (tool,) = recall.tools
    return recall, tool.call(name)


def test_a_worked_stream() -> None:
    boil = "## Steps\n1. put water in pot\n2. activate stove"
    backbone = Scripted(
        review(
            [note("add", None, "Doors are shut.")], [skill("create", "Boil a Liquid", "To boil.", text=boil)]
        ),
        # the creation stands first in the reply, the patch is made first
        review(
            [note("add", None, "The stove is in the kitchen.")],
            [
                skill("create", "melt", "To melt.", text="## Steps\n1. heat it"),
                skill("patch", "boil-a-liquid", old="2. activate stove", text="2. activate stove\n3. wait"),
            ],
        ),
        # a duplicate name, an unknown note, a passage that is not there: told once, one is mended
        review(
            [note("replace", 9, "x"), note("replace", 1, "Doors are  shut\nat first.")],
            [skill("create", "melt", "Again.", text="x"), skill("patch", "melt", old="nowhere", text="x")],
        ),
        review(
            [note("remove", 2)],
            [skill("patch", "melt", old="heat it", text="heat it slowly"), skill("delete", "gone")],
        ),
        MalformedReply("no", "{"),
        review([note("add", None, "Ice melts.")], [skill("delete", "melt")]),  # unreadable: notes only
        review([], []),  # after the problem was told
        review(
            [],
            [
                skill("edit", "boil-a-liquid", text="## Steps\n1. use the kettle"),
                skill("create", "find", "To find.", text="look"),
            ],
        ),
    )
    memory = build("hermes", backbone)
    for number, outcome in enumerate(
        ["success", "success", "failure", "success", "unreadable", "success"], 1
    ):
        live(memory, experience(number, f"task {number}", outcome))
    assert not backbone.replies
    assert memory.documents() == {
        "state.txt": "# numbers that this memory keeps\n"
        "made: 3\nadd: 3\ncreate: 3\nedit: 1\nerrors: 1\nmalformed: 1\n"
        "mended: 2\nopened: 0\npatch: 2\nremove: 1\nreplace: 1\n",
        "notes.txt": "# at most 2200 characters in all\nnumber: 1\ntext: Doors are shut at first.\n---\n"
        "number: 3\ntext: Ice melts.\n",
        "skills/boil-a-liquid.txt": "description: To boil.\ntext:\n    ## Steps\n    1. use the kettle\n",
        "skills/melt.txt": "description: To melt.\ntext:\n    ## Steps\n    1. heat it slowly\n",
        "skills/find.txt": "description: To find.\ntext: look\n",
    }
    third, mended = backbone.prompts("Review")[2:4]
    assert "<problems>" not in third
    assert (
        "<problems>\n- replace: there is no note number 9\n"
        "- patch: the passage 'nowhere' stands 0 times in the skill 'melt', not once\n"
        "- create: there is a skill 'melt' already: patch or edit it\n</problems>"
    ) in mended
    recall, text = view(memory, 7, "melt")
    assert text == "# melt\nTo melt.\n## Steps\n1. heat it slowly"
    assert recall.text == (
        "Notes from earlier tasks:\n- Doors are shut at first.\n- Ice melts.\n\n"
        "Before you act, look through the skills: open every one that is even partly relevant by "
        "`skill_view(name)` and follow it.\n"
        "Skills:\n- boil-a-liquid: To boil.\n- find: To find.\n- melt: To melt."
    )
    assert [(item.id, item.kind) for item in recall.items] == [
        ("note-1", "note"), ("note-3", "note"), ("boil-a-liquid", "skill"), ("find", "skill"), ("melt", "skill")
    ]  # fmt: skip


def test_an_overflow_of_the_notes_asks_for_consolidation() -> None:
    """2,200 characters in all: 1,100 + 3 between + 1,098 = 2,201 is one too many."""
    long, longer = "a" * 1100, "b" * 1098
    backbone = Scripted(
        review([note("add", None, long)], []),
        review([note("add", None, longer)], []),
        review([note("replace", 1, "short"), note("add", None, longer)], []),
        review([note("add", None, "c" * 1200)], []),
        review([note("add", None, "c" * 1200)], []),
    )
    memory = build("hermes", backbone)
    for number in range(1, 4):
        memory.write(experience(number, "boil water"))
    assert (
        "the notes would hold 2201 characters, 2200 is the most (now 1100): consolidate"
        in backbone.calls[2][2]
    )
    assert memory.counters()["note_characters"] == 5 + 3 + 1098
    assert memory.counters()["errors"] == 1
    assert memory.counters()["mended"] == 2


def test_exactly_the_cap_fits() -> None:
    assert Shelf().add_note("a" * 1100).add_note("b" * 1097).size == 2200


def test_an_opened_skill_is_shown_to_the_review_in_full() -> None:
    backbone = Scripted(
        review(
            [],
            [
                skill("create", "boil", "To boil.", text="secret step"),
                skill("create", "melt", "To melt.", text="hidden step"),
            ],
        ),
        review([], []),
    )
    memory = build("hermes", backbone)
    memory.write(experience(1, "boil water"))
    recall, _ = view(memory, 2, '"Boil"')
    assert "Near it: boil" in recall.tools[0].call("boild")
    assert "needs 1 to 64" in recall.tools[0].call("")
    memory.write(experience(2, "boil water", recall=recall))
    shown = backbone.prompts("Review")[1]
    assert "<opened_skill>\n# boil\nTo boil.\nsecret step\n</opened_skill>" in shown
    assert "hidden step" not in shown and "- melt: To melt." in shown
    assert [event.item for event in recall.events if event.kind == "opened"] == ["boil"]
    assert memory.counters()["opened"] == 1


def test_what_is_written_is_not_seen_by_the_episode_that_runs() -> None:
    backbone = Scripted(
        review([], [skill("create", "boil", "To boil.", text="one")]),
        review([], [skill("edit", "boil", text="two")]),
    )
    memory = build("hermes", backbone)
    memory.write(experience(1, "boil water"))
    recall, before = view(memory, 2, "boil")
    memory.write(experience(2, "boil water", recall=recall))
    assert recall.tools[0].call("boil") == before
    assert view(memory, 3, "boil")[1].endswith("two")


@pytest.mark.parametrize(
    ("name", "description", "body", "told"),
    [
        ("x" * 65, "d", "b", "1 to 64"),
        ("!!", "d", "b", "1 to 64"),
        ("x", "d" * 1025, "b", "1 to 1024 characters, not 1025"),
        ("x", " ", "b", "1 to 1024"),
        ("x", "d", " \n", "would be empty"),
    ],
)
def test_limits_of_a_skill(name: str, description: str, body: str, told: str) -> None:
    with pytest.raises(ShelfError, match=told):
        Shelf().create(name, description, body)
    assert Shelf().create("x" * 64, "d" * 1024, "b").skills


def test_without_skills_there_is_no_tool_and_nothing_is_said() -> None:
    recall = build("hermes", Scripted()).begin(Task(1, "boil"), "")
    assert (recall.text, list(recall.tools)) == ("", [])


def test_a_review_may_have_skills_shown_before_it_changes_them() -> None:
    """Ids that are no skills, a name given twice and what was opened are not shown again; 3 at most."""
    created = [skill("create", name, f"To {name}.", text=f"steps of {name}") for name in "abcde"]
    wish = review([note("add", None, "too early")], []) | {
        "view": ["B", "b", "nothing", "", "a", "c", "d", "e"]
    }
    backbone = Scripted(
        review([], created),
        wish,
        review([], [skill("patch", "b", old="steps", text="better steps")]) | {"view": ["e"]},
    )
    memory = build("hermes", backbone)
    memory.write(experience(1, "boil water"))
    recall, _ = view(memory, 2, "a")
    memory.write(experience(2, "boil water", recall=recall))
    assert not backbone.replies
    first, second = backbone.prompts("Review")[1:]
    assert "<asked_skill>" not in first and "It opened no skill" not in first
    assert [f"steps of {name}" in second for name in "abcde"] == [True] * 4 + [False]
    assert second.count("<opened_skill>") == 1 and second.count("<asked_skill>") == 3
    documents = memory.documents()
    assert documents["skills/b.txt"] == "description: To b.\ntext: better steps of b\n"
    # What came together with the wish is left out: the reply was to come again.
    assert "too early" not in documents["notes.txt"]
    assert memory.counters()["viewed"] == 3


def test_a_review_that_names_no_skill_to_show_is_taken_as_it_is() -> None:
    backbone = Scripted(review([note("add", None, "kept")], []) | {"view": ["no such skill"]})
    memory = build("hermes", backbone)
    memory.write(experience(1, "boil water"))
    assert "text: kept" in memory.documents()["notes.txt"]
    assert "It opened no skill." in backbone.prompts("Review")[0]


def test_the_review_is_told_the_cap_that_is_kept() -> None:
    memory = build("hermes", backbone := Scripted(review([note("add", None, "a" * 40)], [])), notes_limit=50)
    memory.write(experience(1, "boil water"))
    backbone.replies = [review([note("add", None, "b" * 10)], []), review([], [])]
    memory.write(experience(2, "boil tin"))
    assert "The notes use 40 of at most 50 characters" in backbone.prompts("Review")[1]
    assert "the notes would hold 53 characters, 50 is the most" in backbone.prompts("Review")[2]
    assert "2200" not in backbone.prompts("Review")[0]


def test_the_review_is_told_when_a_skill_was_opened() -> None:
    backbone = Scripted(review([], [skill("create", "boil", "To boil.", text="one")]), *[review([], [])] * 2)
    memory = build("hermes", backbone)
    memory.write(experience(1, "boil water"))
    recall, _ = view(memory, 2, "boil")
    steps = [
        Step("act", "", "look around", "A kitchen."),
        Step("tool", "", 'skill_view("Boil")', "one"),
        Step("look_up", "", "check valid actions", "wait"),
        Step("tool", "", "skill_view(boil)", "one"),
        Step("act", "", "wait", "Time passes."),
    ]
    memory.write(experience(2, "boil water", steps=steps, recall=recall))
    assert "in view. It opened boil before step 2." in backbone.prompts("Review")[1]
    memory.write(experience(3, "boil water", recall=memory.begin(Task(3, "boil water"), "")))
    assert "in view. It opened no skill." in backbone.prompts("Review")[2]
