"""Small experience graphs for EvoWeave's tests, and the replies that grow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memories.evoweave.contracts import Operation, Parameter, Source, State
from memories.evoweave.graph import ExperienceGraph

Edge = tuple[int, int]


def graph_of(edges: Sequence[Edge], states: int = 0) -> ExperienceGraph:
    """States st0000.. and one operation an edge, op00000.., in the order given."""
    graph = ExperienceGraph()
    for number in range(max([states, *(max(edge) + 1 for edge in edges)])):
        graph.add_state(State(f"st{number:04d}", (f"s{number}",)))
    for number, (source, target) in enumerate(edges):
        graph.put(operation(number, source, target))
    return graph


def operation(number: int, source: int, target: int, description: str = "", **more: Any) -> Operation:
    """An operation between two numbered states."""
    return Operation(
        id=f"op{number:05d}",
        version=1,
        source=f"st{source:04d}",
        target=f"st{target:04d}",
        description=description or f"do {number}",
        provenance=(Source(1, 1, (1,), True),),
        **more,
    )


def parameters(**types: str) -> tuple[Parameter, ...]:
    """Parameters by name and type."""
    return tuple(Parameter(name, kind) for name, kind in types.items())


def proposal(steps: Sequence[int], description: str, **more: Any) -> dict[str, Any]:
    """A proposed operation that worked, from the start to `done`."""
    return {
        "steps": list(steps),
        "description": description,
        "source": [],
        "target": ["done(agent)"],
        "worked": True,
    } | more


def reflection(*operations: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A reflector's reply."""
    return {"history": [{"steps": [1], "what": "it went on"}], "operations": list(operations)} | more


def plan(*steps: tuple[str, str, Sequence[str]], **more: Any) -> dict[str, Any]:
    """A planner's reply: (id, description, after) a step."""
    return {
        "steps": [{"id": id, "description": text, "after": list(after)} for id, text, after in steps]
    } | more
