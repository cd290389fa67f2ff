"""What every environment must do, whatever its engine. `test_contract.py` runs it over CASES.

An environment joins with one line in CASES: a `Case`, written beside its own tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from envs.base import Environment
from tests.conftest import require


@dataclass(frozen=True)
class Case:
    """One environment and what the shared tests must know of it."""

    name: str
    make: Callable[[Path], Environment]
    """A fresh environment; the path is a scratch folder of the test."""
    ending: tuple[int, Sequence[str]]
    """A task's number and actions after whose last (and not before) its world says done."""
    going_on: tuple[int, Sequence[str]]
    """A task's number and at least three valid actions, at least one of which changes the world, none of
    which ends it."""
    nonsense: str
    """An action that the engine does not understand."""
    kill: Callable[[Environment], None]
    """Kill the engine behind an environment with an open world, as a crash or an out-of-memory kill would."""
    look_ups: Sequence[str] = ()
    """Requests that `World.look_up` answers."""
    found: Callable[[], bool] = lambda: True
    """Whether the engine is installed."""
    remedy: str = ""
    """What installs it."""

    def __str__(self) -> str:
        return self.name

    def require(self) -> None:
        """Skip the calling test (or fail it, see conftest) if the engine is missing."""
        require(self.found(), self.name, self.remedy)


def cases() -> list[Case]:
    """Every environment there is."""
    from tests.envs import alfworld_case, appworld_case, scienceworld_case, webarena_case

    return [
        scienceworld_case.CASE,
        alfworld_case.CASE,
        appworld_case.CASE,
        webarena_case.CASE,
    ]
