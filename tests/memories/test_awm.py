"""AWM: the whole file is induced again after each success, from all successes that fit."""

from __future__ import annotations

from typing import Any

from agents.base import MalformedReply
from envs.base import Task
from tests.memories.helpers import Scripted, acts, build, experience, live


def flow(name: str, *actions: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"When {name}.",
        "steps": [{"reason": "", "action": one} for one in actions],
    }


def file(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"workflows": list(flows)}


def test_a_worked_stream() -> None:
    backbone = Scripted(
        file(flow("go to {place}", "open door to {place}", "go to {place}")),
        MalformedReply("no", "{"),
        file(
            flow("take {thing}", "go to {place}", "take {thing}"),
            flow("TAKE it", "Go to  {place}", "take {thing}"),
        ),
        file(
            flow("heat {thing}", "put {thing} on stove", "activate stove"),
            flow("go to {place}", "look", "go to {place}"),
        ),
    )
    memory = build("awm", backbone)
    outcomes = ["success", "failure", "success", "success", "unreadable", "success"]
    texts = []
    for number, outcome in enumerate(outcomes, 1):
        recall = live(
            memory, experience(number, f"task number {number}", outcome, acts((f"act {number}", "done")))
        )
        texts.append([item.id for item in recall.items])
    assert not backbone.replies
    # what the malformed reply after task 3 left is the file of task 1; then each file replaces the last
    assert texts == [
        [],
        ["go to {place}"],
        ["go to {place}"],
        ["go to {place}"],
        ["take {thing}"],
        ["take {thing}"],
    ]
    assert memory.documents()["workflows.txt"] == (
        "# the whole file, as it is shown\n"
        "name: heat {thing}\ndescription: When heat {thing}.\n"
        'actions:\n  - put {thing} on stove\n  - activate stove\nreasons:\n  - ""\n  - ""\n'
        "---\n"
        "name: go to {place}\ndescription: When go to {place}.\n"
        'actions:\n  - look\n  - go to {place}\nreasons:\n  - ""\n  - ""\n'
    )
    assert memory.counters() == {
        "workflows": 2,
        "successes": 4,
        "inductions": 3,
        "duplicates": 1,
        "malformed": 1,
    }
    prompts = backbone.prompts("Workflows")
    assert [[n for n in range(1, 7) if f"task number {n}\n" in prompt] for prompt in prompts] == [
        [1],
        [1, 3],
        [1, 3, 4],
        [1, 3, 4, 6],
    ]
    assert {(call[0], call[3]) for call in backbone.calls} == {("write", 1.0)}
    assert memory.begin(Task(9, "nothing alike"), "").text == (
        "Workflows that completed parts of earlier tasks. Fill in the {placeholders}.\n\n"
        "## Workflow: heat {thing}\nWhen heat {thing}.\n1. put {thing} on stove\n2. activate stove\n\n"
        "## Workflow: go to {place}\nWhen go to {place}.\n1. look\n2. go to {place}"
    )


def test_the_newest_successes_within_the_cap_go_into_the_call() -> None:
    """Each is about 200 tokens: two fit into 450, and the newest goes in even if it alone does not fit."""
    backbone = Scripted(*[file()] * 4)
    memory = build("awm", backbone, input_tokens=450)
    for number in range(1, 4):
        memory.write(
            experience(number, f"task number {number}", steps=acts((f"act {number}", "word " * 180)))
        )
    assert [n for n in range(1, 4) if f"task number {n}\n" in backbone.prompts("Workflows")[-1]] == [2, 3]
    memory.write(experience(4, "task number 4", steps=acts(*[(f"act {n}", "word " * 300) for n in range(9)])))
    assert [n for n in range(1, 5) if f"task number {n}\n" in backbone.prompts("Workflows")[-1]] == [4]
