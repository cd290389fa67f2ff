"""MemGen (text): a trigger asks whether memory would help now, a weaver writes one for the moment.

Paper: Zhang, Fu and Yan 2025, "MemGen: Weaving Generative Latent Memory for Self-Evolving Agents" (arXiv
2509.24704). Official repository: bingreeky/MemGen, first KANABOON1/MemGen (its README states no licence).
Prompts are ours; no code is copied.

Deviations, and why: the method trains two LoRA modules that decide when to insert *latent* tokens and
generate them; no backbone behind an API can take such tokens, so **the latent channel is missing here**
and every table says "MemGen (text)". What stays:
- the trigger, as a question to the backbone at the start and then every few actions (the paper's stands
  at every sentence), at most 5 times an episode;
- the weaver, as a reply of at most 128 tokens from the current state and the 3 nearest pool entries. It is
  shown to the agent and not kept.
The pool holds what each judged episode taught, distilled by one call, in place of trained weights; an
episode with an unreadable verdict is not distilled. Nothing is asked while the pool is empty.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from agents import tokens
from agents.base import Backbone, Message, Step
from agents.prompts import block, render_step, shown, system, user
from agents.reader.answers import Prompt, answers
from envs.base import Task
from memories.base import Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, refuse_unknown
from memories.extraction import episode_steps, in_order, refused, sentence, went_wrong, worked
from memories.prompting import DATA, Filled, ask, episode_blocks
from memories.store import STATE, Store, take_numbers, write_numbers


class Trigger(BaseModel):
    """Whether memory would help now."""

    need: str = Field("", description="what the agent would need to know now, one sentence; empty if nothing")
    help: bool = Field(description="whether experience from earlier tasks would help now")


class Woven(BaseModel):
    """The memory for this moment."""

    memory: str = Field(description="at most 70 words, addressed to the agent; empty if nothing applies")


class Distilled(BaseModel):
    """What an episode taught."""

    situation: Filled = Field(description="one sentence: the kind of task and state it applies to")
    lesson: Filled = Field(description="two to five sentences: what to do and what to avoid")


@dataclass(frozen=True)
class Lesson:
    """One distilled episode."""

    task: int
    outcome: str
    situation: str
    lesson: str

    @property
    def text(self) -> str:
        """What is embedded and shown to the weaver."""
        return f"{self.situation}\n{self.lesson}"


@dataclass
class MemGenRecall(Recall):
    """Asks and weaves during the episode; all of it is gone afterwards."""

    memory: MemGen | None = None
    """Where lessons are woven from; None while the pool is empty."""
    task: Task | None = None
    opening: str = ""
    woven: list[Item] = field(default_factory=list)
    asked: int = 0
    next_at: int = 0
    """Number of actions after which the trigger asks again."""

    def before_step(self, history: Sequence[Step]) -> str | None:
        """At the start and at step boundaries: a memory for this moment, or None."""
        memory, task = self.memory, self.task
        done = sum(step.kind == "act" for step in history)
        if memory is None or task is None or self.asked >= memory.triggers or done < self.next_at:
            return None
        self.asked += 1
        self.next_at = done + memory.every
        text, events, items = memory.woven(task, self.opening, history)
        self.events += events
        self.woven += [item for item in items if item not in self.woven]
        self.items = self.woven
        return text


class MemGen:
    """A pool of lessons; what the agent sees is written for the moment."""

    def __init__(
        self,
        resources: Resources,
        triggers: NonNegativeInt = 5,
        every: PositiveInt = 5,
        nearest: PositiveInt = 3,
        memory_tokens: PositiveInt = 128,
        state_tokens: PositiveInt = 1500,
        temperature: NonNegativeFloat | None = None,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.triggers = triggers
        self.every = every
        self.nearest = nearest
        self.memory_tokens = memory_tokens
        self.state_tokens = state_tokens
        self.temperature = temperature
        self.episode_tokens = episode_tokens
        self._backbone: Backbone = resources.backbone
        self._store = Store("lessons", resources.embedder, lambda lesson: lesson.text, _write, _read)
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """Nothing yet: memories come during the episode."""
        return MemGenRecall(memory=self if len(self._store) else None, task=task, opening=observation)

    def woven(
        self, task: Task, opening: str, history: Sequence[Step]
    ) -> tuple[str | None, list[Event], list[Item]]:
        """Trigger, retrieve, weave: the text for now, what happened, and the lessons used."""
        # The episode's notes are what was woven before: the agent has them in view.
        given = [block("given", step.observation) for step in history if step.kind == "note"]
        state = "\n".join([self._state(task, opening, history), *given])
        asked = Event("asked", detail=f"after {sum(step.kind == 'act' for step in history)} actions")
        trigger = ask(
            self._backbone,
            [system(TRIGGER), user(state)],
            role="retrieve",
            schema=Trigger,
            temperature=self.temperature,
        )
        if trigger is None:
            return None, [asked, Event("malformed", detail="trigger")], []
        if not trigger.help:
            return None, [asked], []
        last = history[-1].observation if history else opening
        query = f"{task.instruction}\n{trigger.need}\n{tokens.head(last, 100)}"
        hits = self._store.search(query, self.nearest)
        events = [asked, Event("triggered", detail=trigger.need)]
        events += [Event("retrieved", id, f"cosine {score:.3f}") for id, score in hits]
        lessons = [block("lesson", f"({self._store[id].outcome}) {self._store[id].text}") for id, _ in hits]
        answer = ask(
            self._backbone,
            [system(WEAVER), user("\n".join([state, block("need", trigger.need), *lessons]))],
            role="retrieve",
            schema=Woven,
            temperature=self.temperature,
        )
        if answer is None:
            return None, [*events, Event("malformed", detail="weaver")], []
        text = _sentences(answer.memory.strip(), self.memory_tokens)
        if not text:
            return None, events, []
        return text, [*events, Event("woven")], [Item(id, "lesson") for id, _ in hits]

    def _state(self, task: Task, opening: str, history: Sequence[Step]) -> str:
        """Task and latest steps within the cap, newest kept."""
        texts = [f"[0]\nObservation: {opening}"]
        texts += [render_step(step, number) for number, step in enumerate(shown(history), 1)]
        kept: list[str] = []
        left = self.state_tokens
        for text in reversed(texts):
            text = tokens.head_and_tail(text, 400)
            left -= tokens.count(text)
            if left < 0 and kept:
                break
            kept.append(text)
        return block("task", task.instruction) + "\n" + block("state", "\n".join(reversed(kept)))

    def write(self, experience: Experience) -> None:
        """Distil a judged episode into the pool; what was woven is not kept."""
        for event in experience.recall.events:
            if event.kind in ("asked", "triggered", "woven", "malformed"):
                self._numbers[event.kind] += 1
        outcome = experience.verdict.outcome
        if outcome == "unreadable":
            self._numbers["unreadable"] += 1
            return
        answer = ask(
            self._backbone,
            distil_prompt(experience, self.episode_tokens),
            role="write",
            schema=Distilled,
            temperature=self.temperature,
        )
        if answer is None:
            self._numbers["malformed"] += 1
            return
        number = experience.episode.task.number
        self._store.add(Lesson(number, outcome, answer.situation, answer.lesson))

    def documents(self) -> Mapping[str, str]:
        """One document a lesson."""
        numbers = {"lessons": self._store.made, **dict(sorted(self._numbers.items()))}
        return {STATE: write_numbers(numbers), **self._store.documents()}

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers.pop("lessons", 0))
        self._numbers = numbers
        refuse_unknown(left, "memgen")

    def counters(self) -> Mapping[str, float]:
        """lessons; asked, triggered and woven (over all episodes), malformed (replies), unreadable (episodes)."""
        names = ("asked", "triggered", "woven", "malformed", "unreadable")
        return {"lessons": len(self._store), **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


def _sentences(text: str, limit: int) -> str:
    """`text` within `limit` tokens: cut after a sentence, if one ends in the second half of what fits [ours]."""
    fits = tokens.head(text, limit)
    if fits == text:
        return text
    ends = [end.end() for end in re.finditer(r"[.!?](?=\s|$)|\n", fits)]
    return fits[: ends[-1]].rstrip() if ends and ends[-1] > len(fits) // 2 else fits


TRIGGER = f"""\
You watch an agent at work. Every few actions you are asked whether a memory from earlier, similar tasks would
help it now. Before the first action it does, unless the whole way to the goal is obvious. Later it does only
if in the latest steps the agent was refused, did not find in several places what it looks for, repeats
itself, misreads what it sees, or is about to do what cannot be undone. Otherwise it makes progress, and a
memory would only distract, also where the agent goes another way than it was told. What was given before is
shown, and the agent still has it: the same need is met again only if it got stuck by overlooking it. {DATA}"""

WEAVER = f"""\
You write one short memory for an agent at work. Lessons from earlier tasks are given, the nearest first, each
marked by how the episode it came from ended. Take from them what applies to the agent's state and need,
adapt it to the names that are in view, and say what to do from here, the next decisive actions first, and what
to avoid. The agent keeps it in view until the episode ends: do not say again what it was given before, unless
it overlooked it; then say that. What follows from the lessons and the state may be said, as a guess if it
is one; nothing else. {DATA}"""

DISTIL = f"""\
You distil an agent's record of a task into one lesson for later, similar tasks: after a success what
achieved it, in order; after a failure what went wrong and what to do instead, as far as the record shows it
(what was left untried is a guess: say so). One that was cut off at the limit of steps may have done nothing
wrong: then say which steps could have been spared. Keep the exact forms of actions as the world accepts them,
places and how they are connected; leave out the object or goal that only this task's instruction names. {DATA}"""


