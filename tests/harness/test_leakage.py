"""The official evaluation reaches nobody: replaced by random numbers, it changes no call, verdict or memory.

Runs over every memory that configs/memory offers, so that a new one is covered by being there.
"""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from agents.base import Episode, Verdict
from agents.reader.client import ReaderClient
from envs.base import Evaluation, Task
from envs.null import NullEnvironment, NullWorld
from harness.assemble import build
from memories.base import Experience, Memory, Recall, Resources
from tests.harness import rig
from tests.memories.helpers import NAMES

LEAKABLE = ("steps", "changes", "embeddings", "messages", "calls")


class Scored(NullEnvironment):
    """The null world with any scores, ids and categories one likes."""

    def __init__(self, seed: int) -> None:
        super().__init__(size=6, steps=6)
        self.luck = random.Random(seed)

    def open(self, task: Task) -> NullWorld:
        world = super().open(task)
        world.evaluate = lambda: Evaluation({"success": self.luck.random(), "score": self.luck.random()})  # type: ignore[method-assign]
        return world

    def info(self, task: Task):  # type: ignore[no-untyped-def]
        from envs.base import TaskInfo

        word = str(self.luck.random())
        return TaskInfo(word, word, word, (word,), (word,))


@pytest.mark.parametrize("name", NAMES)
def test_random_scores_and_labels_change_nothing_that_an_agent_or_memory_has(
    tmp_path: Path, name: str
) -> None:
    config = composed(name)

    def memory(resources: Resources) -> Memory:
        made: Memory = build(config, "memory", resources)
        return made

    records = []
    for seed in (1, 2):
        rig.run(tmp_path / str(seed), memory, ReaderClient(0), environment=Scored(seed))
        found = rig.record(tmp_path / str(seed))
        shown = [
            [row[key] for key in ("number", "verdict", "reason", "injected", "items", "events", "counters")]
            for row in rows(tmp_path / str(seed))
        ]
        records.append(({table: found[table] for table in LEAKABLE}, shown))
        metrics = [row["metrics"] for row in rows(tmp_path / str(seed))]
        assert len(set(metrics)) == 6
    assert records[0] == records[1]


def composed(name: str) -> dict[str, object]:
    """A memory's configuration, as a run composes it."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    folder = Path(__file__).resolve().parents[2] / "configs"
    with initialize_config_dir(str(folder), version_base="1.3"):
        container = OmegaConf.to_container(compose("run", [f"memory={name}"]).memory, resolve=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def rows(folder: Path) -> list[dict[str, object]]:
    import sqlite3

    connection = sqlite3.connect(folder / "run.sqlite")
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute("SELECT * FROM tasks ORDER BY position")]
    connection.close()
    return found


def test_what_agents_and_memories_see_of_a_task_is_a_number_and_an_instruction() -> None:
    assert [field.name for field in fields(Task)] == ["number", "instruction"]


def test_no_type_that_a_memory_or_judge_receives_has_room_for_a_score() -> None:
    assert [field.name for field in fields(Experience)] == ["episode", "verdict", "recall"]
    assert [field.name for field in fields(Episode)] == ["task", "opening", "steps", "end"]
    assert [field.name for field in fields(Verdict)] == ["outcome", "reason"]
    assert {field.name for field in fields(Recall)} == {"text", "items", "tools", "events"}


def test_every_configuration_names_what_it_makes() -> None:
    folder = Path(__file__).resolve().parents[2] / "configs" / "memory"
    for path in folder.glob("*.yaml"):
        assert yaml.safe_load(path.read_text())["name"] == path.stem
