"""A small world, a guide and a backbone of given replies, for tests of those who use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from agents.base import Message, Reply, Role, Step, Tool
from envs.base import Evaluation, Observation


class Corridor:
    """Rooms 0..goal in a row: `go` walks on, the goal ends the episode, `where` is a free look-up."""

    action_help = "go: walk on. where: a free look-up of your room."

    def __init__(self, goal: int = 3, menu: bool = False) -> None:
        self.goal, self.room, self.menu = goal, 0, menu
        self.taken: list[str] = []
        self.latest = self._see("You are in room 0.")

    def _see(self, text: str) -> Observation:
        return Observation(text, ("go", "wait") if self.menu else None, self.room >= self.goal)

    @property
    def observation(self) -> Observation:
        return self.latest

    def step(self, action: str) -> Observation:
        self.taken.append(action)
        if action == "go":
            self.room += 1
            self.latest = self._see(f"You are in room {self.room}.")
        else:
            self.latest = self._see("No known action matches that input.")
        return self.latest

    def look_up(self, request: str) -> str | None:
        return f"room {self.room} of {self.goal}" if request == "where" else None

    def evaluate(self) -> Evaluation:
        return Evaluation({"success": float(self.room >= self.goal)})

    def close(self) -> None:
        pass


@dataclass
class Advice:
    """A guide of given text, tools, notes and objections."""

    text: str = ""
    tools: Sequence[Tool] = ()
    note: Callable[[Sequence[Step]], str | None] = lambda history: None
    objection: Callable[[str], str | None] = lambda action: None

    def before_step(self, history: Sequence[Step]) -> str | None:
        return self.note(history)

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        return self.objection(action)


@dataclass
class Replies:
    """A backbone that gives the texts it was made with, and keeps what it was sent."""

    texts: Sequence[str]
    name: str = "replies"
    sent: list[list[Message]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    temperatures: list[float | None] = field(default_factory=list)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        self.sent.append(list(messages))
        self.roles.append(role)
        self.temperatures.append(temperature)
        text = self.texts[len(self.sent) - 1]
        return Reply(text, schema.model_validate_json(text) if schema else None)
