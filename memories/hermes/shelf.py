"""Notes and skills as plain values, and the operations on them; an operation that cannot be done says why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1024
NOTES_LIMIT = 2200
"""Caps in characters (hermes-agent, tools/memory_tool.py and tools/skill_manager_tool.py)."""

SEPARATOR = 3
"""Characters that part two notes, counted too: a newline, a mark, a newline."""


class ShelfError(ValueError):
    """What is wrong with an operation, worded for the backbone that asked for it."""


@dataclass(frozen=True)
class Skill:
    """A named document: when to use it, steps, pitfalls, how to verify."""

    description: str
    body: str


@dataclass(frozen=True)
class Shelf:
    """All that the memory holds. Every operation gives a new shelf or raises ShelfError."""

    notes: Mapping[int, str] = field(default_factory=dict)
    skills: Mapping[str, Skill] = field(default_factory=dict)
    made: int = 0
    """Notes ever made: the highest number."""

    @property
    def size(self) -> int:
        """Characters of all notes."""
        return _size(self.notes)

    def add_note(self, text: str, limit: int = NOTES_LIMIT) -> Shelf:
        """A new note. An overflow asks for consolidation."""
        text = _one_line(text)
        if text in self.notes.values():
            raise ShelfError(f"the note {text[:60]!r} is there already")
        return self._with_notes({**self.notes, self.made + 1: text}, limit, self.made + 1)

    def replace_note(self, number: int | None, text: str, limit: int = NOTES_LIMIT) -> Shelf:
        """Another text for a note."""
        return self._with_notes({**self.notes, self._note(number): _one_line(text)}, limit, self.made)

    def remove_note(self, number: int | None) -> Shelf:
        """A note less."""
        gone = self._note(number)
        return replace(self, notes={n: text for n, text in self.notes.items() if n != gone})

    def create(self, name: str, description: str, body: str) -> Shelf:
        """A new skill."""
        name = skill_name(name)
        if name in self.skills:
            raise ShelfError(f"there is a skill {name!r} already: patch or edit it")
        return self._with_skill(name, Skill(_description(description), _body(name, body)))

    def patch(self, name: str, old: str, new: str) -> Shelf:
        """Replace a passage that stands in a skill's text exactly once."""
        name, skill = self.find(name)
        count = skill.body.count(old) if old else 0
        if count != 1:
            raise ShelfError(f"the passage {old[:60]!r} stands {count} times in the skill {name!r}, not once")
        return self._with_skill(name, replace(skill, body=_body(name, skill.body.replace(old, new))))

    def edit(self, name: str, description: str, body: str) -> Shelf:
        """Write a skill's text anew, and its description if one is given."""
        name, skill = self.find(name)
        told = _description(description) if description.strip() else skill.description
        return self._with_skill(name, Skill(told, _body(name, body)))

    def delete(self, name: str) -> Shelf:
        """A skill less."""
        name, _ = self.find(name)
        return replace(self, skills={other: skill for other, skill in self.skills.items() if other != name})

    def _with_notes(self, notes: Mapping[int, str], limit: int, made: int) -> Shelf:
        if (size := _size(notes)) > limit and size > self.size:
            raise ShelfError(
                f"the notes would hold {size} characters, {limit} is the most (now {self.size}): consolidate "
                "first, by replacing several notes with one shorter one and removing what matters least"
            )
        return replace(self, notes=notes, made=made)

    def _with_skill(self, name: str, skill: Skill) -> Shelf:
        return replace(self, skills={**self.skills, name: skill})

    def _note(self, number: int | None) -> int:
        if number is None or number not in self.notes:
            raise ShelfError(f"there is no note number {number}")
        return number

    def find(self, name: str) -> tuple[str, Skill]:
        """A skill by any spelling of its name, with the name as it is kept. Raises ShelfError."""
        plain = skill_name(name)
        if plain not in self.skills:
            raise ShelfError(f"there is no skill {plain!r}")
        return plain, self.skills[plain]


def skill_name(name: str) -> str:
    """A name as it is kept: lower case, words joined by hyphens. Raises ShelfError."""
    plain = re.sub(r"[^\w]+", "-", name.casefold()).strip("-_")
    if not plain or len(plain) > NAME_LIMIT:
        raise ShelfError(f"the skill name {name[:80]!r} needs 1 to {NAME_LIMIT} letters, digits or hyphens")
    return plain


def _size(notes: Mapping[int, str]) -> int:
    return sum(map(len, notes.values())) + SEPARATOR * max(len(notes) - 1, 0)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise ShelfError("a note needs a text")
    return line


def _description(text: str) -> str:
    line = " ".join(text.split())
    if not line or len(line) > DESCRIPTION_LIMIT:
        raise ShelfError(f"a skill's description needs 1 to {DESCRIPTION_LIMIT} characters, not {len(line)}")
    return line


def _body(name: str, text: str) -> str:
    if not text.strip():
        raise ShelfError(f"the text of the skill {name!r} would be empty: delete it if it is of no use")
    return text.strip("\n")
