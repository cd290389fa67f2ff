"""Reads a room as text worlds describe one: things, what is in what, doors, what is carried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_ARTICLE = re.compile(r"^(?:an?|the|some)\s+(?:substance called\s+)?", re.IGNORECASE)
_ROOM = re.compile(r"This (?:room|outside location) is called the ([^.\n]+)\.")
_DOOR = re.compile(r"door to the ([^(\n]+?) \(that is (open|closed)\)", re.IGNORECASE)
_CONTENTS = re.compile(r"\b(?:In|On) the [^:.]+? (?:is|you see): (.*)$")
_STATE = re.compile(r"^(?:which|that|currently|with)\b")
_CARRIED = re.compile(r"In your inventory, you see:\n?(.*)", re.DOTALL)


@dataclass(frozen=True)
class Item:
    """A thing that can be seen."""

    name: str
    inside: str = ""
    """What it is in or on, as far as it was said."""
    state: str = ""
    """What is said of it: `which is turned off`, `door is closed`."""
    contents: tuple[str, ...] = ()
    """Names of what is in or on it."""

    @property
    def closed(self) -> bool:
        return "door is closed" in self.state

    @property
    def on(self) -> bool:
        return bool(re.search(r"\bis (?:turned )?on\b|\bis activated\b", self.state))


@dataclass
class Room:
    """What was last seen of a place."""

    name: str
    items: list[Item] = field(default_factory=list)
    doors: dict[str, bool] = field(default_factory=dict)
    """Neighbouring room -> whether the door stands open."""


def room_in(text: str) -> Room | None:
    """The room that a text describes, or None."""
    place = _ROOM.search(text)
    if place is None:
        return None
    seen = text[place.end() :]
    carried = _CARRIED.search(seen)
    if carried:
        seen = seen[: carried.start()]
    lines, _, exits = seen.partition("You also see:")
    room = Room(place[1].strip())
    for line in lines.splitlines()[1:]:
        room.items.extend(items_in(line.strip()))
    for neighbour, state in _DOOR.findall(exits):
        room.doors[neighbour] = state == "open"
    return room


def rooms_in(text: str) -> Iterator[Room]:
    """All rooms that a longer text describes, in order."""
    starts = [found.start() for found in _ROOM.finditer(text)]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        room = room_in(text[start:end])
        if room:
            yield room


def carried_in(text: str) -> list[Item] | None:
    """What is carried, or None if the text does not say."""
    found = _CARRIED.search(text)
    if found is None:
        return None
    return [item for line in found[1].splitlines() for item in items_in(line.strip())]


def items_in(line: str, inside: str = "") -> list[Item]:
    """The things of one line, containers before what they hold."""
    return list(_items(line, inside))


@lru_cache(maxsize=4096)
def _items(line: str, inside: str) -> tuple[Item, ...]:
    contents = _CONTENTS.search(line) if _depth_free(line) else None
    head = line[: contents.start()] if contents else line
    listed = _split(head) if not contents else [head]
    found: list[Item] = []
    for part in _joined(listed):
        found.extend(_item(part, contents[1].rstrip(". ") if contents else "", inside))
    return tuple(found)


def _depth_free(line: str) -> bool:
    """Whether the first listing of contents stands outside brackets."""
    found = _CONTENTS.search(line)
    return found is not None and line.count("(", 0, found.start()) == line.count(")", 0, found.start())


def _item(text: str, listed: str, inside: str) -> list[Item]:
    body = text.strip().rstrip(".").strip()
    opened = body.find(" (containing ")
    held = ""
    if opened >= 0:
        held = _bracket(body, opened + 1)
        body, state = body[:opened], body[opened + len(held) + 3 :]
    else:
        body, _, state = re.sub(r", (which|currently|with)\b", r". \1", body, count=1).partition(". ")
    body, _, more = body.partition(", ")
    name = _ARTICLE.sub("", body).strip()
    if not name or name in ("nothing", "agent"):
        return []
    inner = items_in(listed, name) + items_in(held.removeprefix("containing "), name)
    direct = tuple(item.name for item in inner if item.inside == name)
    return [Item(name, inside, f"{state} {more}".strip(), direct), *inner]


def _bracket(text: str, start: int) -> str:
    """What stands inside the bracket that opens at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + 1 : position]
    return text[start + 1 :]


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def _joined(parts: list[str]) -> list[str]:
    """Put remarks (`which is turned off`) back to the thing they are about."""
    joined: list[str] = []
    for part in parts:
        if joined and _STATE.match(part.strip()):
            joined[-1] += f", {part.strip()}"
        elif part.strip(" ."):
            joined.append(part.strip())
    return joined
