"""The plan of the current task: a DAG of steps, made without looking at the memory (section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memories.evoweave.contracts import Parameter, Predicates


class PlanError(ValueError):
    """A plan that is no DAG of known, distinct steps: says which step and why."""


@dataclass(frozen=True)
class PlanStep:
    """One step; its id stays the same through every re-planning of the task."""

    id: str
    description: str
    """Abstract, verb first, like an operation's."""
    after: tuple[str, ...] = ()
    """Ids of the steps it directly depends on."""


@dataclass(frozen=True)
class Plan:
    """The remaining steps, and what is given at the start."""

    steps: tuple[PlanStep, ...]
    given: tuple[Parameter, ...] = ()
    facts: Predicates = ()
    """Normalised predicates that hold already."""

    def step(self, id: str) -> PlanStep:
        """The step of that id. Raises KeyError."""
        return next((step for step in self.steps if step.id == id), None) or _unknown(id)

    @property
    def dependencies(self) -> tuple[tuple[str, str], ...]:
        """All direct dependencies (i, j), j after i; in topological order of j, then of i."""
        order = {id: n for n, id in enumerate(topological([(step.id, step.after) for step in self.steps]))}
        pairs = [(before, step.id) for step in self.steps for before in step.after]
        return tuple(sorted(pairs, key=lambda pair: (order[pair[1]], order[pair[0]])))

    def ancestors(self, id: str) -> set[str]:
        """Ids of all steps that the step depends on, directly or not."""
        found: set[str] = set()
        waiting = list(self.step(id).after)
        while waiting:
            step = waiting.pop()
            if step not in found:
                found.add(step)
                waiting += self.step(step).after
        return found


def _unknown(id: str) -> PlanStep:
    raise KeyError(id)


def topological(steps: Sequence[tuple[str, Iterable[str]]]) -> list[str]:
    """Step ids so that each comes after all it depends on; otherwise in the order given.

    `steps` are (id, ids it depends on). Raises PlanError for a repeated or unknown id and for a cycle.
    A dependency that others imply is no error: it may be a second input of its own.
    """
    ids = [id for id, _ in steps]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise PlanError(f"step ids must differ: {', '.join(twice)} stand(s) there more than once")
    waiting: Mapping[str, set[str]] = {id: set(after) for id, after in steps}
    for id, after in waiting.items():
        strange = sorted(after - set(ids))
        if strange:
            raise PlanError(f"step {id} depends on {', '.join(strange)}, which is no step of the plan")
    order: list[str] = []
    while len(order) < len(ids):
        ready = next((id for id in ids if id not in order and waiting[id] <= set(order)), None)
        if ready is None:
            rest = ", ".join(id for id in ids if id not in order)
            raise PlanError(f"the dependencies of {rest} form a cycle")
        order.append(ready)
    return order
