"""What every way of playing a text world shares: getting about, finding, fetching, naming things.

A method gives the next Choice towards its end, or None once the end is reached; it raises Stuck where it
knows no further way. So a plan is a sequence of ends, and the first that is not yet reached acts.
"""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agents.reader.lessons import Lessons
from agents.reader.scene import Item, Room
from agents.reader.view import View
from agents.reader.words import STORES, words

Match = Callable[[Item], bool]


class Stuck(Exception):
    """No way towards this end is known."""


@dataclass(frozen=True)
class Choice:
    """The next action, and why."""

    action: str
    thought: str


def named(name: str) -> Match:
    """Matches things whose name holds all words of `name`."""
    wanted = words(name)
    return lambda item: all(word in words(item.name) for word in wanted)


class Player:
    def __init__(self, view: View, lessons: Lessons, rng: random.Random) -> None:
        self.view, self.lessons = view, lessons
        self._salt = rng.random()
        self.promising = _fetched_at(lessons, view.task)
        """Places where earlier tasks of this kind found what they needed."""

    def tie(self, name: str) -> float:
        """A number in 0..1 that settles ties: the same for a name all through an episode."""
        return random.Random(f"{self._salt}{name}").random()

    def allowed(self, action: str) -> bool:
        """Whether nothing speaks against an action: it did not fail here, no warning names it."""
        return not self.view.failed(action) and not self.lessons.warns_of(action)

    def go_to(self, place: str, why: str) -> Choice | None:
        """Be in a place."""
        if self.view.place == place:
            return self.look(why)
        path = self.path(lambda room: room == place)
        if path is None:
            return self.explore(why, place)
        return self.walk(path[0], why)

    def look(self, why: str) -> Choice | None:
        """Have an up-to-date view of the place."""
        return Choice("look around", why) if self.view.unseen else None

    def walk(self, neighbour: str, why: str) -> Choice:
        if not self.view.passable(neighbour) and not self.view.failed(f"open door to {neighbour}"):
            return Choice(f"open door to {neighbour}", why)
        return Choice(f"go to {neighbour}", why)

    def path(self, wanted: Callable[[str], bool]) -> list[str] | None:
        """Shortest way to a place that is wanted: the places to walk through, or None."""
        queue, seen = deque([(self.view.place, [])]), {self.view.place}  # type: ignore[var-annotated]
        while queue:
            place, way = queue.popleft()
            if way and wanted(place):
                return list(way)
            for neighbour in self.neighbours(place):
                if neighbour not in seen:
                    seen.add(neighbour)
                    queue.append((neighbour, [*way, neighbour]))
        return None

    def neighbours(self, place: str) -> list[str]:
        """Adjoining places, as seen here or, for places not seen yet, as memory has them."""
        room = self.view.rooms.get(place) or self.lessons.rooms.get(place) or Room(place)
        return [door for door in room.doors if not self.view.failed(f"go to {door}", 2)]

    def find(self, wanted: Match, why: str, near: str = "") -> Item | Choice:
        """Have something in reach: the item, or the next action towards it.

        Looks at what is in view and walks to where it was seen; `near` is where the task says it is, and comes
        before all others. Then it searches: first where memory has seen such a thing, then the places and
        containers not looked into yet. Raises Stuck at the end.
        """
        looked = self.look(why)
        if looked and not self.holds(wanted):
            return looked
        held = self.holds(wanted)
        if held:
            return held
        order = [near, self.view.place, *self.view.rooms] if near else [self.view.place, *self.view.rooms]
        for place in order:
            if place == near and near not in self.view.rooms:
                choice = self.go_to(near, why)
                if choice:
                    return choice
            found = next((item for item in self.view.rooms.get(place, Room("")).items if wanted(item)), None)
            if found and place == self.view.place:
                return found
            if found and (choice := self.go_to(place, why)):
                return choice
        if near == self.view.place and (choice := self.unpack(why)):
            return choice
        remembered = {
            place
            for place, room in self.lessons.rooms.items()
            if place not in self.view.rooms and any(wanted(item) for item in room.items)
        }
        path = self.path(lambda room: room in remembered)
        if path:
            return self.walk(path[0], f"{why} In an earlier task it was in the {path[-1]}.")
        return self.explore(why)

    def explore(self, why: str, place: str = "") -> Choice:
        """See a place or a container not seen yet. Raises Stuck if none is left.

        Places where earlier tasks of this kind found what they needed come first, then those that the task
        names, then the nearest; ties are broken by chance.
        """
        looked = self.look(why)
        if looked:
            return looked
        ways = []
        for target in self.unvisited():
            path = self.path(lambda room, target=target: room == target)  # type: ignore[misc]
            if path:
                named_in = f" {target} " in f" {' '.join(words(self.view.task))} "
                ways.append(((-(target in self.promising), -named_in, len(path), self.tie(target)), path))
        if ways:
            return self.walk(min(ways)[1][0], f"{why} I look where I have not been yet.")
        if not place and (choice := self.unpack(why)):
            return choice
        for other, room in self.view.rooms.items():
            if not place and any(self.closed(item) and self.untried(item, other) for item in room.items):
                choice = self.go_to(other, why)
                if choice:
                    return choice
        raise Stuck(why)

    def unvisited(self) -> list[str]:
        known = {place: None for room in self.view.rooms.values() for place in room.doors}
        remembered = {place: None for room in self.lessons.rooms.values() for place in room.doors}
        return [place for place in {**known, **remembered} if place not in self.view.rooms]

    def unpack(self, why: str) -> Choice | None:
        """Open something here that is closed and may hold things."""
        for item in self.view.room.items:
            action = f"open {item.name}"
            if self.closed(item) and self.untried(item, self.view.place) and self.allowed(action):
                return Choice(action, f"{why} It may be in the {item.name}.")
        return None

    def closed(self, item: Item) -> bool:
        stores = bool(set(words(item.name)) & STORES) and not item.contents and "open" not in item.state
        return item.closed or (stores and bool(item.inside))

    def untried(self, item: Item, place: str) -> bool:
        return not any(t.place == place and t.action == f"open {item.name}" for t in self.view.turns)

    def refer(self, item: Item) -> str:
        """What to call a thing, so that it is told from others of its name."""
        twins = [other for other in self.view.here if other.name == item.name]
        if len(twins) < 2:
            return item.name
        if item.contents:
            return f"{item.name} containing {' and '.join(item.contents)}"
        if item in self.view.carried:
            return f"{item.name} in inventory"
        return f"{item.name} in {item.inside or self.view.place}"

    def focused(self) -> list[str]:
        """What was focused on so far, in order."""
        return [turn.action.removeprefix("focus on ") for turn in self.view.did(r"^focus on ")]

    def focus(self, wanted: Match, why: str, near: str = "") -> Choice | None:
        """Have focused on something that is wanted."""
        if any(wanted(Item(name)) or wanted(Item(name.split(" in ")[0])) for name in self.focused()):
            return None
        found = self.find(wanted, why, near)
        if isinstance(found, Choice):
            return found
        for item in [found, *(item for item in self.view.here if wanted(item))]:
            for name in (self.refer(item), item.name):
                if self.allowed(f"focus on {name}"):
                    return Choice(f"focus on {name}", f"{why} The {item.name} is what the task means.")
        raise Stuck(why)

    def holds(self, wanted: Match) -> Item | None:
        return next((item for item in self.view.carried if wanted(item)), None)

    def carry(self, wanted: Match, why: str, near: str = "") -> Choice | None:
        """Carry something that is wanted, or what it is in if it cannot be taken by itself."""
        if self.holds(wanted):
            return None
        holders = {item.inside for room in self.view.rooms.values() for item in room.items if wanted(item)}
        if any(item.name in holders for item in self.view.carried):
            return None
        found = self.find(wanted, why, near)
        if isinstance(found, Choice):
            return found
        for name in (self.refer(found), found.inside):
            if name and self.allowed(f"pick up {name}"):
                return Choice(f"pick up {name}", f"{why} I take it with me.")
        raise Stuck(why)

    def put(self, thing: str, target: str, why: str, near: str = "") -> Choice | None:
        """Have put what is carried into or onto something."""
        if self.view.did(rf"^(?:move|put) {re.escape(thing)}.* (?:to|in|on) {re.escape(target)}"):
            return None
        found = self.find(named(target), why, near)
        if isinstance(found, Choice):
            return found
        for action in (f"move {thing} to {self.refer(found)}", f"move {thing} in inventory to {found.name}"):
            if self.allowed(action):
                return Choice(action, why)
        raise Stuck(why)

    def first(self, ends: Iterable[Callable[[], Choice | None]]) -> Choice | None:
        """The next action of the first end that is not reached."""
        for end in ends:
            choice = end()
            if choice:
                return choice
        return None


def _fetched_at(lessons: Lessons, task: str) -> frozenset[str]:
    """The last place walked to before something was focused on or taken, in what worked earlier."""
    found = set()
    for procedure in lessons.fitting(task):
        place = ""
        for action in procedure.actions:
            verb, _, rest = action.partition(" to ")
            if verb == "go":
                place = rest.strip()
            elif place and re.match(r"focus|pick up|take|use|connect", action):
                found.add(place)
                break
    return frozenset(found)
