"""ReasoningBank: titled strategies distilled from successes and from failures.

Paper: Ouyang et al. 2026, "ReasoningBank: Scaling Agent Self-Evolving with Reasoning Memory" (ICLR).
Official repository: google-research/reasoning-bank (Apache-2.0). Prompts are ours; no code is copied.

Deviations, and why:
- Success comes from the run's one judge, not from an evaluator of the method's own, as for every memory.
- The embedder is the run's (theirs: gemini-embedding-001, which prefixes the query with an instruction).
- Replies are structured; theirs are markdown, split at headings.
- An episode whose verdict is unreadable writes no row: both extraction prompts need an outcome.
- Scaling at test time (several attempts at one task) needs repeated attempts and stays out.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveInt

from agents.base import Message
from agents.prompts import system, user
from agents.reader.answers import Prompt, answers
from envs.base import Task
from memories.base import Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, refuse_unknown
from memories.extraction import episode_steps, in_order, keywords, refused, sentence, worked
from memories.prompting import DATA, Filled, ask, episode_blocks
from memories.store import STATE, Store, take_numbers, write_numbers

MOST_ITEMS = 3


class MemoryItem(BaseModel):
    """One strategy."""

    title: Filled = Field(description="names the strategy in a few words")
    description: Filled = Field(description="one line: when it applies")
    content: Filled = Field(description="one to three sentences: the lesson, so that it can be followed")


class Extraction(BaseModel):
    """What one episode taught."""

    items: list[MemoryItem] = Field(max_length=MOST_ITEMS, description="the most useful first; may be empty")


@dataclass(frozen=True)
class Row:
    """One episode in the bank."""

    task: int
    instruction: str
    outcome: str
    items: tuple[MemoryItem, ...]


class ReasoningBank:
    """Recalls the items of the `n` nearest episodes; append only."""

    def __init__(
        self,
        resources: Resources,
        n: PositiveInt = 1,
        temperature: NonNegativeFloat | None = 1.0,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.n = n
        self.temperature = temperature
        self.episode_tokens = episode_tokens
        self._backbone = resources.backbone
        self._store = Store("rows", resources.embedder, lambda row: row.instruction, _write, _read)
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """The items of the `n` nearest episodes that have any."""
        found = self._nearest(task)
        items = [(id, number, item) for id in found for number, item in enumerate(self._store[id].items, 1)]
        if not items:
            return Recall()
        parts = [
            "Strategies distilled from earlier tasks. Before each action, weigh each of them: follow it where it "
            "applies here, else leave it aside."
        ]
        for _, _, item in items:
            parts.append(f"## {item.title}\n{item.description}\n{item.content}")
        return Recall(
            text="\n\n".join(parts),
            items=[Item(f"{id}.{number}", "strategy") for id, number, _ in items],
            events=[Event("retrieved", id, f"cosine {score:.3f}") for id, score in found.items()],
        )

    def _nearest(self, task: Task) -> dict[str, float]:
        """The `n` nearest rows with items, the task's own row left out (a loaded memory may hold it)."""
        found: dict[str, float] = {}
        hidden: set[str] = set()
        while len(found) < self.n:
            hits = self._store.search(task.instruction, 8 * self.n, without=hidden)
            if not hits:
                break
            for id, score in hits:
                hidden.add(id)
                row = self._store[id]
                own = (row.task, row.instruction) == (task.number, task.instruction)
                if row.items and not own and len(found) < self.n:
                    found[id] = score
        return found

    def write(self, experience: Experience) -> None:
        """Distil the episode by the prompt of its verdict; one row, perhaps without items."""
        outcome = experience.verdict.outcome
        if outcome == "unreadable":
            self._numbers["unreadable"] += 1
            return
        answer = ask(
            self._backbone,
            extraction_prompt(experience, self.episode_tokens),
            role="write",
            schema=Extraction,
            temperature=self.temperature,
        )
        if answer is None:
            self._numbers["malformed"] += 1
        items = tuple(answer.items[:MOST_ITEMS]) if answer else ()
        task = experience.episode.task
        self._store.add(Row(task.number, task.instruction, outcome, items))
        self._numbers["items"] += len(items)
        self._numbers["from_failures"] += len(items) if outcome == "failure" else 0

    def documents(self) -> Mapping[str, str]:
        """One document a row."""
        return {
            STATE: write_numbers({"rows": self._store.made, **dict(sorted(self._numbers.items()))}),
            **self._store.documents(),
        }

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers.pop("rows", 0))
        self._numbers = numbers
        refuse_unknown(left, "reasoningbank")

    def counters(self) -> Mapping[str, float]:
        """rows, items, from_failures (items), malformed (replies), unreadable (episodes not written)."""
        names = ("items", "from_failures", "malformed", "unreadable")
        return {"rows": len(self._store), **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


SUCCESS = f"""\
You distil strategies from an agent's record of a task that it completed. Consider why it succeeded:
which decisions mattered, and in which order. State the strategies that will help with later, similar
tasks: usually one or two, at most {MOST_ITEMS}.
"""

FAILURE = f"""\
You distil lessons from an agent's record of a task that it failed. Consider why it failed: what was
misread, left out, or done in the wrong order, and what would have prevented it. State the lessons that
will help with later, similar tasks: usually one or two, at most {MOST_ITEMS}.
"""

RULES = f"""\
Each one is about one thing and none repeats another. Write it for tasks of this kind, not for this one:
put a placeholder such as OBJ for what varies from task to task, but keep places and things that other
tasks of this world will share, and the forms of actions, tools and calls as the world accepts them. Rest
on what the record shows, not on what you know besides. If it teaches nothing, give none.
{DATA}"""


def extraction_prompt(experience: Experience, episode_tokens: int) -> list[Message]:
    """One prompt for successes, another for failures."""
    head = SUCCESS if experience.verdict.outcome == "success" else FAILURE
    return [system(head + RULES), user(episode_blocks(experience, episode_tokens))]


@answers(Extraction)
def extract(prompt: Prompt, rng: random.Random) -> Extraction:
    """The actions that worked, in order, or those that did not."""
    task, steps = prompt.block("task") or "an unnamed task", episode_steps(prompt.block("episode"))
    topic = " ".join(keywords(task, 4)) or "tasks like this"
    items = []
    if prompt.block("verdict").startswith("success"):
        if done := worked(steps):
            content = f"For a task like '{sentence(task)}' this worked, in this order: {in_order(done)}."
            items.append(
                MemoryItem(
                    title=f"Steps for {topic}",
                    description=sentence(task) or "an unnamed task",
                    content=content,
                )
            )
    else:
        for action, observation in refused(steps)[:2]:
            content = f"Avoid `{sentence(action)}`: the world answered '{sentence(observation, 15)}'."
            items.append(
                MemoryItem(
                    title=f"Avoid {sentence(action, 6)}",
                    description=sentence(task) or "an unnamed task",
                    content=content,
                )
            )
        if not items and steps:
            content = (
                f"Avoid ending a task like '{sentence(task)}' with `{sentence(steps[-1][0])}`: it failed."
            )
            items.append(
                MemoryItem(
                    title=f"Check before {topic}",
                    description=sentence(task) or "an unnamed task",
                    content=content,
                )
            )
    return Extraction(items=items)


def _write(row: Row) -> Mapping[str, Value]:
    fields: dict[str, Value] = {"task": row.task, "instruction": row.instruction, "outcome": row.outcome}
    for number, item in enumerate(row.items, 1):
        fields |= {f"item{number}.{name}": text for name, text in item.model_dump().items()}
    return fields


def _read(record: Record) -> Row:
    items = []
    for number in range(1, MOST_ITEMS + 1):
        if f"item{number}.title" in record:
            title, description, content = (
                record.text(f"item{number}.{name}") for name in ("title", "description", "content")
            )
            items.append(MemoryItem.model_construct(title=title, description=description, content=content))
    return Row(
        record.whole("task"),
        record.text("instruction"),
        record.choice("outcome", ("success", "failure")),
        tuple(items),
    )
