"""Seconds per open, step and evaluate of each environment that is set up here; ours beside the engine's."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from importlib import import_module

from envs.base import Environment, EnvironmentFailed, SetupError, Task
from scripts.bench import Row

ENVIRONMENTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "scienceworld": ("envs.scienceworld", "ScienceWorld", {}),
    "appworld_mini": ("envs.appworld", "AppWorld", {"setting": "appworld_mini"}),
    "webarena_mini": ("envs.webarena", "WebArena", {"setting": "webarena_mini"}),
}
"""Name -> module, class and options. The engine's own seconds a step come from `World.engine_seconds`."""
ACTIONS = {"text": ("look around", "inventory", "look"), "code": ("print(1)",), "page": ("noop(0)",)}


def measure() -> Iterator[Row]:
    """See the module."""
    for name, (module, kind, options) in ENVIRONMENTS.items():
        try:
            made: Environment = getattr(import_module(module), kind)(**options)
        except (ImportError, AttributeError, SetupError) as error:
            print(f"{name}: left out: {error}")
            continue
        try:
            yield from of(name, made)
        except (SetupError, EnvironmentFailed) as error:
            print(f"{name}: left out: {error}")
        finally:
            made.close()


def of(name: str, environment: Environment) -> Iterator[Row]:
    """Medians over three tasks; the first opening starts the engine and is told apart."""
    tasks = environment.tasks()
    first = seconds(lambda: environment.open(tasks[0]).close())
    opens: list[float] = []
    steps: list[float] = []
    evaluations: list[float] = []
    ours: list[float] = []
    for task in tasks[1:4]:
        one(environment, task, opens, steps, evaluations, ours)
    yield f"{name}: first open, engine start included", first, "s", None
    yield f"{name}: open", statistics.median(opens), "s", None
    yield f"{name}: step", 1000 * statistics.median(steps), "ms", None
    if ours:
        yield f"{name}: step, ours", 1000 * statistics.median(ours), "ms", 2.0
    yield f"{name}: evaluate", 1000 * statistics.median(evaluations), "ms", None


def one(
    environment: Environment,
    task: Task,
    opens: list[float],
    steps: list[float],
    evaluations: list[float],
    ours: list[float],
) -> None:
    """One task's seconds, added to the lists."""
    began = time.perf_counter()
    world = environment.open(task)
    opens.append(time.perf_counter() - began)
    for _ in range(4):
        for action in ACTIONS[environment.form]:
            engine = getattr(world, "engine_seconds", None)
            taken = seconds(lambda a=action: world.step(a))  # type: ignore[misc]
            steps.append(taken)
            if engine is not None:
                ours.append(taken - (getattr(world, "engine_seconds", 0.0) - engine))
    evaluations.append(seconds(world.evaluate))
    world.close()


def seconds(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
