"""Mem0: single facts, kept up to date by add, update and delete.

Paper: Chhikara et al. 2025, "Mem0: Building Production-Ready AI Agents with Scalable Long-Term Memory".
Official repository: mem0ai/mem0 (Apache-2.0). This is a port of the classic algorithm (package mem0ai
1.0.x); a test drives that package with the same replies and compares the facts. (2.x is another,
add-only algorithm.) Prompts are ours; no code is copied.

Deviations, and why:
- Facts are extracted from trajectories, by a prompt for them: the package's default keeps facts about a
  person and would store almost nothing.
- Ids are numbers in the order of creation, nothing is dated and nothing runs in threads, so that a run
  can be repeated. Facts are searched exactly, without a vector database.
- 10 facts are recalled (the package's default of 100 is for chat histories).
- The optional graph store is left out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt

from agents.base import Message
from agents.prompts import block, system, user
from agents.reader.answers import Prompt, answers
from envs.base import Task
from memories.base import Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, refuse_unknown
from memories.extraction import episode_steps, in_order, overlap, refused, sentence, worked
from memories.prompting import DATA, ask, episode_blocks
from memories.store import STATE, Store, take_numbers, write_numbers


class Facts(BaseModel):
    """What an episode taught."""

    facts: list[str] = Field(description="single facts, each understandable alone; may be empty")


class Change(BaseModel):
    """What happens to one fact."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(
        description="the id of the stored fact as shown, numbered for this request only; for ADD any number not shown"
    )
    text: str = Field(
        "", description="the fact as it is to read afterwards; for DELETE the stored text; for NONE empty"
    )
    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]


class Changes(BaseModel):
    """One entry a fact."""

    memory: list[Change]


@dataclass(frozen=True)
class Fact:
    """One stored fact."""

    text: str
    task: int
    """The task that it was written, or last rewritten, after."""


