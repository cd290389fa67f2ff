"""A memory's graph as Graphviz text and as a page: everything from a memory is escaped."""

from __future__ import annotations

from harness.drawing import dot, html, layout
from memories.base import Edge, Graph, Node

HOSTILE = '</svg><script>alert("x")</script> "quoted" \\ back'
GRAPH = Graph(
    [
        Node("a", "workflow", HOSTILE, {"tags": "op:heat\nobj:tin"}),
        Node("b", "meta", "Heating"),
        Node("c", "workflow", ""),
    ],
    [Edge("b", "a", "generalizes"), Edge("a", "c", "contrasts", HOSTILE), Edge("a", "gone", "call")],
)  # fmt: skip


def test_dot_quotes_what_a_memory_says() -> None:
    text = dot(GRAPH)
    assert (
        '"a" -> "c" [label="</svg><script>alert(\\"x\\")</script> \\"quoted\\" \\\\ back", style=dashed];'
        in text
    )
    assert '"b" -> "a" [label="generalizes", style=solid];' in text
    assert 'tooltip="tags: op:heat\\nobj:tin"' in text
    assert text.count("{") == text.count("}") == 1


def test_the_page_escapes_and_needs_nothing_from_outside() -> None:
    page = html(GRAPH, HOSTILE)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "http://" not in page and "https://" not in page
    assert (
        page.count("<circle") == 3 and page.count("<line") == 2
    )  # an edge to a node that is gone is left out


def test_places_are_inside_the_picture_and_the_same_each_time() -> None:
    places = layout(GRAPH)
    assert places == layout(GRAPH) and set(places) == {"a", "b", "c"}
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in places.values())
    assert layout(Graph([], [])) == {} and "0 nodes" in html(Graph([], []), "empty")
