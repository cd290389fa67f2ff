"""What the harness itself costs, on a world and a player that cost nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from agents.backbone import Model, for_all_roles
from agents.base import Verdict
from agents.client import RawReply, Request
from agents.loop import LoopOptions
from envs.base import Metric
from envs.null import NullEnvironment
from harness.budget import Budget, Caps
from harness.embeddings import JournalEmbedder
from harness.journal import Journal
from harness.progress import LineProgress, Running
from harness.recorder import JournalRecorder
from harness.records import TaskRecord
from harness.stream import Parts, StreamOptions, stream
from memories.base import Resources
from memories.embedder import Hashing
from memories.flat import Flat
from memories.index import VectorIndex
from scripts.bench import Row

META = dict.fromkeys(
    ("setting", "backbone", "memory", "variant", "seed", "judge", "metrics", "config"), "bench"
)


class Walker:
    """Never finds the lamp, so that every episode takes all its steps. Counts its own seconds."""

    model, paid = "walker", False
    seconds = 0.0

    def send(self, request: Request) -> RawReply:
        began = time.perf_counter()
        text = (
            '{"reason": "no", "outcome": "failure"}'
            if request.role == "judge"
            else "Thought: on\nAction: go hall"
        )
        self.seconds += time.perf_counter() - began
        return RawReply(text, 1, 1, model=self.model)


class Clocked:
    """A journal whose commits are timed."""

    def __init__(self, journal: Journal) -> None:
        self.journal, self.commits = journal, [0.0]
        self.commits.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.journal, name)

    def commit(self, record: TaskRecord, changes: Any) -> None:
        began = time.perf_counter()
        self.journal.commit(record, changes)
        self.commits.append(time.perf_counter() - began)


class Quiet(LineProgress):
    """Notes the processor time at which each task ended: other programs on the machine do not count."""

    def __init__(self, running: Running) -> None:
        super().__init__("bench", running)
        self.ends = [time.process_time()]

    def committed(self, record: TaskRecord) -> None:
        super().committed(record)
        self.ends.append(time.process_time())

    def say(self, text: str) -> None:
        """Nothing is printed; what it costs to word it is counted."""


class NoJudge:
    """A verdict without a call."""

    def read(self, episode: Any) -> Verdict:
        return Verdict("failure")


def walk(folder: Path, tasks: int, steps: int, padding: int) -> tuple[float, Clocked, Quiet, Walker]:
    """Seconds of a stream with memory flat, its commits, its task ends and its player."""
    environment, client = NullEnvironment(tasks, steps, padding), Walker()
    journal = Clocked(Journal(folder, META))
    recorder = JournalRecorder(journal, Budget(Caps(), 0, 0))  # type: ignore[arg-type]
    backbone = Model(for_all_roles(client), recorder)
    memory = Flat(Resources(backbone, JournalEmbedder(Hashing(), journal)))  # type: ignore[arg-type]
    progress = Quiet(Running(Metric("success_rate", "success", "percent"), journal.spent, False))
    parts = Parts(environment, LoopOptions(), backbone, NoJudge(), memory, journal, recorder, progress)  # type: ignore[arg-type]
    began = time.perf_counter()
    stream(parts, StreamOptions())
    seconds = time.perf_counter() - began
    journal.close()
    return seconds, journal, progress, client


def bare(tasks: int, steps: int, padding: int) -> float:
    """Seconds of the same steps and the same replies without any harness."""
    environment, client = NullEnvironment(tasks, steps, padding), Walker()
    began = time.perf_counter()
    for task in environment.tasks():
        world = environment.open(task)
        for _ in range(steps):
            messages: Any = ({"role": "user", "content": world.observation.text},)
            client.send(Request("walker", messages, "act", 0.0, 1))
            world.step("go hall")
    return time.perf_counter() - began


def measure() -> Iterator[Row]:
    """See the module."""
    yield "python -m scripts.run --help", median(help_seconds, 3), "s", 1.0
    with tempfile.TemporaryDirectory() as folder:
        seconds, journal, progress, client = walk(Path(folder), 1000, 20, 100)
    loop = bare(1000, 20, 100)
    yield "null world, 1,000 tasks of 20 steps, memory flat", seconds, "s", 60.0
    yield "  the bare loop of the same calls", loop, "s", None
    yield "  ratio to the bare loop", seconds / loop, "x", None
    cpu = progress.ends[-1] - progress.ends[0]
    yield (
        "  harness a step, processor time, commits included",
        1000 * (cpu - client.seconds) / 20_000,
        "ms",
        1.0,
    )
    yield "  a task's commit, median", 1000 * statistics.median(journal.commits), "ms", 15.0
    times = np.diff(progress.ends)
    yield (
        "  processor time a task, last 100 to first 100",
        float(np.median(times[-100:]) / np.median(times[:100])),
        "x",
        1.25,
    )
    yield from retrieval()


def help_seconds() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "scripts.run", "--help"], capture_output=True, check=True)
    return time.perf_counter() - began


def retrieval() -> Iterator[Row]:
    """The index against the bare matrix product, over 10,000 entries of 384 numbers."""
    luck = np.random.default_rng(0)
    vectors = luck.standard_normal((10_000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = VectorIndex(384)
    for number, vector in enumerate(vectors):
        index.add(f"e{number:05d}", vector)
    ours = median(lambda: timed(lambda: index.search(vectors[7], 3)), 41)
    product = median(lambda: timed(lambda: vectors @ vectors[7]), 41)
    yield "retrieval over 10,000 entries", 1000 * ours, "ms", None
    yield "  the bare matrix product", 1000 * product, "ms", None
    yield "  ratio", ours / product, "x", 1.5


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def median(measured: Callable[[], float], times: int) -> float:
    """The median of several measurements."""
    return statistics.median(measured() for _ in range(times))