class Mem0:
    """Facts by cosine; each new one is first compared with what is stored."""

    def __init__(
        self,
        resources: Resources,
        limit: PositiveInt = 10,
        compared: PositiveInt = 5,
        temperature: NonNegativeFloat | None = 0.1,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.limit = limit
        self.compared = compared
        self.temperature = temperature
        self.episode_tokens = episode_tokens
        self._backbone = resources.backbone
        self._store = Store("facts", resources.embedder, lambda fact: fact.text, _write, _read)
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """The facts nearest to the instruction."""
        hits = self._store.search(task.instruction, self.limit)
        if not hits:
            return Recall()
        lines = ["Facts from earlier tasks, the most relevant first:"]
        lines += [f"- {' '.join(self._store[id].text.split())}" for id, _ in hits]
        return Recall(
            "\n".join(lines),
            [Item(id, "fact") for id, _ in hits],
            events=[Event("retrieved", id, f"cosine {score:.3f}") for id, score in hits],
        )

    def write(self, experience: Experience) -> None:
        """Extract facts, compare them with the nearest stored ones, apply what the backbone decides."""
        messages = [system(EXTRACTION), user(episode_blocks(experience, self.episode_tokens))]
        found = ask(self._backbone, messages, role="write", schema=Facts, temperature=self.temperature)
        if found is None:
            self._numbers["malformed"] += 1
            return
        facts = [fact for fact in found.facts if fact.strip()]
        if not facts:
            return
        near = dict.fromkeys(id for fact in facts for id, _ in self._store.search(fact, self.compared))
        # Numbers in place of ids: models invent long ids, and repeat short ones.
        numbered = {str(number): id for number, id in enumerate(near)}
        stored = {number: self._store[id].text for number, id in numbered.items()}
        changes = ask(
            self._backbone,
            update_prompt(stored, facts),
            role="write",
            schema=Changes,
            temperature=self.temperature,
        )
        if changes is None:
            self._numbers["malformed"] += 1
            return
        self._apply(changes.memory, numbered, experience.episode.task.number)

    def _apply(self, changes: Sequence[Change], numbered: Mapping[str, str], task: int) -> None:
        """Apply the changes in order. One without text is skipped, as the package does."""
        for change in changes:
            if not change.text.strip() or change.event == "NONE":
                self._numbers["none"] += 1
                continue
            if change.event == "ADD":
                self._store.add(Fact(change.text, task))
            else:
                id = numbered.get(change.id.strip(), "")
                if id not in self._store:
                    self._numbers["unknown_ids"] += 1
                    continue
                if change.event == "UPDATE":
                    self._store.replace(id, replace(self._store[id], text=change.text, task=task))
                else:
                    self._store.remove(id)
            self._numbers[change.event.lower()] += 1

    def documents(self) -> Mapping[str, str]:
        """One document a fact."""
        numbers = {"facts": self._store.made, **dict(sorted(self._numbers.items()))}
        return {STATE: write_numbers(numbers), **self._store.documents()}

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers.pop("facts", 0))
        self._numbers = numbers
        refuse_unknown(left, "mem0")

    def counters(self) -> Mapping[str, float]:
        """facts (stored now), add, update, delete, none, unknown_ids (ignored), malformed (replies)."""
        names = ("add", "update", "delete", "none", "unknown_ids", "malformed")
        return {"facts": len(self._store), **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


EXTRACTION = f"""\
You extract from the record of an agent's task the facts that will help with later, similar tasks: how
things behave here, where kinds of things were found and where they were looked for in vain, which forms of
actions or calls work and which are refused, what the task turned out to require, which order of steps
completed it, which steps could have been spared. Each fact is one sentence that can be understood alone; a
sighting is told in the past tense ("was found in"). Ten facts are many: take those that would change what an
agent does. For the object or goal that only this task's instruction names, say of what kind it was; rooms,
doors and tools of this world keep their names. Leave out what any task would show, and what the record does
not show. What the verdict calls a
failure did not work as a whole, but if it was cut off at the limit of steps, what it did may still be right: say
that it took too many. If the verdict is unreadable, say nothing about whether the task was completed. {DATA}"""

UPDATE = f"""\
You keep a memory of facts up to date. Shown are new facts, and of the stored ones those that are nearest to
them, each with its id. Go through the new facts, and give one entry for each fact that is new or concerned,
at most one for each stored id (new facts that overlap are united in one entry; one new fact may touch several
stored ones; one that is not worth keeping gets no entry):
- ADD: the new fact says something that no stored fact shown says;
- UPDATE: a stored fact is on the same matter, and the new one adds to it or makes it more exact: give the
  stored fact's id and the text that unites both, one or two sentences (rather ADD than make it longer);
- DELETE: the new fact contradicts a stored one: give the stored fact's id and text (and ADD the new
  fact if it is worth keeping);
- NONE: a stored fact already says it: give the stored fact's id.
Use only ids that are shown, except for ADD. {DATA}"""


def update_prompt(stored: Mapping[str, str], facts: Sequence[str]) -> list[Message]:
    """The nearest stored facts by number, and the new ones."""
    old = "\n".join(f"{number}: {' '.join(text.split())}" for number, text in stored.items())
    new = "\n".join(f"- {' '.join(fact.split())}" for fact in facts)
    return [system(UPDATE), user(block("stored", old or "(none yet)") + "\n" + block("new", new))]


@answers(Facts)
def extract(prompt: Prompt, rng: random.Random) -> Facts:
    """What worked for the task, and what the world refused."""
    task, steps = sentence(prompt.block("task")), episode_steps(prompt.block("episode"))
    facts = [
        f"`{sentence(action)}` is refused: '{sentence(observation, 15)}'."
        for action, observation in refused(steps)[:3]
    ]
    if prompt.block("verdict").startswith("success") and (done := worked(steps)):
        facts.insert(0, f"A task like '{task}' was completed by: {in_order(done)}.")
    return Facts(facts=facts)


@answers(Changes)
def decide(prompt: Prompt, rng: random.Random) -> Changes:
    """Adds what shares few words with every stored fact; takes nearly the same as known."""
    stored = [line.partition(": ") for line in prompt.block("stored").splitlines() if line[:1].isdigit()]
    changes = []
    for fact in (line.removeprefix("- ") for line in prompt.block("new").splitlines()):
        best = max(stored, key=lambda part: overlap(fact, part[2]), default=None)
        if best is not None and overlap(fact, best[2]) >= 0.9:
            changes.append(Change(id=best[0], text=best[2], event="NONE"))
        else:
            changes.append(Change(id=str(len(stored) + len(changes)), text=fact, event="ADD"))
    return Changes(memory=changes)


def _write(fact: Fact) -> Mapping[str, Value]:
    return {"task": fact.task, "text": fact.text}


def _read(record: Record) -> Fact:
    return Fact(record.filled("text"), record.whole("task"))