def distil_prompt(experience: Experience, episode_tokens: int) -> list[Message]:
    """The episode with its verdict."""
    return [system(DISTIL), user(episode_blocks(experience, episode_tokens))]


@answers(Trigger)
def trigger(prompt: Prompt, rng: random.Random) -> Trigger:
    """At the start, and whenever the last action was refused."""
    steps = episode_steps(prompt.block("state"))
    stuck = bool(steps) and went_wrong(steps[-1][1])
    need = f"what to do instead of {sentence(steps[-1][0])}" if stuck else sentence(prompt.block("task"))
    return Trigger(need=need, help=stuck or not steps)


@answers(Woven)
def weave(prompt: Prompt, rng: random.Random) -> Woven:
    """The nearest lesson, as it is."""
    lessons = prompt.blocks.get("lesson", [])
    return Woven(memory=lessons[0].partition(") ")[2] if lessons else "")


@answers(Distilled)
def distil(prompt: Prompt, rng: random.Random) -> Distilled:
    """The actions that worked, or those that were refused."""
    task, steps = sentence(prompt.block("task")) or "a task", episode_steps(prompt.block("episode"))
    done, wrong = worked(steps), refused(steps)
    if prompt.block("verdict").startswith("success") and done:
        lesson = f"This worked, in this order: {in_order(done)}."
    elif wrong:
        lesson = f"Avoid {in_order([action for action, _ in wrong], 3)}: refused."
    else:
        lesson = f"Avoid ending with {in_order(done, 1)}: it failed." if done else "Act before giving up."
    return Distilled(situation=f"A task like '{task}'.", lesson=lesson)


def _write(lesson: Lesson) -> Mapping[str, Value]:
    return {
        "task": lesson.task,
        "outcome": lesson.outcome,
        "situation": lesson.situation,
        "lesson": lesson.lesson,
    }


def _read(record: Record) -> Lesson:
    return Lesson(
        record.whole("task"),
        record.choice("outcome", ("success", "failure")),
        record.filled("situation"),
        record.filled("lesson"),
    )
