"""Hermes: short notes always in view, and skills that the agent opens when it needs them.

In the manner of NousResearch/hermes-agent (MIT): its memory and skill tools. There is no paper. Prompts
are ours; no code is copied.

Deviations, and why:
- There, the agent writes notes and skills by tools while it works, nudged by a background review. A
  stream writes after the episode, so the review after each is the only writer.
- Notes are named by number, for passages of their text there; each is kept on one line.
- The review sees the text of skills that were opened. Others it may ask for, once (theirs opens them by
  the agent's own tool), at most 3.
- An overflow of the notes, or any operation that cannot be done, is told to the backbone once, which
  may consolidate; what fails again is counted and left out.
- An episode with an unreadable verdict changes notes only: a procedure needs an outcome.
- No files beside a skill's document, no user profile: there is no user.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import NonNegativeFloat, PositiveInt

from agents.base import Message, Tool
from agents.prompts import shown
from envs.base import Task
from memories.base import DocumentError, Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Value, read_record, read_records, refuse_unknown, write_record, write_records
from memories.hermes.prompts import (
    OPEN,
    NoteChange,
    Review,
    SkillChange,
    full,
    index,
    mend_prompt,
    review_prompt,
)
from memories.hermes.shelf import NOTES_LIMIT, Shelf, ShelfError, Skill, skill_name
from memories.prompting import ask, episode_blocks
from memories.store import STATE, take_numbers, write_numbers

NOTES = "notes.txt"
_VIEW = re.compile(r"skill_view\((.*)\)", re.DOTALL)
VIEWED = 3
"""Skills that one review may have shown [ours]."""


@dataclass
class HermesRecall(Recall):
    """The notes, the index, and the tool that opens a skill."""

    skills: Mapping[str, Skill] = field(default_factory=dict)

    def view(self, name: str) -> str:
        """The text of a skill, or which there are."""
        try:
            plain = skill_name(name)
        except ShelfError as error:
            return f"{str(error).capitalize()}."
        if plain not in self.skills:
            near = difflib.get_close_matches(plain, self.skills, n=3, cutoff=0.3) or sorted(self.skills)[:3]
            return f"There is no skill {plain!r}. Near it: {', '.join(near)}."
        self.events.append(Event("opened", plain))
        return full(plain, self.skills[plain])


def _opened(experience: Experience) -> dict[str, int]:
    """The skills that an episode opened, in order: name -> number of the step before which it first was."""
    before: dict[str, int] = {}
    step = 1
    for one in experience.episode.steps:
        step += one in shown([one])
        if one.kind == "tool" and (call := _VIEW.fullmatch(one.action)):
            with suppress(ShelfError):
                before.setdefault(skill_name(call[1]), step)
    names = [event.item for event in experience.recall.events if event.kind == "opened"]
    return {name: before.get(name, 1) for name in names}


class Hermes:
    """No similarity score anywhere: the agent chooses from the index."""

    def __init__(
        self,
        resources: Resources,
        notes_limit: PositiveInt = NOTES_LIMIT,
        temperature: NonNegativeFloat | None = None,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.notes_limit = notes_limit
        self.temperature = temperature
        self.episode_tokens = episode_tokens
        self._backbone = resources.backbone
        self._shelf = Shelf()
        self._numbers: Counter[str] = Counter()
        self._texts: dict[str, tuple[Skill, str]] = {}
        """The document of each skill, as long as the skill is the same."""

    def begin(self, task: Task, observation: str) -> Recall:
        """All notes and the index of all skills."""
        shelf = self._shelf
        parts = []
        if shelf.notes:
            parts.append(
                "Notes from earlier tasks:\n" + "\n".join(f"- {text}" for text in shelf.notes.values())
            )
        if shelf.skills:
            parts.append(f"{OPEN}\nSkills:\n{index(shelf.skills)}")
        recall = HermesRecall(
            "\n\n".join(parts),
            [Item(f"note-{number}", "note") for number in shelf.notes]
            + [Item(name, "skill") for name in sorted(shelf.skills)],
            skills=shelf.skills,
        )
        if shelf.skills:
            usage = f"skill_view(name): shows the whole text of a skill, e.g. skill_view({min(shelf.skills)})"
            recall.tools = [Tool("skill_view", usage, recall.view)]
        return recall

    def write(self, experience: Experience) -> None:
        """Review the episode, with skills shown that the review asks for; tell what could not be done once."""
        recall = experience.recall
        opened = _opened(experience) if isinstance(recall, HermesRecall) else {}
        record = episode_blocks(experience, self.episode_tokens)
        review = self._review(review_prompt(record, self._shelf, self.notes_limit, opened))
        if asked := self._to_show(review, opened):
            self._numbers["viewed"] += len(asked)
            review = self._review(review_prompt(record, self._shelf, self.notes_limit, opened, asked))
        if problems := self._applied(review, experience):
            again = self._review(mend_prompt(record, self._shelf, self.notes_limit, opened, asked, problems))
            self._numbers["errors"] += len(self._applied(again, experience))
            self._numbers["mended"] += 1
        self._numbers["opened"] += len(opened)

    def _review(self, messages: Sequence[Message]) -> Review | None:
        answer = ask(
            self._backbone,
            messages,
            role="write",
            schema=Review,
            temperature=self.temperature,
        )
        self._numbers["malformed"] += answer is None
        return answer

    def _to_show(self, review: Review | None, opened: Mapping[str, int]) -> list[str]:
        """The skills that a review asks for and has not seen."""
        found: list[str] = []
        for name in review.view if review else ():
            try:
                plain, _ = self._shelf.find(name)
            except ShelfError:
                continue
            if plain not in (*opened, *found):
                found.append(plain)
        return found[:VIEWED]

    def _applied(self, answer: Review | None, experience: Experience) -> list[str]:
        """Apply a review; gives what could not be done."""
        if answer is None:
            return []
        problems = [
            problem for change in answer.notes if (problem := self._try(change.operation, self._note(change)))
        ]
        if answer.skills and experience.verdict.outcome == "unreadable":
            return [*problems, "the verdict is unreadable: no skill may be changed"]
        # Patches before creations: a creation that a patch made needless is then refused by its name.
        order = ("patch", "edit", "delete", "create")
        for change in sorted(answer.skills, key=lambda one: order.index(one.operation)):
            if problem := self._try(change.operation, self._skill(change)):
                problems.append(problem)
        return problems

    def _try(self, operation: str, apply: Callable[[], Shelf]) -> str:
        try:
            self._shelf = apply()
        except ShelfError as error:
            return f"{operation}: {error}"
        self._numbers[operation] += 1
        return ""

    def _note(self, change: NoteChange) -> Callable[[], Shelf]:
        match change.operation:
            case "add":
                return lambda: self._shelf.add_note(change.text, self.notes_limit)
            case "replace":
                return lambda: self._shelf.replace_note(change.note, change.text, self.notes_limit)
        return lambda: self._shelf.remove_note(change.note)

    def _skill(self, change: SkillChange) -> Callable[[], Shelf]:
        match change.operation:
            case "create":
                return lambda: self._shelf.create(change.name, change.description, change.text)
            case "patch":
                return lambda: self._shelf.patch(change.name, change.old, change.text)
            case "edit":
                return lambda: self._shelf.edit(change.name, change.description, change.text)
        return lambda: self._shelf.delete(change.name)

    def documents(self) -> Mapping[str, str]:
        """The notes, and one document a skill."""
        notes: list[dict[str, Value]] = [
            {"number": number, "text": text} for number, text in self._shelf.notes.items()
        ]
        documents = {
            STATE: write_numbers({"made": self._shelf.made, **dict(sorted(self._numbers.items()))}),
            NOTES: write_records(notes, remark=f"at most {self.notes_limit} characters in all"),
        }
        for name, skill in self._shelf.skills.items():
            known = self._texts.get(name)
            if known is None or known[0] is not skill:
                known = skill, write_record({"description": skill.description, "text": skill.body})
                self._texts[name] = known
            documents[f"skills/{name}.txt"] = known[1]
        return documents

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        notes: dict[int, str] = {}
        for record in read_records(NOTES, left.pop(NOTES, "")):
            number = record.whole("number")
            if number in notes or not number:
                raise record.error(f"the number {number} is taken or not above 0", "number")
            notes[number] = record.filled("text")
        skills: dict[str, Skill] = {}
        for document in sorted(name for name in left if name.startswith("skills/")):
            name = document.removeprefix("skills/").removesuffix(".txt")
            try:
                if document != f"skills/{skill_name(name)}.txt":
                    raise ShelfError(f"the document of a skill is named skills/{skill_name(name)}.txt")
            except ShelfError as error:
                raise DocumentError(f"{document}: {error}") from None
            record = read_record(document, left.pop(document))
            skills[name] = Skill(record.filled("description"), record.filled("text"))
        refuse_unknown(left, "hermes")
        self._shelf = Shelf(notes, skills, max([numbers.pop("made", 0), *notes]))
        self._numbers = numbers

    def counters(self) -> Mapping[str, float]:
        """Sizes (notes, note_characters, skills), operations by name, opened (skills), viewed (by reviews), mended
        (second calls), errors (left after it), malformed (replies)."""
        names = (
            "add",
            "replace",
            "remove",
            "create",
            "patch",
            "edit",
            "delete",
            "opened",
            "viewed",
            "mended",
            "errors",
        )
        sizes = {
            "notes": len(self._shelf.notes),
            "note_characters": self._shelf.size,
            "skills": len(self._shelf.skills),
        }
        return {**sizes, **{name: self._numbers[name] for name in (*names, "malformed")}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None
