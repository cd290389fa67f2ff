"""The baseline memories' own cost over 2,000 experiences: a write, a retrieval, and what they hold.

Times are of this process's processor, backbone and embedder left out; the replies come from the reader's
rules. Bound: from 1,000 to 2,000 entries nothing grows by more than linear growth allows (2), with half of
it again for noise.
"""

from __future__ import annotations

import hashlib
import importlib
import re
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from agents.base import Episode, Message, Reply, Role, Step, Verdict
from agents.reader.answers import Prompt, rule_for
from envs.base import Task
from memories.awm import Workflows
from memories.base import Experience, Memory, Resources, Vectors

NAMES = ("flat", "reasoningbank", "amem", "expel", "awm", "mem0", "hermes", "memgen", "memevolve")
SIZES = (100, 1_000, 2_000)
WINDOW = 50
"""Writes and retrievals that a figure is the mean of; holds one consolidation of MemEvolve."""
LEAST_MS = 0.2
"""Ratios are taken of times of at least this much: less is noise."""

_WORKFLOWS = Workflows.model_validate(
    {
        "workflows": [
            {
                "name": f"flow {n}",
                "steps": [{"action": f"open {{door}} {n}"}, {"action": f"take {{thing}} {n}"}],
            }
            for n in range(8)
        ]
    }
)

Row = tuple[str, float, str, float | None]


class _Clock:
    """Processor time that was spent in backbone and embedder."""

    def __init__(self) -> None:
        self.away = 0.0

    def now(self) -> float:
        return time.process_time() - self.away


class _Embedder:
    """60 kinds of text: those of one kind are near, those of two are not."""

    name = "bench"
    dimension = 384

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        self.centres = np.random.default_rng(0).normal(size=(60, self.dimension))

    def embed(self, texts: Sequence[str]) -> Vectors:
        start = time.process_time()
        rows = [self._one(text) for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        self.clock.away += time.process_time() - start
        return vectors

    def _one(self, text: str) -> Any:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")
        kind = re.search(r"kind(\d+)", text)
        centre = self.centres[int(kind[1]) % 60] if kind else 0
        vector = centre + 0.7 * np.random.default_rng(seed).normal(size=self.dimension)
        return vector / np.linalg.norm(vector)


class _Backbone:
    """The reader's rules, at no time."""

    name = "bench"

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        import random

        start = time.process_time()
        assert schema is not None
        rule = rule_for(schema)
        assert rule is not None, f"no rule for {schema}"
        # A rule that reads 16,000 tokens at every write would be all that is waited for.
        answer = (
            _WORKFLOWS
            if schema is Workflows
            else rule(Prompt(tuple(messages), role, schema), random.Random(0))
        )
        data = answer if isinstance(answer, schema) else schema.model_validate(answer)
        self.clock.away += time.process_time() - start
        return Reply("", data)


def _experience(number: int, memory: Memory) -> tuple[Experience, float, float]:
    """An episode of 8 steps, with the start and end of its retrieval on the processor's clock."""
    kind = number * 7919 % 60
    task = Task(number, f"Do the task of kind{kind} with thing{number % 97} in place{number % 13}.")
    steps = tuple(
        Step(
            "act",
            "next",
            f"act{kind} on thing{number % 97} {n}",
            f"thing{number % 97} of kind{kind} is at {n}",
        )
        for n in range(8)
    )
    clock: _Clock = memory.clock  # type: ignore[attr-defined]
    start = clock.now()
    recall = memory.begin(task, "You are in the hall.")
    recall.before_step(())
    end = clock.now()
    verdict = Verdict("failure" if number % 3 == 0 else "success")
    return Experience(Episode(task, "You are in the hall.", steps, "finished"), verdict, recall), start, end


def build(name: str) -> Memory:
    """A memory as configured, on the bench's embedder and backbone."""
    import yaml

    path = Path(__file__).parents[1] / "configs" / "memory" / f"{name}.yaml"
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    module, _, cls = config["_target_"].rpartition(".")
    parameters = {k: v for k, v in config.items() if k not in ("_target_", "name", "label", "budget_tokens")}
    clock = _Clock()
    memory: Any = getattr(importlib.import_module(module), cls)(
        Resources(_Backbone(clock), _Embedder(clock)), **parameters
    )
    memory.clock = clock
    found: Memory = memory
    return found


def growth(name: str, sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, float, float, float]]:
    """(size, ms a write with its documents, ms a retrieval, MB held) at each of `sizes` experiences."""
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    memory = build(name)
    clock: _Clock = memory.clock  # type: ignore[attr-defined]
    reads = writes = 0.0
    for number in range(1, sizes[-1] + 1):
        if any(number == size - WINDOW + 1 for size in sizes):
            reads = writes = 0.0
        experience, start, end = _experience(number, memory)
        reads += end - start
        begun = clock.now()
        memory.write(experience)
        memory.documents()
        writes += clock.now() - begun
        if number in sizes:
            held = tracemalloc.get_traced_memory()[0] - base
            yield number, 1000 * writes / WINDOW, 1000 * reads / WINDOW, held / 1e6
    tracemalloc.stop()


def measure() -> Iterator[Row]:
    """Rows for `make bench`."""
    for name in NAMES:
        found = list(growth(name))
        for what, unit, place in (("a write", "ms", 1), ("a retrieval", "ms", 2), ("held", "MB", 3)):
            for row in found:
                yield f"{name}: {what} at {row[0]:,} experiences", row[place], unit, None
            floor = LEAST_MS if unit == "ms" else 0.5
            ratio = max(found[-1][place], floor) / max(found[-2][place], floor)
            yield f"{name}: {what}, growth from {found[-2][0]:,} to {found[-1][0]:,}", ratio, "x", 3.0
