"""MemGen (text): at most 5 questions an episode, woven for the moment, nothing of it kept."""

from __future__ import annotations

from typing import Any

from agents import tokens
from agents.base import MalformedReply, Step
from envs.base import Task
from memories.base import Recall
from memories.memgen import _sentences
from tests.memories.helpers import Axes, Scripted, acts, build, experience

YES = {"need": "how to boil", "help": True}
NO = {"need": "", "help": False}


def distilled(word: str) -> dict[str, Any]:
    return {"situation": f"To {word}.", "lesson": f"Lesson on how to {word}."}


def episode(recall: Recall, actions: int) -> list[str | None]:
    """What the agent is shown before each round of an episode; as in the loop, it stands in the history."""
    history: list[Step] = []
    shown = []
    for number in range(actions):
        shown.append(note := recall.before_step(tuple(history)))
        if note:
            history.append(Step("note", "", "", note))
        history += acts((f"act {number}", f"seen {number}"))
    return shown


def test_a_worked_stream() -> None:
    backbone = Scripted(
        distilled("boil"),
        *(NO, distilled("melt")),
        *(YES, {"memory": "Use the kettle."}, NO, YES, {"memory": "  "}, distilled("find")),
        *(YES, MalformedReply("no", ""), MalformedReply("no", "")),  # unreadable: not distilled
        *(NO, MalformedReply("no", "{")),
    )
    memory = build("memgen", backbone, Axes("boil", "melt", "find"), nearest=2)
    lives = [("success", 3), ("failure", 4), ("success", 12), ("unreadable", 6), ("success", 2)]
    shown = []
    for number, (outcome, actions) in enumerate(lives, 1):
        recall = memory.begin(Task(number, "boil and melt, melt"), "You are in the kitchen.")
        assert (recall.text, list(recall.items)) == ("", [])
        shown.append([(n, text) for n, text in enumerate(episode(recall, actions)) if text])
        memory.write(experience(number, "boil and melt, melt", outcome, recall=recall))
    assert not backbone.replies
    assert shown == [[], [], [(0, "Use the kettle.")], [], []]
    assert memory.documents() == {
        "state.txt": "# numbers that this memory keeps\n"
        "lessons: 3\nasked: 7\nmalformed: 3\ntriggered: 3\nunreadable: 1\nwoven: 1\n",
        "lessons/00001.txt": "task: 1\noutcome: success\nsituation: To boil.\nlesson: Lesson on how to boil.\n",
        "lessons/00002.txt": "task: 2\noutcome: failure\nsituation: To melt.\nlesson: Lesson on how to melt.\n",
        "lessons/00003.txt": "task: 3\noutcome: success\nsituation: To find.\nlesson: Lesson on how to find.\n",
    }
    # query: "boil and melt, melt / how to boil / ...": boil 2, melt 2: equal cosines, in the order of ids
    woven = backbone.prompts("Woven")[0]
    assert "<need>\nhow to boil\n</need>" in woven
    assert woven.index("(success) To boil.") < woven.index("(failure) To melt.")
    assert {call[0] for call in backbone.calls if call[1] in ("Trigger", "Woven")} == {"retrieve"}


def test_at_most_five_questions_an_episode() -> None:
    backbone = Scripted(distilled("boil"), *[NO] * 5)
    memory = build("memgen", backbone, every=5)
    memory.write(experience(1, "boil water"))
    recall = memory.begin(Task(2, "boil water"), "")
    episode(recall, 60)
    assert [event.detail for event in recall.events] == [f"after {n} actions" for n in (0, 5, 10, 15, 20)]
    assert "act 19" in backbone.calls[-1][2]


def test_rounds_that_do_not_act_bring_no_second_question() -> None:
    backbone = Scripted(distilled("boil"), NO)
    memory = build("memgen", backbone)
    memory.write(experience(1, "boil water"))
    recall = memory.begin(Task(2, "boil water"), "")
    for steps in (0, 1, 2, 3):
        recall.before_step(tuple(Step("look_up", "", "check valid actions", "many") for _ in range(steps)))
    assert len(backbone.prompts("Trigger")) == 1


def test_a_woven_memory_is_cut_and_not_kept() -> None:
    backbone = Scripted(distilled("boil"), YES, {"memory": "word " * 300})
    memory = build("memgen", backbone)
    memory.write(experience(1, "boil water"))
    before = dict(memory.documents())
    recall = memory.begin(Task(2, "boil water"), "")
    shown = recall.before_step(())
    assert shown is not None and tokens.count(shown) == 128
    assert memory.documents() == before
    assert [(item.id, item.kind) for item in recall.items] == [("00001", "lesson")]


def test_nothing_is_asked_while_the_pool_is_empty() -> None:
    recall = build("memgen", backbone := Scripted()).begin(Task(1, "boil water"), "")
    assert episode(recall, 20) == [None] * 20
    assert backbone.calls == []


def test_what_was_given_in_the_episode_is_shown_to_trigger_and_weaver() -> None:
    backbone = Scripted(
        distilled("boil"),
        *(YES, {"memory": "Use the kettle."}),
        *(YES, {"memory": "Look in the cupboard."}),
        *(NO, NO),
    )
    memory = build("memgen", backbone, every=5)
    memory.write(experience(1, "boil water"))
    episode(memory.begin(Task(2, "boil water"), ""), 11)
    given = [prompt.count("<given>\nUse the kettle.\n</given>") for prompt in backbone.prompts("Trigger")]
    assert given == [0, 1, 1]
    assert backbone.prompts("Trigger")[2].count("<given>") == 2
    assert [prompt.count("<given>") for prompt in backbone.prompts("Woven")] == [0, 1]
    episode(memory.begin(Task(3, "boil water"), ""), 1)
    assert "<given>" not in backbone.prompts("Trigger")[3]


def test_a_long_memory_is_cut_after_a_sentence() -> None:
    """Each of `heat`, `water` and `.` is a token: 7 tokens hold two sentences and a word, 4 hold one and a word."""
    text = "heat water. heat water! heat water."
    assert _sentences(text, 9) == text
    assert _sentences(text, 7) == "heat water. heat water!"
    assert _sentences(text, 4) == "heat water."
    # where the only end is in the first half, all that fits stays
    assert _sentences("heat. " + "water " * 9, 8) == "heat. " + " ".join(["water"] * 6)
    assert _sentences("version 3.5 of water is heat and water", 6) == "version 3.5 of water"
