"""The engine seen from the harness: games are opened and stepped in a process of TextWorld's own."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import Any

from envs.alfworld.logic import Content, require_installed
from envs.base import EnvironmentFailed
from envs.worker import Worker


class Engine:
    """Opens and steps games in a worker that is started on demand (see envs.worker.Worker).

    After `recycle_after` games the worker is replaced, since TextWorld keeps some memory of every game.
    """

    def __init__(self, watchdog: float, recycle_after: int, memoise: bool = True) -> None:
        self.recycle_after = recycle_after
        self._opened = 0
        self.worker = Worker(
            "ALFWorld's worker", "envs.alfworld.worker", [] if memoise else ["--plain"], _settings, watchdog
        )

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if one runs."""
        return self.worker.pid

    @property
    def seconds(self) -> float:
        """Time spent inside TextWorld, as the workers measured it."""
        return self.worker.seconds

    def open(self, content: Content, plan: bool = False) -> dict[str, Any]:
        """Load a game, once more on a fresh worker if that fails; its first state (see envs.alfworld.worker)."""
        if self.worker.pid is None or self._opened >= self.recycle_after:
            self.close()
        request = {"open": content, "plan": plan}
        try:
            answer = self.worker.ask(request)
        except EnvironmentFailed:
            self._opened = 0
            answer = self.worker.ask(request)
        self._opened += 1
        return answer

    def step(self, command: str) -> dict[str, Any]:
        """One command; the next state."""
        if self.worker.pid is None:
            raise EnvironmentFailed("ALFWorld's worker is gone, and with it the game that it played.")
        return self.worker.ask({"step": command})

    def close(self) -> None:
        """End the worker. Idempotent."""
        self.worker.close()
        self._opened = 0


def _settings() -> Mapping[str, str]:
    require_installed()
    return {
        # Hash order must not decide in which order TextWorld enumerates things.
        "PYTHONHASHSEED": "0",
        # On import alfworld makes this folder if it is missing; the worker reads nothing from it.
        "ALFWORLD_DATA": tempfile.gettempdir(),
    }
