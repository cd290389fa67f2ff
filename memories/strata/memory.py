"""STRATA: a self-maintaining graph of structured experience.

Source: "STRATA: Self-Maintaining Structured Experience Graphs for Self-Evolving Language Agents". What the
paper does not give is marked [ours] where it stands and in configs/memory/strata.yaml. The paper's "outcome"
is the judge's verdict here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from envs.base import Task
from memories.base import Edge, Event, Experience, Graph, Item, Node, Recall, Resources
from memories.prompting import ask
from memories.strata import prompts
from memories.strata.collection import collect_workflows
from memories.strata.communities import UNIT, pairs
from memories.strata.forgetting import Ageing, lost, quality, won
from memories.strata.graph import Bullet
from memories.strata.graph import Node as StoredNode
from memories.strata.metas import update_metas
from memories.strata.reflect import Asker, Reflector
from memories.strata.render import render
from memories.strata.replies import QueryTags
from memories.strata.retrieval import Subgraph, expand, ranking
from memories.strata.settings import Settings
from memories.strata.similarity import Floats, View, Weights
from memories.strata.store import Store, load_store
from memories.strata.tags import Lexicon, read_tags, tags_by_rule


@dataclass
class StrataRecall(Recall):
    """A recall that notes what retrieval should change: `write` applies it."""

    query: View | None = None
    query_tags: tuple[str, ...] = ()
    competitors: tuple[tuple[str, float], ...] = ()
    """Workflows among the top 2k of the ranking with their raw scores; the first is the winner."""
    subgraph: Subgraph = field(default_factory=Subgraph)
    malformed: int = 0
    rejected_tags: int = 0


class Strata:
    """The memory. Parameters: see configs/memory/strata.yaml."""

    def __init__(
        self,
        resources: Resources,
        *,
        weights: Mapping[str, float] | None = None,
        ageing: Mapping[str, float] | None = None,
        opposites: Sequence[Sequence[str]] | None = None,
        synonyms: Mapping[str, str] | None = None,
        hand_pairs: Sequence[Sequence[Sequence[str]]] = (),
        **parameters: Any,
    ) -> None:
        given: dict[str, Any] = dict(parameters)
        if weights is not None:
            given["weights"] = Weights.of(weights)
        if ageing is not None:
            given["ageing"] = Ageing(**ageing)
        words: dict[str, Any] = {"opposites": opposites, "synonyms": synonyms}
        given["lexicon"] = Lexicon(**{key: value for key, value in words.items() if value is not None})
        given["hand_pairs"] = tuple((tuple(left), tuple(right)) for left, right in hand_pairs)
        self.settings = Settings(seed=resources.seed, **given)
        self.resources = resources
        self._use(Store(self.settings, resources.embedder))

    def _use(self, store: Store) -> None:
        self.store = store
        self._asker = Asker(self.resources.backbone, store)

    def begin(self, task: Task, observation: str) -> StrataRecall:
        """Retrieve a subgraph for a task; nothing if no node clears the gate."""
        recall = StrataRecall()
        if not len(self.store.views):
            return recall
        recall.query_tags = self._query_tags(task.instruction, recall)
        recall.query = self.store.query(task.instruction, recall.query_tags)
        scores = self.store.views.query_scores(recall.query)
        ranked = self._rank(scores)
        recall.competitors = tuple(
            (id, score) for id, score in ranked if self.store.graph[id].kind == "workflow"
        )
        seeds = ranked[: self.settings.top_k]
        recall.subgraph = self._expand([id for id, _ in seeds], scores, recall.query_tags)
        chosen = partial(self._bullets, query=recall.query)
        recall.text = render(self.store.graph, recall.subgraph, chosen)
        recall.items = self._items(recall.subgraph)
        recall.events += [Event("retrieved", id, f"s={score:.6f}") for id, score in seeds]
        recall.events += [Event("warned", wrong, right) for wrong, right in recall.subgraph.warnings]
        return recall

    def _query_tags(self, instruction: str, recall: StrataRecall) -> tuple[str, ...]:
        """The query in the tag space: one call, or by rule if its reply stays malformed."""
        used = self.store.vocabulary()
        messages = prompts.tag_task(instruction, used)
        reply = ask(self.resources.backbone, messages, role="retrieve", schema=QueryTags)
        if reply is None:
            recall.malformed += 1
            recall.events.append(Event("malformed", detail="query tags"))
            return tags_by_rule(instruction, used, self.settings.lexicon)
        tags, recall.rejected_tags = read_tags(reply.tags)
        return tags

    def _rank(self, scores: Floats) -> list[tuple[str, float]]:
        """The top 2k admitted nodes with their raw scores, best first."""
        s, views = self.settings, self.store.views
        # ord: meta 0, workflow 1, atomic 2; graph.KINDS lists them the other way round, a dead row is -1.
        order = 2 - views.kinds()
        rows = ranking(scores, order, views.numbers(), s.gate, s.layer_bias, 2 * s.top_k)
        return [(views.ids[row], float(scores[row])) for row in rows]

    def _expand(self, seeds: Sequence[str], scores: Floats, query_tags: Sequence[str]) -> Subgraph:
        s, views = self.settings, self.store.views

        def score(node: str) -> float:
            return float(scores[views.row[node]])

        graph = self.store.graph
        return expand(graph, seeds, score, query_tags, s.lexicon, s.gate, s.contrasts_shown)

    def _bullets(self, node: StoredNode, query: View) -> list[Bullet]:
        """The bullets nearest to the query, the older first of equals."""
        closeness = self.store.bullet_closeness([bullet.text for bullet in node.bullets], query)
        order = sorted(range(len(closeness)), key=lambda place: (-closeness[place], place))
        return [node.bullets[place] for place in order[: self.settings.bullets_shown]]

    def _items(self, subgraph: Subgraph) -> list[Item]:
        wrong = tuple(wrong for wrong, _ in subgraph.warnings)
        ids = dict.fromkeys((*subgraph.metas, *subgraph.procedures, *wrong, *subgraph.atomics))
        return [Item(id, self.store.graph[id].kind) for id in ids]

    def write(self, experience: Experience) -> None:
        """Age, reflect, update the meta layer, collect: the cycle's order."""
        recall = experience.recall if isinstance(experience.recall, StrataRecall) else StrataRecall()
        task = experience.episode.task
        self._account(recall)
        outcome = experience.verdict.outcome
        if outcome == "unreadable":
            self.store.count["unreadable"] += 1
            return
        query = recall.query or self.store.query(task.instruction, recall.query_tags)
        reflector = Reflector(self._asker, experience, query, recall.query_tags)
        if outcome == "success":
            reflector.solved()
        else:
            reflector.failed()
        edges = self.store.edges()
        if self.settings.meta:
            update_metas(self.store, self._asker, edges, task.number)
        if self.settings.collection:
            collect_workflows(self.store, edges, task.number)

    def _account(self, recall: StrataRecall) -> None:
        """Apply what retrieval noted: ages, how often a workflow was shown, counters."""
        count, store = self.store.count, self.store
        count["clock"] += 1
        count["recalls"] += 1
        count["malformed"] += recall.malformed
        count["rejected_tags"] += recall.rejected_tags
        count["injected"] += bool(recall.text)
        count["injected_meta"] += bool(recall.subgraph.metas)
        count["injected_contrast"] += bool(recall.subgraph.warnings)
        ageing = self.settings.ageing
        for place, (id, score) in enumerate(recall.competitors):
            if id not in store.graph:
                continue
            node = store.graph[id]
            age = store.age(node)
            winner = recall.competitors[0][1]
            age = lost(age, score, winner, ageing.beta) if place else won(age, ageing.gamma)
            store.touch(replace(node, age=age, age_at=count["clock"]))
        for id in recall.subgraph.procedures:
            if id in store.graph:
                node = store.graph[id]
                store.touch(replace(node, shown=node.shown + 1))

    def documents(self) -> Mapping[str, str]:
        """Typed markdown: `atomic/`, `workflow/`, `meta/` and `state/`."""
        return self.store.documents()

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError, and then the memory is as it was."""
        self._use(load_store(documents, self.settings, self.resources.embedder))

    def counters(self) -> Mapping[str, float]:
        """What the graph holds, then what happened over the stream."""
        graph, count = self.store.graph, self.store.count
        metas = [len(node.members) for node in graph.live("meta")]
        held = {
            "workflows": graph.counts["workflow"],
            "metas": graph.counts["meta"],
            "atomics": graph.counts["atomic"],
            "skills": graph.counts["skill"],
            "codes": graph.counts["code"],
            "roles": graph.counts["role"],
            "contrast_pairs": graph.contrast_pairs,
            "calls": sum(len(node.calls) for node in graph.live("workflow")),
            "bullets": sum(len(node.bullets) for node in graph.nodes.values()),
            "meta_support": sum(metas) / len(metas) if metas else 0.0,
        }
        happened = {name: value for name, value in count.items() if name not in ("clock", "next_number")}
        return {name: float(value) for name, value in (held | happened).items()}

    def graph(self) -> Graph:
        """The live graph with the edges of W."""
        store = self.store
        edges = store.edges()
        workflows = [store.graph[id] for id in store.workflow_ids()]
        ages = [store.age(node) for node in workflows]
        degrees = edges.degrees().tolist()
        s = self.settings
        worth: Any = quality(degrees, ages, s.w_a, s.w_g) if workflows else ()
        facts = {
            node.id: {"age": f"{age:.3f}", "quality": f"{q:.3f}", "shown": str(node.shown)}
            for node, age, q in zip(workflows, ages, worth, strict=True)
        }
        nodes = [
            Node(
                node.id,
                node.type or node.kind,
                node.title,
                {"tags": " ".join(node.tags), "bullets": str(len(node.bullets))} | facts.get(node.id, {}),
            )
            for node in store.graph.nodes.values()
            if node.live
        ]
        drawn = [
            Edge(node.id, target, kind)
            for node in store.graph.nodes.values()
            for name, kind in (("calls", "call"), ("members", "generalizes"), ("contrasts", "contrasts"))
            for target in getattr(node, name)
        ]
        drawn += [
            Edge(workflows[one].id, workflows[other].id, "similar", f"{weight / UNIT:.2f}")
            for one, other, weight in pairs(edges)
        ]
        return Graph(nodes, drawn)
