"""A real run over ScienceWorld: how much of its time is the harness's own, against a bare loop of the same calls."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agents.base import Message
from scripts.bench import Row

TASKS = (13, 22, 35, 37, 40, 56)
STEPS = 20


def measure() -> Iterator[Row]:
    """See the module."""
    with tempfile.TemporaryDirectory() as folder:
        words = [f"results_dir={folder}", "env=scienceworld", f"env.step_limit={STEPS}", "memory=flat"]
        words.append(f"stream.tasks=[{','.join(map(str, TASKS))}]")
        subprocess.run([sys.executable, "-m", "scripts.run", *words], check=True, capture_output=True)
        (path,) = Path(folder).rglob("run.sqlite")
        whole, world, backbone, memory, steps = figures(path)
        loop = bare(path)
    harness = whole - world - backbone - memory
    yield "ScienceWorld, memory flat, reader: a task", whole / (len(TASKS) - 1), "s", None
    yield "  world", world / (len(TASKS) - 1), "s", None
    yield "  backbone (the reader)", backbone / (len(TASKS) - 1), "s", None
    yield "  memory (its embedder and its documents)", memory / (len(TASKS) - 1), "s", None
    yield "  harness", harness / (len(TASKS) - 1), "s", None
    yield "  share of the harness", 100 * harness / whole, "%", 5.0
    yield "  harness a step", 1000 * harness / steps, "ms", None
    yield "  ratio of the run to a bare loop of the same calls", whole / loop, "x", None


def figures(path: Path) -> tuple[float, float, float, float, int]:
    """Seconds in all, in the world, the backbone and the memory; and steps. No process start is in them."""
    connection = sqlite3.connect(path)
    row = connection.execute(
        "SELECT SUM(seconds), SUM(seconds_world), SUM(seconds_backbone), SUM(seconds_memory), SUM(steps) "
        "FROM tasks WHERE position > 1"
    ).fetchone()
    connection.close()
    return float(row[0]), float(row[1]), float(row[2]), float(row[3]), int(row[4])


def bare(path: Path) -> float:
    """Seconds of the same actions and the same requests in the simplest loop, after the first task."""
    from agents.client import Request
    from agents.reader.client import ReaderClient
    from envs.scienceworld import ScienceWorld

    connection = sqlite3.connect(path)
    environment, client = ScienceWorld(step_limit=STEPS), ReaderClient(0)
    tasks = environment.tasks()
    environment.open(tasks[TASKS[0] - 1]).close()  # starts the JVM
    messages: dict[str, Message] = {
        hash_: {"role": role, "content": content}
        for hash_, role, content in connection.execute("SELECT hash, role, content FROM messages")
    }
    began = time.perf_counter()
    for number in TASKS[1:]:
        world = environment.open(tasks[number - 1])
        asked = connection.execute(
            'SELECT messages, role FROM calls WHERE task = ? ORDER BY "index"', (number,)
        )
        for hashes, role in asked.fetchall():
            if role == "act":
                request = Request("reader", tuple(messages[h] for h in json.loads(hashes)), role, 0.0, 100)
                client.send(request)
        actions = connection.execute(
            "SELECT action FROM steps WHERE task = ? AND kind = 'act' ORDER BY \"index\"", (number,)
        )
        for (action,) in actions.fetchall():
            world.step(action)
        world.evaluate()
        world.close()
    seconds = time.perf_counter() - began
    environment.close()
    connection.close()
    return seconds
