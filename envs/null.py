"""A world with no engine: for measuring the harness alone and for tests that need thousands of steps.

A task is a lamp in one of a few rooms; `go ROOM` moves, `press` tries the lamp. It is a real little
task (it can be failed), not a benchmark: its setting is named `lamp`, and no table of the papers has it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from pydantic import NonNegativeInt, PositiveInt

from envs.base import Capability, Evaluation, Form, Metric, Observation, Task, TaskInfo

ROOMS = ("kitchen", "hall", "garden", "cellar", "attic", "workshop")


class NullEnvironment:
    """`size` tasks over ROOMS, of `steps` steps each if the agent never finds the lamp."""

    form: Form = "text"
    restartable = True
    metrics: Sequence[Metric] = (Metric("success_rate", "success", "percent", "Lamp SR"),)
    categories: Mapping[str, str] = {room: room for room in ROOMS}

    def __init__(self, size: PositiveInt = 50, steps: PositiveInt = 20, padding: NonNegativeInt = 0) -> None:
        """`padding`: words added to each observation, to give it a real benchmark's length."""
        self.setting = "lamp"
        self.size, self.step_limit, self.padding = size, steps, padding

    def tasks(self) -> Sequence[Task]:
        return [Task(n, f"Light the lamp in the {self._room(n)}.") for n in range(1, self.size + 1)]

    def open(self, task: Task) -> NullWorld:
        return NullWorld(self._room(task.number), task.number, self.padding)

    def info(self, task: Task) -> TaskInfo:
        room = self._room(task.number)
        return TaskInfo(f"lamp-{task.number}", room, room, (room,), ("go", "press"))

    def capabilities(self) -> Sequence[Capability]:
        return (
            Capability("go", "go to a room", "go ROOM: moves you to that room"),
            Capability("press", "press the lamp's button", "press: lights the lamp of this room"),
        )

    def provenance(self) -> Mapping[str, str]:
        return {"null": "1"}

    def close(self) -> None:
        pass

    def _room(self, number: int) -> str:
        return random.Random(number).choice(ROOMS)


class NullWorld:
    """One lamp. It lights only in the room that the task names; elsewhere nothing happens."""

    def __init__(self, room: str, number: int, padding: int) -> None:
        self._room, self._here, self._lit = room, "hall", False
        words = random.Random(-number).choices(ROOMS, k=padding)
        self._padding = (" " + " ".join(words)) if words else ""
        self._latest = self._look(f"You are in the {self._here}.")

    @property
    def observation(self) -> Observation:
        return self._latest

    @property
    def action_help(self) -> str:
        return "go ROOM: moves you to that room\npress: presses the button of the lamp here"

    def step(self, action: str) -> Observation:
        if self._latest.done:
            return self._latest
        verb, _, room = action.partition(" ")
        if verb == "go" and room in ROOMS:
            self._here = room
            self._latest = self._look(f"You are in the {room}.")
        elif action == "press" and self._here == self._room:
            self._lit = True
            self._latest = self._look("The lamp is lit.", done=True)
        else:
            self._latest = self._look("Nothing happens.")
        return self._latest

    def look_up(self, request: str) -> str | None:
        return "\n".join(self._actions()) if request == "check valid actions" else None

    def evaluate(self) -> Evaluation:
        return Evaluation({"success": float(self._lit)})

    def close(self) -> None:
        pass

    def _look(self, text: str, done: bool = False) -> Observation:
        return Observation(text + self._padding, self._actions(), done)

    def _actions(self) -> tuple[str, ...]:
        return (*(f"go {room}" for room in ROOMS), "press")
