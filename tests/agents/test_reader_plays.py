"""The reader on the real ScienceWorld: against chance, and with what an earlier episode taught.

Chance: a uniform choice among the one-object commands that the simulator says are valid, `focus` left out
(a wrong focus ends a task with -100, so it would only make chance worse).
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from agents.base import Episode
from agents.loop import LoopOptions, act
from agents.prompts import render_episode
from envs.base import Environment, Task
from tests.agents.test_reader import Reader
from tests.agents.worlds import Advice
from tests.conftest import require

TASKS = (13, 22, 35, 37, 56)
"""Of the demo: a temperature, a circuit, a living and a non-living thing, a paint."""
SEEDS = (0, 1, 2)
STEPS = 20


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    require(find_spec("scienceworld") is not None, "scienceworld", "pip install -e .")
    from envs.scienceworld import ScienceWorld

    world = ScienceWorld(step_limit=STEPS)
    yield world
    world.close()


def task(environment: Environment, number: int) -> Task:
    return environment.tasks()[number - 1]


def read(environment: Environment, number: int, seed: int, memory: str = "") -> tuple[float, Episode]:
    world = environment.open(task(environment, number))
    asked = task(environment, number)
    episode = act(world, asked, Advice(memory), Reader(seed), LoopOptions(), "text", STEPS)
    return world.evaluate().metrics["raw"], episode


def chance(environment: Environment, number: int, seed: int) -> float:
    """A new menu every fourth step: asking for it is what takes the time."""
    rng, world, menu = random.Random(seed), environment.open(task(environment, number)), [""]
    for step in range(STEPS):
        if step % 4 == 0:
            answer = world.look_up("check valid actions") or ""
            menu = answer.partition(":\n")[2].partition("\nValid with each")[0].splitlines()
        world.step(rng.choice([action for action in menu if not action.startswith(("focus", "("))]))
    return world.evaluate().metrics["raw"]


def test_it_beats_chance_by_more_than_the_spread(environment: Environment) -> None:
    reader = [statistics.mean(read(environment, n, seed)[0] for n in TASKS) for seed in SEEDS]
    random_ = [statistics.mean(chance(environment, n, seed) for n in TASKS) for seed in SEEDS]
    spread = max(statistics.stdev(reader), statistics.stdev(random_))
    assert statistics.mean(reader) - statistics.mean(random_) > spread, (reader, random_)


def test_an_earlier_episode_of_the_same_kind_changes_and_shortens_the_way(environment: Environment) -> None:
    _, earlier = read(environment, 35, 0)
    memory = f"Task: {earlier.task.instruction}\nOutcome: success\n{render_episode(earlier)}"
    without = [read(environment, 44, seed) for seed in SEEDS]
    with_it = [read(environment, 44, seed, memory) for seed in SEEDS]
    assert any(a[1].steps != b[1].steps for a, b in zip(without, with_it, strict=True))
    assert statistics.mean(score for score, _ in with_it) >= statistics.mean(score for score, _ in without)
    assert sum(len(e.acts) for _, e in with_it) < sum(len(e.acts) for _, e in without)


def test_the_same_seed_plays_the_same_episode(environment: Environment) -> None:
    assert read(environment, 22, 1) == read(environment, 22, 1)
