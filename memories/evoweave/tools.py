"""Active retrieval: what the agent may ask of the experience graph while it acts (section 3.3, B.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.base import Tool
from memories.base import Embedder
from memories.evoweave.capabilities import CapabilityStore
from memories.evoweave.connect import search_from
from memories.evoweave.graph import ExperienceGraph
from memories.evoweave.recall import EvoWeaveRecall
from memories.evoweave.rendering import capability_cards, card, details
from memories.evoweave.retrieval import Limits, embed
from memories.index import VectorIndex


@dataclass(frozen=True)
class Desk:
    """What the tools of one episode work on."""

    graph: ExperienceGraph
    index: VectorIndex
    capabilities: CapabilityStore
    embedder: Embedder
    limits: Limits
    end_states: bool
    """Whether cards show states, and `neighbors` and `path` exist (D and F)."""
    replan: Callable[[str], str]
    """Makes a new plan for the reason given; gives its text."""


def tools(desk: Desk, recall: EvoWeaveRecall, active: bool) -> list[Tool]:
    """Capability tools for every configuration; the graph's tools with `active` retrieval (E and F)."""
    work = _Tools(desk, recall)
    found = [
        Tool(
            "search_capabilities",
            "search_capabilities(text): cards of stored code and public apis",
            work.find,
        ),
        Tool("open_capability", "open_capability(id): the whole definition or code of one", work.body),
    ]
    if active:
        found = [
            Tool("open", "open(op00001): the whole contract and record of an operation", work.open),
            Tool(
                "search",
                "search(text): operations whose description means that, e.g. search(heat {object})",
                work.search,
            ),
            *found,
            Tool(
                "replan",
                "replan(reason): a new plan for what remains, kept steps keep their ids",
                work.replan,
            ),
        ]
    if active and desk.end_states:
        found += [
            Tool(
                "neighbors",
                "neighbors(op00001 or st0001): operations that come before and after",
                work.neighbors,
            ),
            Tool(
                "path",
                "path(from, to): how operations lead from one operation or state to another",
                work.path,
            ),
        ]
    return found


class _Tools:
    def __init__(self, desk: Desk, recall: EvoWeaveRecall) -> None:
        self.desk, self.recall = desk, recall

    def open(self, argument: str) -> str:
        if not self._pay():
            return self._spent()
        id = argument.split("@")[0].strip(" \"'[]")
        operation = self.desk.graph.operations.get(id)
        if operation is None:
            return f"There is no operation {id!r}. {self._example()}"
        self.recall.note("opened", id, "operation")
        note = f"\n  superseded by {operation.superseded_by}" if operation.superseded_by else ""
        return details(operation, self.desk.graph.states, self.desk.end_states) + note

    def search(self, argument: str) -> str:
        if not self._pay():
            return self._spent()
        text = argument.strip(" \"'")
        if not text:
            return "Say what the operation should do, e.g. search(measure {property} of {object})."
        limits = self.desk.limits
        [vector] = embed(self.desk.embedder, [text])
        hits = self.desk.index.search(vector, limits.max_cards + 1, floor=limits.operation_threshold)
        self.recall.note("searched", "", text)
        if not hits:
            return f"No operation is described like {text!r} (cosine {limits.operation_threshold} or more)."
        return self._cards([id for id, _ in hits], "search")

    def neighbors(self, argument: str) -> str:
        graph, id = self.desk.graph, argument.split("@")[0].strip(" \"'[]")
        if id in graph.operations:
            operation = graph.operations[id]
            before, after = graph.arriving(operation.source), graph.leaving(operation.target)
        elif id in graph.states:
            before, after = graph.arriving(id), graph.leaving(id)
        else:
            return f"There is no operation or state {id!r}. {self._example()}"
        self.recall.note("neighbors", id)
        most = self.desk.limits.max_cards
        room = max(most // 2, most - len(before))
        parts = []
        for name, ids, limit in (
            ("leads here", before, most - min(room, len(after))),
            ("follows", after, room),
        ):
            shown = [other for other in ids if other != id]
            parts.append(f"{name}:\n{self._cards(shown, 'neighbors', limit) if shown else 'nothing known'}")
        return "\n".join(parts)

    def path(self, argument: str) -> str:
        graph, limits = self.desk.graph, self.desk.limits
        ends = [part.split("@")[0].strip(" \"'[]") for part in argument.split(",")]
        unknown = [id for id in ends if id not in graph.operations and id not in graph.states]
        if len(ends) != 2 or unknown:
            return f"Name two operations or states: path(op00001, op00002). Unknown: {', '.join(unknown) or 'none'}."
        first, last = ends
        start = graph.operations[first].target if first in graph.operations else first
        end = graph.operations[last].source if last in graph.operations else last
        found = search_from(graph, start, {end}, limits.max_depth, limits.max_expansions)
        self.recall.note("path", "", f"{first} {last}")
        if end not in found.paths:
            why = (
                "no path in earlier experience"
                if found.exhausted
                else "the search was truncated by its limits"
            )
            return f"{first} -> {last}: {why}."
        ids = (
            [first] * (first in graph.operations) + [*found.paths[end]] + [last] * (last in graph.operations)
        )
        text = f"{first} -> {last}: {' => '.join(ids) or 'the same state'}"
        return f"{text}\n{self._cards(list(dict.fromkeys(ids)), 'path')}" if ids else text

    def find(self, argument: str) -> str:
        if not self._pay():
            return self._spent()
        limits, text = self.desk.limits, argument.strip(" \"'")
        cards = self.desk.capabilities.search(
            text, limits.api_threshold, limits.max_apis, limits.code_threshold, limits.max_codes
        )
        self.recall.note("searched_capabilities", "", text)
        for found in cards:
            self.recall.note("capability_card", found.id, found.kind)
        return capability_cards(cards) or f"No capability is described like {text!r}."

    def body(self, argument: str) -> str:
        if not self._pay():
            return self._spent()
        id = argument.strip(" \"'[]")
        body = self.desk.capabilities.body(id)
        if body is None:
            return f"There is no capability {id!r}: nothing is created for a guessed name. Use search_capabilities."
        self.recall.opened.add(id)
        self.recall.note("opened", id, "capability")
        return f"{id}:\n{body}"

    def replan(self, argument: str) -> str:
        return self.desk.replan(argument.strip(" \"'"))

    def _cards(self, ids: Sequence[str], by: str, most: int | None = None) -> str:
        limit = self.desk.limits.max_cards if most is None else most
        shown = ids[:limit]
        self.recall.show(shown, by)
        graph = self.desk.graph
        lines = [card(graph.operations[id], graph.states, self.desk.end_states) for id in shown]
        if len(ids) > limit:
            self.recall.note("truncated", "", f"{by}: more than {limit} cards")
            lines.append(f"(truncated: {limit} cards shown, more exist)")
        return "\n".join(lines)

    def _pay(self) -> bool:
        """Use one of the searches and openings that are allowed; False if none is left."""
        if self.recall.searches_left is None:
            return True
        if self.recall.searches_left <= 0:
            return False
        self.recall.searches_left -= 1
        return True

    def _spent(self) -> str:
        self.recall.tally["searches_refused"] += 1
        return "All searches and openings of this episode are used up."

    def _example(self) -> str:
        first = min(self.desk.graph.operations, default="")
        return f"Ids look like {first}." if first else "No operation is known yet."
