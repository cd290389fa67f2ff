"""A-MEM: notes that are linked into a network and revised as new ones arrive.

Paper: Xu et al. 2026, "A-MEM: Agentic Memory for LLM Agents". Official repository: WujiangXu/A-mem
(`memory_layer_robust.py`, MIT). Prompts are ours; no code is copied.

Deviations, and why:
- A note's content is one episode (task, verdict, end, shortened trajectory), for theirs is one turn of a
  dialogue. Context, keywords and tags are written from the episode before it is shortened.
- A note is embedded by its context, keywords and tags, then its content: theirs begins with the content, and an
  episode would fill all that an embedder reads, so that what evolves would change nothing.
- A neighbour is embedded again when its fields change; the public code leaves its index stale until
  every 100th evolution, so that notes are found by what they used to say.
- Neighbours are named by id. The public code takes ranks for positions and rewrites the oldest notes.
- Ids that were not shown are ignored and counted; a reply without tags leaves the tags as they are.
- The timestamp is the task's number: a stream has positions, no dates.
- Nothing is asked while the store is empty.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from agents.base import Message
from agents.prompts import block, render_episode, system, user
from agents.reader.answers import Prompt, answers
from envs.base import Task
from memories.base import Edge, Event, Experience, Graph, Item, Node, Recall, Resources
from memories.documents import Record, Value, refuse_unknown
from memories.extraction import keywords, overlap, sentence
from memories.prompting import DATA, Filled, ask, end_text, episode_blocks, verdict_text
from memories.store import STATE, Store, take_numbers, write_numbers


class Analysis(BaseModel):
    """What a note is about."""

    keywords: list[str] = Field(min_length=3, description="three or more, the most important first")
    context: Filled = Field(
        description="one or two sentences: what was to be done, how, and with what result"
    )
    tags: list[str] = Field(min_length=3, description="three or more broad classes, for finding and grouping")


class NeighbourUpdate(BaseModel):
    """A neighbour's new fields."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = Field(description="the neighbour's id, as shown")
    context: str = Field("", description="its new context, one or two sentences")
    tags: list[str] = Field(default_factory=list, description="its new tags")


class Evolution(BaseModel):
    """How the network changes with a new note."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    decision: Literal["none", "strengthen", "update_neighbour", "both"]
    links: list[str] = Field(
        default_factory=list,
        description="strengthen: ids of the neighbours to link to the new note; else empty",
    )
    tags: list[str] = Field(
        default_factory=list, description="strengthen: the new note's tags, which replace its own; else empty"
    )
    updates: list[NeighbourUpdate] = Field(
        default_factory=list, description="update_neighbour: those to rewrite; else empty"
    )


class Query(BaseModel):
    """What to look for."""

    keywords: list[str] = Field(min_length=1, description="the most important first")


@dataclass(frozen=True)
class Note:
    """One note. `content` and `keywords` never change; `context`, `tags` and `links` may."""

    task: int
    content: str
    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What is embedded: context, keywords, tags and content."""
        return f"{self.context}\n{', '.join(self.keywords)}\n{', '.join(self.tags)}\n{self.content}"


