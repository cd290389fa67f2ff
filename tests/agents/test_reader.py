"""The offline reader: what it reads, and that it answers every form asked for."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from agents.base import Episode, Message, Step
from agents.client import Request
from agents.judge import Judge, Judgement
from agents.loop import LoopOptions, act, system_text
from agents.prompts import block, system, user
from agents.reader.answers import Prompt, answers
from agents.reader.client import ReaderClient
from agents.reader.lessons import adapted, lessons_in
from agents.reader.scene import carried_in, room_in
from agents.reader.view import view_of
from envs.base import Evaluation, Observation, Task
from tests.agents.worlds import Advice

KITCHEN = """\
This room is called the kitchen. In it, you see:
\tthe agent
\ta counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.
\ta freezer. The freezer door is closed.
\ta stove, which is turned on. On the stove is: nothing.
\ta flower pot 3 (containing a lemon tree in the adult stage, soil)
You also see:
\tA door to the bathroom (that is closed)
\tA door to the hallway (that is open)

In your inventory, you see:
\tan orange"""


def ask(messages: list[Message], schema: type[BaseModel] | None = None, seed: int = 0) -> str:
    request = Request("reader", tuple(messages), "judge" if schema else "act", 0.0, 100, schema=schema)
    return ReaderClient(seed).send(request).text


def first_messages(task: str, observation: str, memory: str = "") -> list[Message]:
    text = system_text("text", "look around, open OBJ, pick up OBJ, go OBJ, focus on OBJ", Advice(memory))
    return [system(text), user(f"{block('task', task)}\n{block('observation', observation)}\nStep 1 of 9.")]


def test_a_room_is_read() -> None:
    room = room_in(KITCHEN)
    assert room is not None and room.name == "kitchen"
    assert room.doors == {"bathroom": False, "hallway": True}
    inside = {item.name: item.inside for item in room.items}
    assert inside["red apple"] == "bowl" and inside["bowl"] == "counter" and inside["drawer"] == "counter"
    assert inside["lemon tree in the adult stage"] == "flower pot 3"
    assert "agent" not in inside and "nothing" not in inside and "orange" not in inside
    assert [item.name for item in room.items if item.closed] == ["freezer"]
    assert [item.name for item in room.items if item.on] == ["stove"]
    carried = carried_in(KITCHEN)
    assert carried is not None and [item.name for item in carried] == ["orange"]


def test_a_conversation_is_read() -> None:
    messages = [
        *first_messages("Find it.", KITCHEN),
        {"role": "assistant", "content": "Thought: t\nAction: pick up banana"},
        user(block("observation", "You move the banana to the inventory.")),
        {"role": "assistant", "content": "Thought: t\nAction: open door to bathroom"},
        user(block("observation", "The door is now open.")),
        {"role": "assistant", "content": "Thought: t\nAction: go to bathroom"},
        user(block("observation", "You move to the bathroom.")),
        {"role": "assistant", "content": "Thought: t\nAction: fly"},
        user(block("observation", "No known action matches that input.")),
    ]
    view = view_of(messages)  # type: ignore[arg-type]
    assert view.task == "Find it." and view.place == "bathroom" and view.unseen
    assert [item.name for item in view.carried] == ["orange", "banana"]
    assert "banana" not in {item.name for item in view.rooms["kitchen"].items}
    assert [turn.failed for turn in view.turns] == [False, False, False, True]


FIND = "Your task is to find a(n) animal. First, focus on the thing. Then, move it to the red box in the den."
HALL = """\
This room is called the hallway. In it, you see:
\tthe agent
You also see:
\tA door to the attic (that is open)
\tA door to the cellar (that is open)
\tA door to the garden (that is open)"""


def test_the_same_seed_and_prompt_give_the_same_reply_and_seeds_break_ties() -> None:
    messages = first_messages(FIND, HALL)
    replies = {seed: ask(messages, seed=seed) for seed in range(12)}
    assert replies == {seed: ask(messages, seed=seed) for seed in range(12)}
    assert len(set(replies.values())) > 1


@pytest.mark.parametrize("place", ["attic", "cellar", "garden"])
def test_what_a_memory_injects_changes_what_it_does(place: str) -> None:
    seen = f"This room is called the {place}. In it, you see:\n\ta baby wolf\nYou also see:\n"
    trajectory = f"Task: {FIND}\nOutcome: success\n[1]\nAction: go to {place}\nObservation: {seen}"
    prose = (
        f"## Finding animals\nFor a task like '{FIND}' this worked, in this order: "
        f"`go to hallway`; `go to {place}`; `focus on baby wolf`."
    )
    for memory in (trajectory, prose):
        assert f"Action: go to {place}" in ask(first_messages(FIND, HALL, memory))


def test_a_warning_is_kept_from() -> None:
    here = "This room is called the den. In it, you see:\n\ta wolf\n\ta dog\nYou also see:\n"
    assert "Action: focus on wolf" in ask(first_messages(FIND, here))
    warned = ask(first_messages(FIND, here, "Avoid `focus on wolf`: it ended the task."))
    assert "Action: focus on dog" in warned


def test_an_earlier_episode_is_read_and_adapted() -> None:
    other = FIND.replace("animal", "plant").replace("red box", "blue box")
    memory = f"Task: {other}\nOutcome: success\n[1]\nAction: focus on fern\nObservation: You focus.\n"
    lessons = lessons_in(memory)
    assert [(p.actions, p.outcome) for p in lessons.fitting(FIND)] == [(("focus on fern",), "success")]
    assert lessons.focused == {"fern": 1}
    assert adapted("move fern to blue box", other, FIND) == "move fern to red box"


class Kitchen:
    """A world that offers its actions: a mug is to be taken from a cabinet and put on a desk."""

    action_help = "Choose one of the offered actions."

    def __init__(self) -> None:
        self.at, self.open, self.mug, self.done = "", False, "cabinet 2", False
        self.latest = self.see("You are in a room with cabinet 1, cabinet 2, desk 1.")

    @property
    def observation(self) -> Observation:
        return self.latest

    def see(self, text: str) -> Observation:
        offered = [f"go to {p}" for p in ("cabinet 1", "cabinet 2", "desk 1") if p != self.at]
        offered += ["inventory", "look"]
        if self.at.startswith("cabinet"):
            offered.append(f"close {self.at}" if self.open else f"open {self.at}")
        if self.at == self.mug and self.open:
            offered.append(f"take mug 1 from {self.at}")
        if self.mug == "held":
            offered.append(f"put mug 1 in/on {self.at}")
        return Observation(text, tuple(sorted(offered)), self.done)

    def step(self, action: str) -> Observation:
        if action not in (self.latest.actions or ()):
            return self.see("Nothing happens.")
        if action.startswith("go to"):
            self.at, self.open = action.removeprefix("go to "), False
        elif action.startswith("open"):
            self.open = True
        elif action.startswith("take"):
            self.mug = "held"
        elif action.startswith("put"):
            self.mug, self.done = self.at, self.at == "desk 1"
        self.latest = self.see(f"You are at {self.at}.")
        return self.latest

    def look_up(self, request: str) -> str | None:
        return None

    def evaluate(self) -> Evaluation:
        return Evaluation({"success": float(self.done)})

    def close(self) -> None:
        pass


class Reader:
    """The reader as a backbone."""

    name = "reader"

    def __init__(self, seed: int = 0) -> None:
        self.client = ReaderClient(seed)

    def complete(self, messages, *, role, schema=None, temperature=None, max_tokens=None):
        from agents.base import Reply

        sent = self.client.send(Request("reader", tuple(messages), role, 0.0, 100, schema=schema))
        return Reply(sent.text, schema.model_validate_json(sent.text) if schema else None)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_plays_where_actions_are_offered(seed: int) -> None:
    world = Kitchen()
    episode = act(
        world,
        Task(1, "Your task is to: put a mug in desk."),
        Advice(),
        Reader(seed),
        LoopOptions(),
        "text",
        15,
    )
    assert episode.end == "finished" and world.done


@pytest.mark.parametrize("form", ["code", "page"])
def test_code_and_pages_get_a_reply_in_their_form(form: str) -> None:
    text = system_text(form, "print(apis.docs.show()) lists the apis; apis.task.complete() ends.", Advice())  # type: ignore[arg-type]
    reply = ask([system(text), user(block("task", "Send the note.") + "\n" + block("observation", "ready"))])
    from agents.forms import Move, read

    assert isinstance(read(form, reply), Move)  # type: ignore[arg-type]


def test_a_tool_is_asked_for_the_entry_that_fits() -> None:
    from agents.base import Tool

    tool = Tool("skill_view", "skill_view(name): the whole skill", str)
    guide = Advice(
        "Skills:\n- find-animal: find an animal and move it\n- boil-water: heat a pot of water on the stove",
        [tool],
    )
    text = system_text("text", "look around", guide)
    messages = [system(text), user(block("task", FIND) + "\n" + block("observation", HALL))]
    assert ask(messages).endswith("Tool: skill_view(find-animal)")


def judged(end: str, *steps: tuple[str, str]) -> str:
    acts = tuple(Step("act", "t", action, seen) for action, seen in steps)
    return Judge(Reader()).read(Episode(Task(1, FIND), "A den.", acts, end)).outcome  # type: ignore[arg-type]


def test_the_judge_reads_the_record() -> None:
    assert judged("finished", ("move wolf to red box", "You move the wolf to the red box.")) == "success"
    assert judged("finished", ("focus on wolf", "You focus on the wolf.")) == "failure"
    assert judged("step_limit", ("move wolf to red box", "You move the wolf to the red box.")) == "failure"
    assert judged("finished", ("move wolf to red box", "No known action matches that input.")) == "failure"
    assert judged("stopped") == "failure"


def test_a_rule_is_preferred_to_the_fallback() -> None:
    class Colour(BaseModel):
        name: str

    @answers(Colour)
    def colour(prompt: Prompt, rng: object) -> Colour:
        return Colour(name=prompt.block("task"))

    assert json.loads(ask([user(block("task", "green"))], Colour)) == {"name": "green"}


class Mood(Enum):
    GLAD = "glad"
    SAD = "sad"


class Leaf(BaseModel):
    tag: Annotated[str, Field(pattern=r"^[a-z_]+$", max_length=12)]
    weight: Annotated[float, Field(gt=0, le=1)]
    child: Leaf | None = None


class Everything(BaseModel):
    mood: Mood
    kind: Literal["add", "remove"]
    leaves: Annotated[list[Leaf], Field(min_length=1, max_length=4)]
    pairs: tuple[int, str]
    notes: dict[str, str]
    either: int | str
    flag: bool
    maybe: Leaf | None = None


def test_the_fallback_fills_nested_forms_from_the_text() -> None:
    prompt = [
        user(f"{block('task', 'Boil water.')}\n{block('episode', 'I feel sad, so sad. We remove it.')}")
    ]
    data = Everything.model_validate_json(ask(prompt, Everything))
    assert data.mood is Mood.SAD and data.kind == "remove"


FIELDS = st.one_of(
    st.integers(0, 30).flatmap(
        lambda low: st.integers(low, low + 60).map(
            lambda high: (str, Field(min_length=low, max_length=max(high, 1)))
        )
    ),
    st.integers(-9, 9).flatmap(
        lambda low: st.integers(low, low + 9).map(lambda high: (int, Field(ge=low, le=high)))
    ),
    st.floats(-9, 9).map(lambda low: (float, Field(gt=low, lt=low + 1))),
    st.lists(st.text("abcde", min_size=1), min_size=1, max_size=4, unique=True).map(
        lambda options: (Literal[tuple(options)], ...)
    ),
    st.integers(0, 5).flatmap(
        lambda low: st.integers(low, 6).map(lambda high: (list[str], Field(min_length=low, max_length=high)))
    ),
    st.just((bool, ...)),
    st.just((int | None, None)),
)


@settings(max_examples=60, deadline=None)
@given(fields=st.lists(FIELDS, min_size=1, max_size=5), text=st.text(max_size=80), seed=st.integers(0, 9))
def test_the_fallback_fits_any_form(fields: list, text: str, seed: int) -> None:
    form = create_model("Form", **{f"field_{n}": field for n, field in enumerate(fields)})
    prompt = [user(f"{block('task', text)}\n{block('memory', 'One. Two words here. Three.')}")]
    form.model_validate_json(ask(prompt, form, seed))


def test_the_judgement_is_valid_for_any_text() -> None:
    for text in ("", "no blocks", block("episode", "<task>")):
        Judgement.model_validate_json(ask([user(text)], Judgement))
