"""EvoWeave at 400, 4,000 and 40,000 operations: candidates and connections, one write, and the search's bound.

python -m scripts.bench_evoweave
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from agents.base import Episode, Message, Reply, Role, Step, Verdict
from envs.base import Capability, Task
from memories.base import Experience, Recall, Resources, Vectors
from memories.evoweave.connect import MAX_EXPANSIONS
from memories.evoweave.contracts import Operation, Parameter, Source, State
from memories.evoweave.memory import EvoWeave
from memories.evoweave.plan import Plan, PlanStep
from memories.evoweave.prompts import Decision, Decisions, Reflection
from memories.evoweave.retrieval import Retrieval, retrieve

Measurement = tuple[str, float, str, float | None]
SIZES = (400, 4_000, 40_000)
DIMENSION = 384
STEPS = 6
NEAR = 4
"""Operations that share a direction, so that a step has more candidates than it may have."""


class Directions:
    """An embedder without a model: `do N ...` gets the unit vector of direction N."""

    name = "directions"
    dimension = DIMENSION

    def __init__(self, count: int) -> None:
        drawn = np.random.default_rng(0).normal(size=(count, DIMENSION)).astype(np.float32)
        self._vectors: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Rows of the fixed matrix; texts without a number get the first."""
        numbers = [next((int(word) for word in text.split() if word.isdigit()), 0) for text in texts]
        found: Vectors = self._vectors[[number % len(self._vectors) for number in numbers]]
        return found


class Answers:
    """A backbone that answers a reflection at once: the time measured is the memory's own."""

    name = "answers"

    def __init__(self, reflection: Reflection) -> None:
        self.reflection = reflection

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: object = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """The fixed reflection; every merge is new."""
        if schema is Decisions:
            return Reply("", Decisions(decisions=[Decision(proposal=n, decision="new") for n in range(1, 7)]))
        return Reply("", self.reflection)


def grown(size: int, hub: bool = False) -> EvoWeave:
    """A memory of `size` operations over size / 6 states, the paper's ratio; with a hub one in ten passes it."""
    words = ("lift", "lower", "carry", "turn", "read", "write")
    proposals = [
        {
            "steps": [n + 1],
            "description": f"{word} {{object}}",
            "source": [],
            "target": [f"{word}_done({{object}})"],
            "inputs": ["object: object"],
            "effects": [f"{word}_done({{object}})"],
            "bindings": {"object": "cup"},
            "worked": True,
        }
        for n, word in enumerate(words)
    ]
    history = [{"steps": [1], "what": "it went on"}]
    reflection = Reflection.model_validate({"history": history, "operations": proposals})
    embedder = Directions(size // NEAR + 1)
    capability = Capability("lift", "lift an object", "lift OBJ")
    memory = EvoWeave(Resources(Answers(reflection), embedder, (capability,), "text", 0))
    archive, rng = memory._archive, np.random.default_rng(size)
    states = max(size // 6, 2)
    for n in range(states):
        archive.graph.add_state(State(f"st{n + 1:04d}", (f"s{n}",)))
    ends = rng.integers(0, states, size=(size, 2))
    if hub:
        ends[::10, 0] = 0
        ends[5::10, 1] = 0
    for n, (source, target) in enumerate(ends.tolist()):
        operation = Operation(
            id=f"op{n + 1:05d}",
            version=1,
            source=f"st{source + 1:04d}",
            target=f"st{target + 1:04d}",
            description=f"do {n // NEAR}",
            inputs=(Parameter("object", "object"),),
            provenance=(Source(1, 1, (1,), True),),
        )
        archive._keep(operation)
        archive.index.add(operation.id, embedder.embed([operation.description])[0])
    return memory


def a_plan(memory: EvoWeave, seed: int) -> tuple[Plan, Vectors]:
    """A chain of six steps that match directions drawn by `seed`, and their vectors."""
    directions = len(memory._archive.graph.operations) // NEAR
    drawn = np.random.default_rng(seed).integers(0, directions, size=STEPS).tolist()
    steps = tuple(
        PlanStep(f"s{n}", f"do {number}", (f"s{n - 1}",) if n else ()) for n, number in enumerate(drawn)
    )
    return Plan(steps), memory._resources.embedder.embed([step.description for step in steps])


def search(memory: EvoWeave, seed: int) -> Retrieval:
    """Candidates and connections of one plan, its texts embedded already."""
    plan, vectors = a_plan(memory, seed)
    return retrieve(memory._archive.graph, memory._archive.index, plan, vectors, memory.limits)


def milliseconds(work: Callable[[int], object], times: int) -> float:
    """Median processor time of one call of `work`: one thread, no waiting, so that other load matters less."""
    found = []
    for n in range(times):
        start = time.process_time()
        work(n)
        found.append(1000 * (time.process_time() - start))
    return statistics.median(found)


def write(memory: EvoWeave, place: int) -> None:
    """One episode of six operations, replies at once, and the documents that a commit asks for."""
    number = place + 1
    steps = tuple(Step("act", "", f"do {n}", "It is done.") for n in range(6))
    episode = Episode(Task(number, "Do it."), "A room.", steps, "finished")
    memory.write(Experience(episode, Verdict("success"), Recall()))
    memory.documents()


def measure() -> list[Measurement]:
    """(name, value, unit, bound): the bound is what must hold, None where only the value is shown.

    `retrieve` is candidates, connections and assembly of a 6-step plan whose texts are embedded already.
    """
    found: list[Measurement] = []
    limit = 9 * (STEPS - 1) * MAX_EXPANSIONS
    for size in SIZES:
        for hub in (False, True):
            memory = grown(size, hub)
            search(memory, 999)
            name = f"evoweave, {size:,} operations{', hub' if hub else ''}"
            bound = 20.0 if size <= 4_000 else None
            found.append((f"{name}: retrieve", milliseconds(partial(search, memory), 20), "ms", bound))
            most = max(search(memory, seed).expansions for seed in range(20))
            found.append((f"{name}: expansions", float(most), "states", float(limit)))
            if not hub:
                found.append((f"{name}: one write", milliseconds(partial(write, memory), 15), "ms", bound))
    return found


def main() -> None:
    """Print every measurement."""
    for name, value, unit, bound in measure():
        print(f"{name}: {value:,.2f} {unit}" + (f" (bound {bound:g})" if bound is not None else ""))


if __name__ == "__main__":
    main()
