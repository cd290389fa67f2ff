"""The process in which TextWorld plays: `python -m envs.alfworld.worker [--plain]`.

TextWorld's parser is shared and it swaps stdout, so it gets a process of its own. A request is one JSON
line on stdin, its answer one JSON line on stdout: {"ready": versions} at the start, then

    {"open": content, "plan": bool}  ->  state, with the planner's "plan" if asked for
    {"step": command}                ->  state

where a state is {"text", "actions", "done", "won", "seconds": the engine's own}, or {"error": text}.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import IO, Any

from envs.alfworld import memo

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


def _timed(call: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    start = time.perf_counter()
    answer = call(*arguments)
    answer["seconds"] = time.perf_counter() - start
    return answer


def serve(requests: IO[str], answers: IO[str], memoise: bool) -> None:
    """Answer requests until there are no more; end after an error, since the engine's state is unknown."""

    def answer(message: Mapping[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        player = Player(memoise)
        answer({"ready": {name: version(name) for name in PACKAGES}})
        for line in requests:
            request = json.loads(line)
            if "open" in request:
                answer(_timed(player.open, request["open"], bool(request.get("plan"))))
            else:
                answer(_timed(player.step, request["step"]))
    except Exception as error:
        traceback.print_exc()
        answer({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    # Whatever the engine prints must not reach the pipe of answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers, memoise="--plain" not in sys.argv)


if __name__ == "__main__":
    main()
