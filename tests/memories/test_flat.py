"""Flat-Memory: whole trajectories in, the nearest out, as they were."""

from __future__ import annotations

from agents import tokens
from agents.base import Step
from envs.base import Task
from tests.memories.helpers import Axes, Scripted, acts, build, experience, live


def test_the_nearest_trajectories_are_shown_as_they_were() -> None:
    memory = build("flat", Scripted(), Axes("boil", "melt", "find"), k=2)
    memory.write(experience(1, "find a plant", "failure"))
    memory.write(experience(2, "boil water", "success", acts(("boil kettle", "It boils."))))
    memory.write(experience(3, "melt ice", "unreadable"))
    memory.write(experience(4, "boil and melt", "success"))
    # cosines with "boil tin" = (1,0,0): 0; (2+1 boil) 1; 0; (1,1,0)/sqrt 2 = 0.707
    recall = memory.begin(Task(5, "boil tin"), "You are in the hall.")
    assert recall.text == (
        "## Episode 1 from an earlier task\n"
        "Task: boil water\nOutcome: success\n"
        "[0]\nObservation: You are in the kitchen.\n"
        "[1]\nThought: next\nAction: boil kettle\nObservation: It boils.\n"
        "\n"
        "## Episode 2 from an earlier task\n"
        "Task: boil and melt\nOutcome: success\n"
        "[0]\nObservation: You are in the kitchen.\n"
        "[1]\nThought: next\nAction: look around\nObservation: You see a kitchen."
    )
    assert [(item.id, item.kind) for item in recall.items] == [
        ("00002", "trajectory"),
        ("00004", "trajectory"),
    ]
    assert [event.detail for event in recall.events] == ["cosine 1.000", "cosine 0.707"]
    assert memory.documents()["episodes/00003.txt"].startswith(
        "task: 3\ninstruction: melt ice\noutcome: unreadable\n"
    )
    assert memory.counters() == {"episodes": 4}


def test_there_is_no_threshold_and_no_call() -> None:
    memory = build("flat", backbone := Scripted(), Axes("boil", "melt"))
    memory.write(experience(1, "boil water"))
    assert live(memory, experience(2, "melt ice")).items
    assert backbone.calls == []


def test_a_long_episode_is_cut_in_the_middle() -> None:
    long = tuple(Step("act", "", f"step {n}", "word " * 100) for n in range(200))
    memory = build("flat", Scripted(), entry_tokens=1500)
    memory.write(experience(1, "boil water", steps=long))
    text = memory.begin(Task(2, "boil water"), "").text
    assert 1000 < tokens.count(text) < 1700
    assert "step 0\n" in text and "step 199\n" in text and "steps left out" in text


def test_what_a_memory_does_is_not_part_of_the_episode() -> None:
    memory = build("flat", Scripted())
    note = Step("note", "", "", "a woven memory")
    memory.write(experience(1, "boil water", steps=(*acts(("go", "ok")), note)))
    assert "woven" not in memory.begin(Task(2, "boil"), "").text
