"""What the reader knows of an episode: all of it read from the conversation, nothing remembered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agents.base import Message
from agents.prompts import blocks
from agents.reader.scene import Item, Room, carried_in, room_in
from agents.reader.words import words

_ACTION = re.compile(r"^Action: (.*)$", re.MULTILINE)
_TOOL = re.compile(r"^Tool: (.*)$", re.MULTILINE)
_CODE = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_FAILED = re.compile(
    r"no known action|unknown action|nothing happens|can't|cannot|\bnot (?:possible|able|available|understand)|"
    r"isn't|doesn't|don't|unable|not clear|invalid|is not |must be|error",
    re.IGNORECASE,
)
_MOVED = re.compile(r"You move (?:the )?(.+?) to the (.+?)\.")


@dataclass(frozen=True)
class Turn:
    """One reply of the agent and what it read next."""

    action: str
    observation: str
    place: str = ""
    held: bool = False
    """The action was not executed: held back, or the reply could not be used."""

    @property
    def failed(self) -> bool:
        return self.held or (len(self.observation) < 300 and bool(_FAILED.search(self.observation)))


@dataclass
class View:
    """The episode so far."""

    task: str = ""
    help: str = ""
    opening: str = ""
    memory: str = ""
    """What a memory gave: in the system message, as notes and as replies of its tools."""
    tools: Sequence[str] = ()
    menu: Sequence[str] | None = None
    turns: list[Turn] = field(default_factory=list)
    place: str = ""
    rooms: dict[str, Room] = field(default_factory=dict)
    carried: list[Item] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    """Tools called so far."""
    unseen: bool = False
    """Something here may have changed since it was last looked at."""

    @property
    def room(self) -> Room:
        return self.rooms.get(self.place, Room(self.place))

    @property
    def latest(self) -> str:
        return self.turns[-1].observation if self.turns else self.opening

    @property
    def here(self) -> list[Item]:
        """Everything in reach: carried, and seen in this room."""
        return [*self.carried, *self.room.items]

    def failed(self, action: str, times: int = 1) -> bool:
        """Whether `action` failed at least so often at this place."""
        return self._failures[(action, self.place)] >= times

    def did(self, pattern: str) -> list[Turn]:
        """Turns that succeeded and whose action matches."""
        wanted = re.compile(pattern, re.IGNORECASE)
        return [turn for turn in self.turns if not turn.failed and wanted.search(turn.action)]

    def tried(self, action: str) -> int:
        """How often `action` was sent at this place."""
        return self._tried[(action, self.place)]

    def __post_init__(self) -> None:
        self._failures: Counter[tuple[str, str]] = Counter()
        self._tried: Counter[tuple[str, str]] = Counter()
        self._opened: set[frozenset[str]] = set()

    def passable(self, neighbour: str) -> bool:
        """Whether the way from here to an adjoining place is known to be open."""
        return self.room.doors.get(neighbour, False) or frozenset((self.place, neighbour)) in self._opened

    def _see(self, text: str) -> None:
        carried = carried_in(text)
        if carried is not None:
            self.carried = carried
        room = room_in(text)
        if room:
            self.place, self.unseen = room.name, False
            self.rooms[room.name] = room

    def _apply(self, turn: Turn) -> None:
        self.turns.append(turn)
        self._tried[(turn.action, turn.place)] += 1
        if turn.failed:
            self._failures[(turn.action, turn.place)] += 1
            return
        self._see(turn.observation)
        walked = re.search(r"You (?:move|go|walk) (?:in|in)?to the ([^.]+)\.", turn.observation)
        if walked and turn.action.startswith(("go", "walk")):
            self._opened.add(frozenset((self.place, walked[1].strip())))
            self.place = walked[1].strip()
            self.unseen = self.place not in self.rooms
            return
        moved = _MOVED.search(turn.observation)
        if moved:
            self._carry(turn.action, *moved.groups())
        door = re.match(r"open (?:the )?door to (?:the )?(.+)", turn.action)
        if door and "open" in turn.observation:
            self._opened.add(frozenset((self.place, door[1].strip())))
        elif turn.action.startswith(("open ", "pour ", "mix ", "activate ", "wait")):
            self.unseen = True

    def _carry(self, action: str, seen_name: str, target: str) -> None:
        taken = re.match(r"(?:pick up|take|get) (.+)", action)
        moved = re.match(r"(?:move|put|place) (.+?) (?:to|in|into|on) (.+)", action)
        called = (taken or moved or [action, action])[1].split(" in ")[0]
        name, _, held = called.partition(" containing ")
        contents = tuple(held.split(" and ")) if held else ()

        def meant(item: Item) -> bool:
            return item.name == name and (not contents or set(contents) == set(item.contents))

        if target == "inventory":
            # The world may know a thing by another name than the one it was seen under.
            same = set(words(name)) & set(words(seen_name))
            self.carried.append(Item(name if same else seen_name, contents=contents))
            if self.place in self.rooms:
                self.room.items = [item for item in self.room.items if not meant(item)]
        else:
            self.carried = [item for item in self.carried if not meant(item)]


def view_of(messages: Iterable[Message]) -> View:
    """Read a conversation of agents.loop."""
    view = View()
    action: str | None = None
    for message in messages:
        content = message["content"]
        if message["role"] == "assistant":
            found = _TOOL.search(content) or _ACTION.search(content) or _CODE.search(content)
            action = found[1].strip() if found else ""
            if _TOOL.search(content):
                view.called.append(action)
            continue
        found_blocks = blocks(content)
        view.help = found_blocks.get("action_help", [view.help])[-1]
        view.task = found_blocks.get("task", [view.task])[-1]
        view.tools = [
            line for text in found_blocks.get("tools", []) for line in text.splitlines()
        ] or view.tools
        for name in ("memory", "note", "tool_reply", "objection"):
            for text in found_blocks.get(name, []):
                view.memory += f"{text}\n\n"
        view.menu = found_blocks["actions"][-1].splitlines() if "actions" in found_blocks else None
        seen = found_blocks.get("observation", [""])[-1]
        if message["role"] == "user" and action is None:
            view.opening = seen
            view._see(seen)
        elif action is not None and "tool_reply" not in found_blocks:
            held = "observation" not in found_blocks and "nothing happened" in content
            view._apply(Turn(action, seen, view.place, held))
    return view
