"""ALFWorld behind the contract of envs.base: the released games, or our own small ones."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

from pydantic import PositiveFloat, PositiveInt

from envs.alfworld import mini
from envs.alfworld.engine import Engine
from envs.alfworld.games import COUNT, TYPES, Game, data_folder, digest_of, load, released, wordings_of
from envs.alfworld.logic import require_installed
from envs.alfworld.words import WORDINGS, Wording, action_help, capabilities
from envs.alfworld.worker import PACKAGES
from envs.base import (
    Capability,
    EnvironmentFailed,
    Evaluation,
    Form,
    Metric,
    Observation,
    SetupError,
    Task,
    TaskInfo,
)

SETTINGS = ("alfworld", "alfworld_mini")


class AlfWorld:
    """The settings `alfworld` (134 unseen games) and `alfworld_mini` (60 of our own).

    Parameters: `data`, the folder that holds json_2.1.1 (else ALFWORLD_DATA, else alfworld-download's
    default; for the mini setting: games written by `python -m envs.alfworld.write mini` instead of the
    built-in ones); `wording`, `released` or the one into which every game is put, `old` or `new`;
    `step_limit`, 50 as in ReAct and after (the engine has none); `watchdog`, seconds without an answer
    after which the engine counts as hung; `recycle_after`, games after which its process is replaced;
    `memoise`, see envs.alfworld.memo.
    """

    form: Form = "text"
    restartable = True
    metrics: Sequence[Metric] = (Metric("success_rate", "success", "percent", "SR"),)
    categories: Mapping[str, str] = TYPES

    def __init__(
        self,
        setting: str = "alfworld",
        data: str | os.PathLike[str] | None = None,
        wording: Literal["released", "old", "new"] = "released",
        step_limit: PositiveInt = 50,
        watchdog: PositiveFloat = 120.0,
        recycle_after: PositiveInt = 100,
        memoise: bool = True,
    ) -> None:
        if setting not in SETTINGS:
            raise SetupError(f"ALFWorld has no setting {setting!r}; it has {' and '.join(SETTINGS)}.")
        if wording not in ("released", *WORDINGS):
            raise SetupError(f"env.wording={wording} is none of: released, {', '.join(WORDINGS)}.")
        self.setting = setting
        self.known_tasks = COUNT if setting == "alfworld" else None
        self.step_limit = step_limit
        self._data = data
        self._wording = wording
        self._engine = Engine(watchdog, recycle_after, memoise)
        self._world: OpenGame | None = None

    @cached_property
    def _games(self) -> tuple[Game, ...]:
        require_installed()
        if self.setting == "alfworld":
            return released(data_folder(self._data))
        if self._data:
            return released(data_folder(self._data), count=None)
        return mini.games()

    def wording(self, game: Game) -> Wording:
        """The wording in which `game` is played."""
        return game.wording if self._wording == "released" else self._wording

    def tasks(self) -> Sequence[Task]:
        """All games in release order. Raises SetupError without the engine or the complete data."""
        return [Task(number, game.sentence) for number, game in enumerate(self._games, 1)]

    def open(self, task: Task) -> OpenGame:
        """Start a game: one to three seconds, all TextWorld's."""
        game = self._game(task)
        wording = self.wording(game)
        if self._world is not None:
            self._world.close()
        self._world = OpenGame(self._engine, wording, self._engine.open(load(game, wording)))
        return self._world

    def info(self, task: Task) -> TaskInfo:
        """Type and plan of a game. Its type is scenario and family at once: ALFWorld has no finer variants."""
        game = self._game(task)
        return TaskInfo(game.id, game.type, game.type, (game.type,), game.operations)

    def capabilities(self) -> Sequence[Capability]:
        """The command templates, in the wording that is played (the new one if both are)."""
        played = {self.wording(game) for game in self._games}
        return capabilities(played.pop() if len(played) == 1 else "new")

    def provenance(self) -> Mapping[str, str]:
        """Package versions, wording and a hash of the game list."""
        found = {f"{name} version": _version(name) for name in PACKAGES}
        return found | {
            "wording released": wordings_of(self._games),
            "wording played": "/".join(sorted({self.wording(game) for game in self._games})),
            "games": str(len(self._games)),
            "games sha256": digest_of(self._games),
        }

    @property
    def engine_seconds(self) -> float:
        """Seconds spent inside TextWorld so far; the rest of a call's time is ours."""
        return self._engine.seconds

    @property
    def pid(self) -> int | None:
        """Process id of the engine, if it runs."""
        return self._engine.pid

    def close(self) -> None:
        """End the worker process. Idempotent."""
        if self._world is not None:
            self._world.close()
        self._engine.close()

    def _game(self, task: Task) -> Game:
        if not 1 <= task.number <= len(self._games):
            raise SetupError(f"{self.setting} has tasks 1 to {len(self._games)}; there is no {task.number}.")
        return self._games[task.number - 1]


class OpenGame:
    """One opened game."""

    def __init__(self, engine: Engine, wording: Wording, state: Mapping[str, Any]) -> None:
        self._engine = engine
        self._closed = False
        self._broken = ""
        self._won = bool(state["won"])
        self.wording = wording
        self.action_help = action_help(wording)
        self.observation = _observation(_opening(state["text"]), state)

    def step(self, action: str) -> Observation:
        """One command; the game answers `Nothing happens.` to what it does not offer."""
        if self._broken or self._closed:
            raise EnvironmentFailed(self._broken or "This ALFWorld game was closed.")
        if not self.observation.done:
            try:
                state = self._engine.step(" ".join(action.split()))
            except EnvironmentFailed as error:
                self._broken = str(error)
                raise
            self._won = bool(state["won"])
            self.observation = _observation(state["text"].strip(), state)
        return self.observation

    def look_up(self, request: str) -> str | None:
        """None: every observation brings its actions, so that there is nothing to look up."""
        return None

    def evaluate(self) -> Evaluation:
        """Whether the game was won, as TextWorld says."""
        if self._broken:
            raise EnvironmentFailed(self._broken)
        return Evaluation({"success": float(self._won)})

    def close(self) -> None:
        """Nothing to release: the engine keeps one game at a time. Idempotent."""
        self._closed = True


def _observation(text: str, state: Mapping[str, Any]) -> Observation:
    # `help` lists the same templates as action_help, without saying anything about the game.
    offered = sorted((a for a in set(state["actions"]) if a != "help"), key=_natural)
    return Observation(text, tuple(offered), bool(state["done"]))


def _natural(action: str) -> list[tuple[int, str]]:
    """A sorting key under which `drawer 2` comes before `drawer 10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", action)]


def _opening(text: str) -> str:
    """The first view of the room, without banner and task sentence: the instruction says that."""
    parts = [part for part in text.split("\n\n") if not part.startswith(("-= ", "Your task is to:"))]
    return "\n".join(parts).strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
