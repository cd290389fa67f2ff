"""A memory's graph as Graphviz text and as one self-contained page."""

from __future__ import annotations

import math
from html import escape

from memories.base import Graph, Node

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")


def dot(graph: Graph) -> str:
    """The graph in Graphviz's language; facts of a node become its tooltip."""
    kinds = _kinds(graph)
    lines = ["digraph memory {", "  rankdir=LR; node [shape=box, style=filled, fontname=sans];"]
    for node in graph.nodes:
        facts = "\n".join(f"{key}: {value}" for key, value in node.facts.items())
        lines.append(
            f"  {_quoted(node.id)} [label={_quoted(node.label or node.id)}, fillcolor={_quoted(kinds[node.kind])}, "
            f"tooltip={_quoted(facts)}];"
        )
    for edge in graph.edges:
        label = _quoted(edge.label or edge.kind)
        lines.append(
            f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={label}, style={_style(edge.kind)}];"
        )
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _style(kind: str) -> str:
    return "dashed" if kind == "contrasts" else "solid"


def _kinds(graph: Graph) -> dict[str, str]:
    kinds = sorted({node.kind for node in graph.nodes})
    return {kind: COLOURS[n % len(COLOURS)] for n, kind in enumerate(kinds)}


def html(graph: Graph, title: str) -> str:
    """One page without external resources: the drawing, a legend, and every node's facts. All text is escaped."""
    kinds, places = _kinds(graph), layout(graph)
    width = height = max(480, 90 * math.isqrt(max(len(graph.nodes), 1)) + 200)
    marks = [
        f'<line x1="{places[e.source][0] * width:.0f}" y1="{places[e.source][1] * height:.0f}" '
        f'x2="{places[e.target][0] * width:.0f}" y2="{places[e.target][1] * height:.0f}" '
        f'class="{_style(e.kind)}"><title>{escape(e.label or e.kind)}</title></line>'
        for e in graph.edges
        if e.source in places and e.target in places
    ]
    for node in graph.nodes:
        x, y = places[node.id][0] * width, places[node.id][1] * height
        facts = "\n".join([node.id, *(f"{key}: {value}" for key, value in node.facts.items())])
        marks.append(
            f'<g><circle cx="{x:.0f}" cy="{y:.0f}" r="9" fill="{kinds[node.kind]}">'
            f"<title>{escape(facts)}</title></circle>"
            f'<text x="{x + 12:.0f}" y="{y + 4:.0f}">{escape((node.label or node.id)[:40])}</text></g>'
        )
    legend = " ".join(f'<span style="color:{c}">&#9679;</span> {escape(k)}' for k, c in kinds.items())
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in (n.kind, n.id, n.label, _facts(n))) + "</tr>"
        for n in graph.nodes
    )
    style = (
        "body{font:14px sans-serif;margin:2em}line{stroke:#999}.dashed{stroke:#d33;stroke-dasharray:5}"
        "text{font:11px sans-serif}"
        "td,th{border-bottom:1px solid #ddd;padding:4px 8px;text-align:left;vertical-align:top}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{style}</style><h1>{escape(title)}</h1><p>{len(graph.nodes)} nodes, {len(graph.edges)} edges. "
        f'{legend}</p><svg width="{width}" height="{height}" role="img">{"".join(marks)}</svg>'
        f"<table><tr><th>kind</th><th>id</th><th>label</th><th>facts</th></tr>{rows}</table></html>"
    )


def _facts(node: Node) -> str:
    return "; ".join(f"{key}: {value}" for key, value in node.facts.items())


def layout(graph: Graph) -> dict[str, tuple[float, float]]:
    """A place in the unit square for each node; the same for the same graph."""
    import networkx

    drawn: networkx.Graph = networkx.Graph()
    drawn.add_nodes_from(node.id for node in graph.nodes)
    drawn.add_edges_from((e.source, e.target) for e in graph.edges if e.source in drawn and e.target in drawn)
    if not len(drawn):
        return {}
    places = networkx.spring_layout(drawn, seed=0, k=1.5 / math.sqrt(len(drawn)))
    return {
        id_: (0.06 + 0.42 * (float(x) + 1), 0.04 + 0.46 * (float(y) + 1)) for id_, (x, y) in places.items()
    }
