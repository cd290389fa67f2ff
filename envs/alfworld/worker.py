"""The process in which TextWorld plays: `python -m envs.alfworld.worker [--plain]`.

TextWorld's parser is shared and it swaps stdout, so it gets a process of its own. Requests and answers
(envs.worker):

    {"open": content, "plan": bool}  ->  state, with the planner's "plan" if asked for
    {"step": command}                ->  state

where a state is {"text", "actions", "done", "won"}.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from envs.alfworld import memo
from envs.worker import serve

PACKAGES = ("alfworld", "textworld", "fast-downward-textworld")


class Player:
    """One TextWorld environment, reused for every game: each fresh one would keep 34 MB mapped."""

    def __init__(self, memoise: bool = True) -> None:
        if memoise:
            memo.install()
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
        from textworld.envs.pddl import PddlEnv

        self._infos = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        self._env = AlfredInfos(AlfredDemangler(PddlEnv(self._infos)))

    def open(self, content: Mapping[str, str], plan: bool) -> dict[str, Any]:
        """Load a game and give its first state."""
        # Every reset would run the planner with the walkthrough among the extras.
        self._infos.extras = ["gamefile", "walkthrough"] if plan else ["gamefile"]
        self._env.load(dict(content))
        state = self._env.reset()
        answer = _shown(state, done=False)
        if plan:
            answer["plan"] = list(state["extra.walkthrough"] or ())
        return answer

    def step(self, command: str) -> dict[str, Any]:
        """Act. What the game does not offer changes nothing."""
        state, _, done = self._env.step(command)
        return _shown(state, done)


def _shown(state: Any, done: bool) -> dict[str, Any]:
    return {
        "text": state["feedback"],
        "actions": state["admissible_commands"],
        "done": bool(done),
        "won": bool(state["won"]),
    }


def start() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The engine, as envs.worker.serve wants it."""
    player = Player(memoise="--plain" not in sys.argv)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if "open" in request:
            return player.open(request["open"], bool(request.get("plan")))
        return player.step(request["step"])

    return answer


if __name__ == "__main__":
    serve(start)