class AMem:
    """Never merges and never deletes: the store grows with the stream."""

    def __init__(
        self,
        resources: Resources,
        k: PositiveInt = 10,
        neighbours: NonNegativeInt = 5,
        temperature: NonNegativeFloat | None = 0.7,
        content_tokens: PositiveInt = 300,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.k = k
        self.neighbours = neighbours
        self.temperature = temperature
        self.content_tokens = content_tokens
        self.episode_tokens = episode_tokens
        self._backbone = resources.backbone
        self._store = Store("notes", resources.embedder, lambda note: note.text, _write, _read)
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """The notes nearest to the instruction's keywords, each followed by the notes it links to."""
        if not len(self._store):
            return Recall()
        events: list[Event] = []
        messages = [system(QUERY), user(block("task", task.instruction))]
        answer = ask(self._backbone, messages, role="retrieve", schema=Query, temperature=self.temperature)
        if answer is None:
            events.append(Event("malformed", detail="keywords of the task: its instruction is used"))
        query = ", ".join(_clean(answer.keywords)) if answer else ""
        found: dict[str, str] = {}
        for id, score in self._store.search(query or task.instruction, self.k):
            found.setdefault(id, "note")
            events.append(Event("retrieved", id, f"cosine {score:.3f}"))
            for linked in self._store[id].links[: self.k]:
                found.setdefault(linked, "linked")
        parts = ["Notes on earlier tasks, the most relevant first, each followed by those linked to it."]
        parts += [f"## Note {id}, on task {self._store[id].task}\n{_shown(self._store[id])}" for id in found]
        return Recall("\n\n".join(parts), [Item(id, kind) for id, kind in found.items()], events=events)

    def write(self, experience: Experience) -> None:
        """Keep the episode as a note, then let the network evolve around it."""
        self._numbers["malformed"] += sum(event.kind == "malformed" for event in experience.recall.events)
        note = self._analysed(experience)
        if len(self._store):
            note = self._evolved(note)
        self._store.add(note)

    def _analysed(self, experience: Experience) -> Note:
        episode = experience.episode
        task = episode.task
        trajectory = render_episode(episode, self.content_tokens, step_limit=60)
        head = f"Task: {task.instruction}\nVerdict: {verdict_text(experience)}\nEnd: {end_text(episode)}"
        content = f"{head}\n{trajectory}"
        messages = [system(ANALYSIS), user(episode_blocks(experience, self.episode_tokens))]
        answer = ask(self._backbone, messages, role="write", schema=Analysis, temperature=self.temperature)
        if answer is None:
            self._numbers["malformed"] += 1
            return Note(task.number, content)
        return Note(task.number, content, _clean(answer.keywords), answer.context, _clean(answer.tags))

    def _evolved(self, note: Note) -> Note:
        shown = [id for id, _ in self._store.search(note.content, self.neighbours)]
        messages = evolution_prompt(note, {id: self._store[id] for id in shown})
        answer = ask(self._backbone, messages, role="write", schema=Evolution, temperature=self.temperature)
        if answer is None:
            self._numbers["malformed"] += 1
            return note
        if answer.decision in ("update_neighbour", "both"):
            self._rewrite(answer.updates, shown)
        if answer.decision in ("strengthen", "both"):
            links = tuple(dict.fromkeys(id for id in map(_id, answer.links) if self._known(id, shown)))
            self._numbers["links"] += len(links)
            note = replace(note, links=links, tags=_clean(answer.tags) or note.tags)
        return note

    def _rewrite(self, updates: Iterable[NeighbourUpdate], shown: list[str]) -> None:
        for update in updates:
            id = _id(update.id)
            if self._known(id, shown):
                old = self._store[id]
                self._store.replace(
                    id,
                    replace(
                        old,
                        context=update.context.strip() or old.context,
                        tags=_clean(update.tags) or old.tags,
                    ),
                )
                self._numbers["rewritten"] += 1

    def _known(self, id: str, shown: list[str]) -> bool:
        self._numbers["unknown_ids"] += id not in shown
        return id in shown

    def documents(self) -> Mapping[str, str]:
        """One document a note."""
        numbers = {"notes": self._store.made, **dict(sorted(self._numbers.items()))}
        return {STATE: write_numbers(numbers), **self._store.documents()}

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers.pop("notes", 0))
        self._numbers = numbers
        for id, note in list(self._store.items()):
            # A person may have deleted a note that others link to.
            if kept := tuple(link for link in note.links if link in self._store):
                if kept != note.links:
                    self._store.replace(id, replace(note, links=kept))
            elif note.links:
                self._store.replace(id, replace(note, links=()))
        refuse_unknown(left, "amem")

    def counters(self) -> Mapping[str, float]:
        """notes, links, rewritten (neighbours), unknown_ids (ignored), malformed (replies)."""
        names = ("links", "rewritten", "unknown_ids", "malformed")
        return {"notes": len(self._store), **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """Notes and their links."""
        nodes = [
            Node(id, "note", note.context or note.content[:80], {"tags": ", ".join(note.tags)})
            for id, note in self._store.items()
        ]
        edges = [Edge(id, link, "link") for id, note in self._store.items() for link in note.links]
        return Graph(nodes, edges)


KEYWORDS = """\
Keywords are words or short phrases: the operations that the task asks for, the kinds of things it is about, the
tools and the kinds of places ("kitchen" is one). Leave out proper names, numbers and colours."""
"""The same for notes and for the search, so that the two meet."""

QUERY = f"""\
Give the keywords by which notes on earlier, similar tasks can be found. {KEYWORDS}
"""

ANALYSIS = f"""\
You keep an agent's notes. An episode is shown that becomes a new note: a task, the verdict on it, how it
ended, and what was done. Give the note's keywords, its context and its tags. {KEYWORDS} Tags are broad
classes of task and of method. The context tells what a later, similar task would need first: which way
reached the goal, or where a failed one lost it. {DATA}"""

EVOLUTION = f"""\
You keep an agent's notes as a network. A new note arrives; its nearest neighbours are shown, each with
its id. Decide:
- none: it changes nothing;
- strengthen: link the new note to the neighbours that truly belong with it (whoever finds it is shown those
  too, so link what adds to it), and give the new note's tags anew, in the light of them;
- update_neighbour: the new note makes some neighbours better understood; give each such neighbour's
  context and tags anew; a field left out or empty stays as it is. A context is read later and alone: it
  stays within two sentences, speaks of no "new note", and may say what other attempts at such a task show,
  but claims no cause that the records do not show;
- both.
Trajectories are shortened here; a context was written from the whole of its episode. Notes that say the
same need no link. Name neighbours by their ids only. {DATA}"""


def evolution_prompt(note: Note, neighbours: Mapping[str, Note]) -> list[Message]:
    """The new note and its neighbours with all their fields."""
    shown = [block("neighbour", f"id: {id}\n{_shown(neighbour)}") for id, neighbour in neighbours.items()]
    return [system(EVOLUTION), user("\n".join([block("new_note", _shown(note)), *shown]))]


@answers(Query)
def query(prompt: Prompt, rng: random.Random) -> Query:
    """The instruction's own words."""
    task = prompt.block("task")
    return Query(keywords=keywords(task, 8) or [task or "task"])


@answers(Analysis)
def analyse(prompt: Prompt, rng: random.Random) -> Analysis:
    """The episode's frequent words; the first of them are the tags."""
    words = [*keywords(f"{prompt.block('task')}\n{prompt.block('episode')}", 6), "task", "episode", "note"]
    context = f"{sentence(prompt.block('task')) or 'An episode.'} Ended as a {prompt.block('verdict')[:7]}."
    return Analysis(keywords=words[:6], context=context, tags=words[:3])


@answers(Evolution)
def evolve(prompt: Prompt, rng: random.Random) -> Evolution:
    """Links to the neighbours that share most of the task's words; rewrites none."""
    new = _task_line(prompt.block("new_note"))
    links = [
        text.partition("\n")[0].removeprefix("id: ")
        for text in prompt.blocks.get("neighbour", [])
        if overlap(new, _task_line(text)) >= 0.5
    ]
    decision: Literal["none", "strengthen"] = "strengthen" if links else "none"
    return Evolution(decision=decision, links=links, tags=[], updates=[])


def _task_line(note: str) -> str:
    return next((line for line in note.splitlines() if line.startswith("Task: ")), note[:200])


def _shown(note: Note) -> str:
    fields = [note.content]
    if note.context:
        fields.append(f"Context: {note.context}")
    if note.keywords:
        fields.append(f"Keywords: {', '.join(note.keywords)}")
    if note.tags:
        fields.append(f"Tags: {', '.join(note.tags)}")
    return "\n".join(fields)


def _id(given: str) -> str:
    """An id as the store writes it: models drop leading zeros."""
    given = given.strip()
    return given.zfill(5) if given.isascii() and given.isdigit() else given


def _clean(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _write(note: Note) -> Mapping[str, Value]:
    return {
        "task": note.task,
        "context": note.context,
        "keywords": note.keywords,
        "tags": note.tags,
        "links": note.links,
        "content": note.content,
    }


def _read(record: Record) -> Note:
    return Note(
        record.whole("task"),
        record.text("content"),
        record.texts("keywords"),
        record.text("context"),
        record.texts("tags"),
        record.texts("links"),
    )
