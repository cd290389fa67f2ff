"""A report from what the journal really writes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from envs.null import NullEnvironment
from harness.load import runs
from harness.metrics import groups, score
from harness.tables import tables
from memories.base import Memory, Recall, Resources
from tests.harness.rig import META, run


class Nothing:
    """A memory that keeps nothing."""

    def __init__(self, resources: Resources) -> None:
        pass

    def begin(self, task: object, observation: str) -> Recall:
        return Recall()

    def write(self, experience: object) -> None:
        pass

    def documents(self) -> dict[str, str]:
        return {}

    def load(self, documents: object) -> None:
        pass

    def counters(self) -> dict[str, float]:
        return {}

    def graph(self) -> None:
        return None


def _nothing(resources: Resources) -> Memory:
    return Nothing(resources)  # type: ignore[return-value]


def test_a_recorded_run_is_reported_with_its_calls_and_costs(tmp_path: Path) -> None:
    import sqlite3

    environment = NullEnvironment(size=6, steps=6)
    meta = {
        **META,
        "metrics": json.dumps([asdict(metric) for metric in environment.metrics]),
        "categories": json.dumps(dict(environment.categories)),
    }
    (tmp_path / "seed_0").mkdir()
    run(tmp_path / "seed_0", _nothing, environment=environment, meta=meta)
    (group,) = groups(runs(tmp_path))
    with sqlite3.connect(tmp_path / "seed_0" / "run.sqlite") as connection:
        successes = [json.loads(row[0])["success"] for row in connection.execute("SELECT metrics FROM tasks")]
        (calls,) = connection.execute("SELECT count(*) FROM calls").fetchone()
    assert group.finished
    assert score(group, group.first.metrics[0]).mean == pytest.approx(100 * sum(successes) / 6)
    assert group.first.served == "player-1"
    made = {table.name.split("_")[0]: table for table in tables(group.runs)}
    costs = made["runs"].rows[0][-1].value
    assert costs == pytest.approx(0.001 * calls)
