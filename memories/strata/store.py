"""The graph together with all that is derived from it, kept in step: views, W, thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from memories.base import DocumentError, Embedder, Vectors
from memories.strata import forgetting, markdown, state
from memories.strata.communities import Edges, louvain
from memories.strata.graph import Graph, Kind, Node, make_id, number_of
from memories.strata.settings import Settings
from memories.strata.similarity import Floats, View, exact
from memories.strata.state import Entry, State
from memories.strata.tags import leading_tag
from memories.strata.thresholds import Groups, threshold
from memories.strata.views import Rows, Views
from memories.strata.workflow_graph import WorkflowGraph

_VOCABULARY = 150
"""Tags shown in a prompt, the most used first [ours]."""


class Store:
    """G, its views, W and the observations behind the thresholds."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        self.settings = settings
        self.embedder = embedder
        self.graph = Graph()
        self.views = Views(embedder.dimension, settings.weights)
        self.workflows = WorkflowGraph()
        self.reflection = Groups()
        """S_g: similarities of drafted workflows to their nearest one."""
        self.linking = Groups()
        """R_g: best in-group scores of each workflow at its creation."""
        self.state = State()
        self._documents: dict[str, str] = {}
        self._tags: Counter[str] = Counter()
        self._bullets: dict[str, Vectors] = {}
        self._partition: tuple[Edges, list[list[int]]] | None = None

    @property
    def count(self) -> dict[str, int]:
        """The counters."""
        return self.state.count

    def vocabulary(self) -> list[str]:
        """Tags in use, the most used first."""
        ordered = sorted(self._tags.items(), key=lambda item: (-item[1], item[0]))
        return [tag for tag, used in ordered[:_VOCABULARY] if used]

    def new_id(self, kind: Kind, title: str) -> str:
        """The next id."""
        self.count["next_number"] += 1
        return make_id(kind, self.count["next_number"], title)

    def view_of(self, node: Node) -> View:
        """The views of a node, embedded."""
        content, index = self.embedder.embed([node.content_view, node.index_view])
        return View.of(content, index, node.tags, f"{node.content_view}\n{node.applicability}")

    def query(self, instruction: str, tags: Iterable[str]) -> View:
        """The views of a query: the instruction is both content and index [ours]."""
        vector = self.embedder.embed([instruction])[0]
        return View.of(vector, vector, tags, instruction)

    def put(self, node: Node, view: View | None = None) -> None:
        """Add a node or replace one whose views may have changed; without a view it is embedded here."""
        old = self.graph.nodes.get(node.id)
        view = view or self.view_of(node)
        if node.kind == "workflow" and old is None:
            self._link(node, view)
        if old is not None and old.live:
            self._tags.subtract(old.tags)
        self._tags.update(node.tags)
        self.views.put(node.id, node.number, node.kind, view)
        self.graph.put(node)

    def retag(self, node: Node) -> None:
        """Replace a node that differs in its tags and edges only."""
        self.put(node, replace(self.views.view(node.id), tags=frozenset(node.tags)))

    def touch(self, node: Node) -> None:
        """Replace a node whose views are the same."""
        self.graph.put(node)

    def bury(self, node: str) -> None:
        """Make an atomic a tombstone."""
        buried = self.graph[node]
        self.views.remove(node)
        self._tags.subtract(buried.tags)
        self.graph.put(replace(buried, live=False))

    def remove(self, nodes: Sequence[str]) -> None:
        """Delete nodes with their edges."""
        gone = []
        for node in nodes:
            removed = self.graph[node]
            if removed.live:
                self.views.remove(node)
                self._tags.subtract(removed.tags)
            for bullet in removed.bullets:
                self._bullets.pop(bullet.text, None)
            self.graph.remove(node)
            if removed.kind == "workflow":
                gone.append(removed.number)
        if gone:
            names = {number_of(id): id for id in self.views.row}
            self.workflows.remove(gone, lambda number: self.workflow_scores(self.views.view(names[number])))

    def _link(self, node: Node, view: View) -> None:
        group = leading_tag(node.tags)
        best = self.workflows.add(node.number, group, self.workflow_scores(view))
        if best:
            self.linking.add(group, best)
            values = " ".join(map(repr, best))
            self.state.add(Entry(node.sources[-1], state.EDGES, (group, node.id, values)))

    def rows(self) -> Rows:
        """Rows of the workflows in `views`, in creation order: the order of `workflows.numbers`."""
        return self.views.rows("workflow")

    def workflow_scores(self, view: View) -> Floats:
        """s_nn of a view to every workflow, in creation order."""
        scores: Floats = self.views.node_scores(view)[self.rows()]
        return scores

    def workflow_ids(self) -> list[str]:
        """The live workflows in creation order."""
        return [self.views.ids[row] for row in self.rows().tolist()]

    def nearest_workflow(self, scores: Floats) -> tuple[Node, float] | None:
        """The workflow with the highest of `scores` (in creation order), the older one of equals."""
        if not len(scores):
            return None
        place = int(np.argmax(scores))
        return self.graph[self.views.ids[int(self.rows()[place])]], float(scores[place])

    def with_operators(self, operators: Iterable[str]) -> list[Node]:
        """The live workflows that hold a tag of one of the operators, in creation order."""
        held = self.views.holders([f"op:{operator}" for operator in operators])
        return sorted((self.graph[id] for id in held if id[0] == "w"), key=lambda node: node.number)

    def nearest_atomics(self, query: View, k: int, type: str = "") -> list[Node]:
        """The `k` live atomics nearest to a query, of one type if given; best first, older first of equals."""
        rows = self.views.rows("atomic")
        scores = self.views.query_scores(query)[rows]
        order = np.lexsort((self.views.numbers()[rows], -scores))
        nodes = (self.graph[self.views.ids[int(rows[place])]] for place in order)
        return [node for node in nodes if not type or node.type == type][:k]

    def band(self, group: str) -> tuple[float, float]:
        """t_low(g) and t_high(g)."""
        held, s = self.reflection.of(group), self.settings
        return (
            threshold(held, s.p_low, s.low_prior, s.kappa, s.thresholds),
            threshold(held, s.p_high, s.high_prior, s.kappa, s.thresholds),
        )

    def edges(self) -> Edges:
        """W of this round."""
        s = self.settings

        def within(group: str) -> float:
            held = self.linking.of(group)
            return threshold(held, s.edge_quantile, s.edge_prior, s.edge_kappa, s.thresholds)

        return self.workflows.edges(within, s.edge_across)

    def communities(self, edges: Edges) -> list[list[int]]:
        """Louvain on W. Most writes leave W as it was: the same graph has the same communities."""
        if self._partition is None or not self._partition[0].same_as(edges):
            found = louvain(edges, self.settings.resolution, self.settings.seed)
            self._partition = (edges, found)
        return self._partition[1]

    def age(self, node: Node) -> float:
        """G of a workflow now."""
        alpha = self.settings.ageing.alpha
        return forgetting.age_at(node.age, node.age_at, self.count["clock"], alpha)

    def bullet_closeness(self, texts: Sequence[str], query: View) -> list[float]:
        """Cosine of each bullet's text to the query's content."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._bullets]
        if missing:
            self._bullets.update(zip(missing, exact(self.embedder.embed(missing)), strict=True))
        return [float(self._bullets[text] @ query.content) for text in texts]

    def documents(self) -> dict[str, str]:
        """The whole state; documents that did not change are the same strings."""
        for id in self.graph.touched:
            if id in self.graph:
                node = self.graph[id]
                self._documents[markdown.document_name(node)] = markdown.write_node(node)
            else:
                kind = {"a": "atomic", "w": "workflow", "m": "meta"}[id[0]]
                self._documents.pop(f"{kind}/{id}.md", None)
        self.graph.touched.clear()
        return self._documents | self.state.documents()


def load_store(documents: Mapping[str, str], settings: Settings, embedder: Embedder) -> Store:
    """The store whose `documents()` gave these, perhaps edited. Raises DocumentError."""
    store = Store(settings, embedder)
    below_state = {name: text for name, text in documents.items() if name.startswith("state/")}
    nodes = [markdown.read_node(name, documents[name]) for name in documents if name not in below_state]
    nodes.sort(key=lambda node: node.number)
    if nodes and not below_state:
        raise DocumentError(f"{state.COUNTERS} is missing: without it ages and ids cannot go on")
    for one, two in pairwise(nodes):
        if one.number == two.number:
            name = markdown.document_name(two)
            raise DocumentError(f"{name}: its number is taken by {markdown.document_name(one)}")
    store.state = state.read_state(below_state)
    store.count["next_number"] = max([store.count["next_number"], *(node.number for node in nodes[-1:])])
    for entry in store.state.entries:
        groups = {state.SCORE: store.reflection, state.EDGES: store.linking}.get(entry.kind)
        if groups is not None:
            groups.add(entry.fields[0], state.scores(entry))
    _restore(store, nodes)
    _refuse_dangling(store, documents)
    return store


def _restore(store: Store, nodes: Sequence[Node]) -> None:
    live = [node for node in nodes if node.live]
    texts = [text for node in live for text in (node.content_view, node.index_view)]
    vectors = store.embedder.embed(texts) if texts else np.zeros((0, store.embedder.dimension), np.float32)
    for place, node in enumerate(live):
        words = f"{node.content_view}\n{node.applicability}"
        view = View.of(vectors[2 * place], vectors[2 * place + 1], node.tags, words)
        store.views.put(node.id, node.number, node.kind, view)
        store._tags.update(node.tags)
    for node in nodes:
        store.graph.put(node)
    held = [node for node in live if node.kind == "workflow"]
    store.workflows.build(
        [node.number for node in held],
        [leading_tag(node.tags) for node in held],
        store.views.pair_scores(store.rows()),
    )


def _refuse_dangling(store: Store, documents: Mapping[str, str]) -> None:
    for id, field, target in store.graph.dangling():
        name = markdown.document_name(store.graph[id])
        lines = documents[name].split("\n")
        at = next(n for n, line in enumerate(lines, 1) if line.startswith(f"{field}:"))
        raise DocumentError(f"{name}, line {at}: {field} names {target!r}, which is no node that it can name")
