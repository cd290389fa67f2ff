"""A subgraph as the agent reads it: meta, then workflow with its warnings, then atomic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memories.strata.graph import Bullet, Graph, Node
from memories.strata.retrieval import Subgraph
from memories.strata.tags import names

Chosen = Callable[[Node], Sequence[Bullet]]
"""The bullets of a node that are shown, in order."""


def render(graph: Graph, subgraph: Subgraph, chosen: Chosen) -> str:
    """The text to inject; empty if the subgraph is."""
    parts: list[str] = []

    def add(heading: str, texts: list[str]) -> None:
        if texts:
            parts.append("\n\n".join([f"## {heading}\n{texts[0]}", *texts[1:]]))

    add("Principles", [_node(graph[id], "Applies to", chosen) for id in subgraph.metas])
    add("Procedures", [_node(graph[id], "Use when", chosen) for id in subgraph.procedures])
    add("DO NOT CONFUSE", [_warning(graph[wrong], graph[right]) for wrong, right in subgraph.warnings])
    add("Skills", [_node(graph[id], "Use when", chosen) for id in subgraph.atomics])
    return "\n\n".join(parts)


def _node(node: Node, applies: str, chosen: Chosen) -> str:
    kind = f" ({node.type})" if node.type else ""
    lines = [f"### {node.title}{kind}", f"{applies}: {node.applicability}", node.content]
    for bullet in chosen(node):
        lines.append(f"- AVOID: {bullet.text}" if bullet.kind == "pitfall" else f"- {bullet.text}")
    return "\n".join(line for line in lines if line)


def _warning(wrong: Node, right: Node) -> str:
    does = " / ".join(names(wrong.tags, "op")) or "something else"
    wanted = " / ".join(names(right.tags, "op")) or "this task"
    return (
        f'WARNING: do not confuse {wanted} with its opposite, {does}. "{wrong.title}" is for another goal '
        f'({wrong.applicability}). Do not do what it does; follow "{right.title}".'
    )
