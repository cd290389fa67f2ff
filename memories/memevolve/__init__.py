"""MemEvolve: the evolved system "cerebra fusion", a graph of successes, patterns, playbooks and checklists.

Paper: Zhang et al. 2025, "MemEvolve: Meta-Evolution of Agent Memory Systems" (arXiv 2512.18746). Official
repository: bingreeky/MemEvolve (Apache-2.0), provider `cerebra_fusion_memory`. Prompts are ours; no code is
copied.

Deviations, and why:
- The meta-evolution that found this architecture (tournaments over generated code) repeats attempts at
  the same tasks; a stream visits each task once. What is ported is its result, one instance for the whole
  stream, without the seeds that its authors wrote by hand.
- Success, also in an edge's record, is the run's one judge's verdict, not the benchmark's label.
- Only successes are encoded. A failure counts against the edges it was recalled over, an unreadable
  verdict counts for nothing.
- [ours], where the description is silent: an edge for similarity leads to the 5 nearest nodes above the
  threshold at most, so that the graph grows linearly; at most 3 neighbours are recalled; consolidation
  compares each node with the older ones of its kind; a merge keeps the older node, unites patterns and
  checklists by line, and takes the newer episode's success and playbook whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from envs.base import Task
from memories.base import Cosine, Edge, Event, Experience, Graph, Item, Node, Recall, Resources, Share
from memories.documents import Record, Value, refuse_unknown
from memories.memevolve.fusion import (
    KINDS,
    FusionNode,
    Kind,
    Link,
    fused,
    joined,
    taken_in,
    useless,
    with_neighbours,
)
from memories.memevolve.prompts import Encoded, encode_prompt
from memories.memevolve.tfidf import Tfidf
from memories.prompting import ask
from memories.store import STATE, Store, take_numbers, write_numbers

HEADINGS = {
    "success": "How a similar task was completed",
    "pattern": "Pattern",
    "playbook": "Playbook",
    "checklist": "Checklist",
}


class MemEvolve:
    """Recalls the nodes that score highest, and what lies beside them in the graph."""

    def __init__(
        self,
        resources: Resources,
        top: PositiveInt = 3,
        tfidf_share: Share = 0.2,
        neighbour_weight: Share = 0.7,
        minimum: Cosine = 0.22,
        neighbours: NonNegativeInt = 3,
        edge_cosine: Cosine = 0.75,
        edges: NonNegativeInt = 5,
        merge_every: PositiveInt = 50,
        merge_cosine: Cosine = 0.7,
        prune_used: PositiveInt = 10,
        prune_success: Share = 0.2,
        temperature: NonNegativeFloat | None = None,
        episode_tokens: PositiveInt = 6000,
    ) -> None:
        self.top, self.tfidf_share, self.minimum = top, tfidf_share, minimum
        self.neighbour_weight, self.neighbours = neighbour_weight, neighbours
        self.edge_cosine, self.edges = edge_cosine, edges
        self.merge_every, self.merge_cosine = merge_every, merge_cosine
        self.prune_used, self.prune_success = prune_used, prune_success
        self.temperature, self.episode_tokens = temperature, episode_tokens
        self._backbone = resources.backbone
        self._store = Store("nodes", resources.embedder, lambda node: node.content, _write, _read)
        self._tfidf = Tfidf()
        self._newer: dict[str, set[str]] = {}
        """The nodes whose links lead to a node."""
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """The best nodes and their neighbours, rendered as guidance."""
        words = self._tfidf.scores(task.instruction)
        scores = {
            id: fused(words[id], cosine, self.tfidf_share)
            for id, cosine in self._store.search(task.instruction)
        }
        hits = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[: self.top]
        around = {id: sorted({*self._store[id].links, *self._newer.get(id, ())}) for id, _ in hits}
        found = with_neighbours(hits, around, self.neighbour_weight, self.minimum, self.neighbours)
        events = []
        parts = ["Guidance from earlier tasks, the most relevant first."] if found else []
        for id, score, by in found:
            node = self._store[id]
            events.append(Event("retrieved", id, f"score {score:.3f}" + (f" beside {by}" if by else "")))
            if by:
                events.append(Event("edge_used", f"{max(id, by)} {min(id, by)}"))
            parts.append(f"## {HEADINGS[node.kind]} ({' '.join(node.about.split())})\n{node.text}")
        return Recall(
            "\n\n".join(parts), [Item(id, self._store[id].kind) for id, _, _ in found], events=events
        )

    def write(self, experience: Experience) -> None:
        """Credit the edges that were used; encode a success; every 50th, consolidate."""
        outcome = experience.verdict.outcome
        if outcome == "unreadable":
            self._numbers["unreadable"] += 1
            return
        self._credit(experience.recall, outcome == "success")
        if outcome != "success":
            return
        self._numbers["successes"] += 1
        answer = ask(
            self._backbone,
            encode_prompt(experience, self.episode_tokens),
            role="write",
            schema=Encoded,
            temperature=self.temperature,
        )
        if answer is None:
            self._numbers["malformed"] += 1
        else:
            self._store_encoded(answer, experience.episode.task)
        if self._numbers["successes"] % self.merge_every == 0:
            self._consolidate()

    def _credit(self, recall: Recall, success: bool) -> None:
        for event in recall.events:
            if event.kind == "edge_used":
                newer, _, older = event.item.partition(" ")
                if newer in self._store and (link := self._store[newer].links.get(older)):
                    counted = replace(link, used=link.used + 1, succeeded=link.succeeded + success)
                    self._relink(newer, {**self._store[newer].links, older: counted})

    def _store_encoded(self, encoded: Encoded, task: Task) -> None:
        texts: dict[Kind, str] = {
            "success": encoded.success.strip(),
            "pattern": encoded.pattern.strip(),
            "playbook": "\n".join(f"- {' '.join(step.split())}" for step in encoded.playbook if step.strip()),
            "checklist": "\n".join(
                f"- {' '.join(line.split())}" for line in encoded.checklist if line.strip()
            ),
        }
        new: list[str] = []
        for kind, text in texts.items():
            if not text:
                continue
            node = FusionNode(kind, task.number, task.instruction, text)
            near = self._store.search(node.content, self.edges, floor=self.edge_cosine, without=set(new))
            links = {id: Link("similar") for id, _ in near} | {id: Link("same_task") for id in new}
            id = self._store.add(node)
            self._tfidf.put(id, node.content)
            self._relink(id, links)
            new.append(id)

    def _relink(self, id: str, links: Mapping[str, Link]) -> None:
        node = self._store[id]
        for gone in node.links.keys() - links.keys():
            self._newer.get(gone, set()).discard(id)
        for older in links:
            self._newer.setdefault(older, set()).add(id)
        self._store.replace(id, replace(node, links=dict(sorted(links.items()))))

    def _consolidate(self) -> None:
        """Merge what says the same, then prune the edges that led to failures."""
        self._numbers["consolidations"] += 1
        for id in [id for id, node in self._store.items() if not node.settled]:
            node = self._store[id]
            near = self._store.search(node.content, floor=self.merge_cosine, without=(id,))
            older = [other for other, _ in near if other < id and self._store[other].kind == node.kind]
            if older:
                self._merge(older[0], id)
            else:
                self._store.replace(id, replace(node, settled=True))
        for id, node in list(self._store.items()):
            kept = {
                other: link
                for other, link in node.links.items()
                if not useless(link, self.prune_used, self.prune_success)
            }
            if len(kept) < len(node.links):
                self._numbers["pruned"] += len(node.links) - len(kept)
                self._relink(id, kept)

    def _merge(self, older: str, newer: str) -> None:
        gone = self._store[newer]
        ends = dict(gone.links) | {
            id: self._store[id].links[newer] for id in sorted(self._newer.get(newer, ()))
        }
        for id in sorted(self._newer.get(newer, ())):
            self._relink(id, {end: link for end, link in self._store[id].links.items() if end != newer})
        self._relink(newer, {})
        self._store.remove(newer)
        self._tfidf.remove(newer)
        self._newer.pop(newer, None)
        merged = taken_in(self._store[older], gone)
        self._store.replace(older, merged)
        self._tfidf.put(older, merged.content)
        for end, link in ends.items():
            if end != older:
                new, old = max(end, older), min(end, older)
                links = self._store[new].links
                self._relink(new, {**links, old: joined(links.get(old), link)})
        self._numbers["merged"] += 1

    def documents(self) -> Mapping[str, str]:
        """One document a node, with its edges to older ones."""
        numbers = {"nodes": self._store.made, **dict(sorted(self._numbers.items()))}
        return {STATE: write_numbers(numbers), **self._store.documents()}

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers.pop("nodes", 0))
        refuse_unknown(left, "memevolve")
        self._numbers, self._tfidf, self._newer = numbers, Tfidf(), {}
        for id, node in list(self._store.items()):
            self._tfidf.put(id, node.content)
            # A person may have deleted a node that others link to.
            known = {older: link for older, link in node.links.items() if older in self._store and older < id}
            self._relink(id, known)

    def counters(self) -> Mapping[str, float]:
        """nodes (and by kind), edges; successes encoded, consolidations, merged, pruned, malformed, unreadable."""
        nodes = [node for _, node in self._store.items()]
        kinds = Counter(node.kind for node in nodes)
        names = ("successes", "consolidations", "merged", "pruned", "malformed", "unreadable")
        return {
            "nodes": len(nodes),
            **{f"nodes_{kind}": kinds[kind] for kind in KINDS},
            "edges": sum(len(node.links) for node in nodes),
            **{name: self._numbers[name] for name in names},
        }

    def graph(self) -> Graph | None:
        """Nodes and edges."""
        nodes = [
            Node(id, node.kind, node.text.partition("\n")[0][:80], {"support": str(node.support)})
            for id, node in self._store.items()
        ]
        edges = [
            Edge(id, older, link.kind, f"{link.succeeded}/{link.used}")
            for id, node in self._store.items()
            for older, link in node.links.items()
        ]
        return Graph(nodes, edges)


def _write(node: FusionNode) -> Mapping[str, Value]:
    return {
        "kind": node.kind,
        "task": node.task,
        "about": node.about,
        "support": node.support,
        "settled": "yes" if node.settled else "no",
        "links": [
            f"{id} {link.kind} used {link.used} succeeded {link.succeeded}" for id, link in node.links.items()
        ],
        "text": node.text,
    }


def _read(record: Record) -> FusionNode:
    links = {}
    for line in record.texts("links"):
        match line.split():
            case [id, ("same_task" | "similar") as kind, "used", used, "succeeded", succeeded] if (
                used.isdecimal() and succeeded.isdecimal()
            ):
                links[id] = Link("same_task" if kind == "same_task" else "similar", int(used), int(succeeded))
            case _:
                raise record.error(f"{line!r} is no `ID same_task|similar used N succeeded N`", "links")
    named = record.choice("kind", KINDS)
    return FusionNode(
        next(one for one in KINDS if one == named),
        record.whole("task"),
        record.text("about"),
        record.filled("text"),
        record.whole("support"),
        record.choice("settled", ("yes", "no")) == "yes",
        dict(sorted(links.items())),
    )
