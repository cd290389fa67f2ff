"""kill -9 within a run of each method, twice, then the same run again: record and memory as if never killed."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from agents.reader.client import ReaderClient
from envs.null import NullEnvironment
from harness import database
from harness.assemble import build
from memories.base import Memory, Resources
from tests.harness import rig
from tests.harness.test_kill import Moments, in_child
from tests.harness.test_leakage import composed
from tests.memories.helpers import NAMES, config

CONFIGS = Path(__file__).parents[2] / "configs" / "memory"
METHODS = [name for name in NAMES if "defaults:" not in (CONFIGS / f"{name}.yaml").read_text()]
"""Ablations build on a method's file by `defaults`; the methods themselves do not."""


class Reader(ReaderClient):
    """The offline reader, whose replies count as paid ones here: each is kept as soon as it came."""

    paid = True
    moments: Moments

    def send(self, request):  # type: ignore[no-untyped-def]
        self.moments.pass_("call sent")
        reply = super().send(request)
        self.moments.pass_("call answered")
        return reply


def once(folder: Path, name: str, moments: Moments) -> None:
    """One process's work on the run."""
    values = composed(name)

    def memory(resources: Resources) -> Memory:
        made: Memory = build(values, "memory", resources)
        return made

    connect = database.connect

    def watched(path, **options):  # type: ignore[no-untyped-def]
        connection = connect(path, **options)
        connection.set_trace_callback(lambda statement: moments.pass_("sql"))
        return connection

    client = Reader(0)
    client.moments = moments
    database.connect = watched
    try:
        rig.run(folder, memory, client, environment=NullEnvironment(size=4, steps=5))
    finally:
        database.connect = connect


@pytest.mark.parametrize("name", METHODS)
def test_each_method_survives_kill_9(tmp_path: Path, name: str) -> None:
    assert config(name)["name"] == name
    moments, luck = Moments(), random.Random(name)
    once(tmp_path / "whole", name, moments)
    folder = tmp_path / "cut"
    for share in (0.3, 0.5):
        fatal = Moments(int(len(moments.names) * share * luck.uniform(0.5, 1.5)))
        assert in_child(lambda m=fatal: once(folder, name, m)) in (0, signal.SIGKILL)
    assert in_child(lambda: once(folder, name, Moments())) == 0
    assert rig.record(folder) == rig.record(tmp_path / "whole")
