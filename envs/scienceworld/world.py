"""One opened ScienceWorld task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import RLock
from types import MappingProxyType
from typing import Any

from envs.base import EnvironmentFailed, Evaluation, Observation
from envs.scienceworld import actions
from envs.scienceworld.jvm import Simulator

BLOCKED = "This command is not available here."
"""Reply to `reset task`, which would take back a failure: nothing happens in the world."""


class ScienceWorldTask:
    """A `envs.base.World`. The simulator must have the task loaded, with no action taken yet.

    The score is read after each action and kept here: the final score is that of the last action before the
    end, the simulator's 0..1 times 100, -100 after a wrong focus (scienceworld's own wrapper does the same).
    """

    action_help = actions.HELP

    def __init__(self, simulator: Simulator, lock: RLock, step_limit: int) -> None:
        """Look around (the first action, as the official reset does). Raises EnvironmentFailed."""
        self._simulator = simulator
        self._lock = lock
        self._failed: EnvironmentFailed | None = None
        self._closed = False
        self.step_limit = step_limit
        """Actions this task allows (the environment's, unless its table says otherwise)."""
        self.steps = 0
        """Actions that were sent to the simulator or blocked; its own counter counts time steps."""
        room = self._call("step", "look around")
        carried = self._call("freeActionInventory")
        self._scores = [self._score()]
        self._observation = Observation(f"{str(room).strip()}\n\n{str(carried).strip()}")

    @property
    def observation(self) -> Observation:
        """The room and the inventory at first, then the reply to the latest action."""
        return self._observation

    def step(self, action: str) -> Observation:
        """Send `action` to the simulator. After the end (or close) it repeats the last observation."""
        with self._lock:
            if self._failed:
                raise self._failed
            if self._observation.done or self._closed:
                return self._observation
            self.steps += 1
            if actions.is_reset(action):
                self._observation = Observation(BLOCKED)
                return self._observation
            text = str(self._call("step", action.encode("utf-8", "replace").decode("utf-8"))).strip()
            score = self._score()
            self._scores.append(score)
            # A negative score is a failure for good, whatever the simulator's completed flag says.
            done = bool(self._call("getCompleted")) or score < 0
            self._observation = Observation(text, done=done)
            return self._observation

    def look_up(self, request: str) -> str | None:
        """Answer `check valid actions`: free, and nothing changes. It takes the engine 0.1 to 0.4 s."""
        if " ".join(request.lower().split()).strip(" .`'\"") != actions.CHECK:
            return None
        with self._lock:
            if self._failed:
                raise self._failed
            if self._observation.done or self._closed:
                return "The task is over: no command is valid."
            found = json.loads(self._call("getValidActionObjectCombinationsJSON"))
            return actions.valid_actions_text(found["validActions"])

    def evaluate(self) -> Evaluation:
        """The score, by the conventions in use. Success is a raw score of 100, never just the end.

        raw: the final score, -100..100 (STRATA). clamped: raw, at least 0 (EvoWeave's 0 to 100).
        last_non_negative: the last score before a failure. max: the highest score reached.
        """
        if self._failed:
            raise self._failed
        raw = self._scores[-1]
        metrics: Mapping[str, float] = {
            "success": float(raw == 100),
            "raw": float(raw),
            "clamped": float(max(raw, 0)),
            "last_non_negative": float(next((s for s in reversed(self._scores) if s >= 0), 0)),
            "max": float(max(self._scores)),
        }
        return Evaluation(MappingProxyType(metrics))

    def close(self) -> None:
        """No further action reaches the simulator. Idempotent."""
        self._closed = True

    def _score(self) -> int:
        return round(100 * float(self._call("getScore")))

    def _call(self, method: str, *arguments: str) -> Any:
        try:
            return self._simulator.call(method, *arguments)
        except EnvironmentFailed as error:
            self._failed = error
            raise
