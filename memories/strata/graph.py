"""The typed graph G: nodes with views and bullets, call edges and three evolution relations (STRATA, "Graph").

Edges are stored on one node (calls and contrasts on the workflow, generalizes on the meta, merged_from on
the merged atomic) and indexed in both directions. A contrast is stored on the newer of the two and holds
both ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Kind = Literal["atomic", "workflow", "meta"]
KINDS: tuple[Kind, ...] = ("atomic", "workflow", "meta")
ATOMIC_TYPES = ("skill", "code", "role")
BulletKind = Literal["variant", "pitfall"]


@dataclass(frozen=True)
class Bullet:
    """One addition to a node: a variant from a solved episode or a pitfall from a failed one."""

    kind: BulletKind
    text: str
    task: int
    """Number of the task whose episode it came from."""
    member: str = ""
    """In a meta: the workflow that it is about."""


@dataclass(frozen=True)
class Node:
    """A node of G. `id` and `kind` never change; everything else is replaced by `Graph.put`."""

    id: str
    kind: Kind
    title: str
    applicability: str
    content: str
    """What it does: a workflow's numbered steps, an atomic's use, a meta's principle."""
    tags: tuple[str, ...] = ()
    type: str = ""
    """skill, code or role of an atomic node."""
    bullets: tuple[Bullet, ...] = ()
    calls: tuple[str, ...] = ()
    """workflow -> atomic, in call order."""
    contrasts: tuple[str, ...] = ()
    """workflow <-> workflow, both ways, stored on the newer one."""
    members: tuple[str, ...] = ()
    """generalizes: the workflows of a meta."""
    merged_from: tuple[str, ...] = ()
    """The atomics that this one combines."""
    live: bool = True
    """False for a tombstone: an atomic that was merged into another."""
    sources: tuple[int, ...] = ()
    """Numbers of the tasks that created or changed it, in order."""
    age: float = 0.0
    """Competitive age G of a workflow when the clock stood at `age_at`."""
    age_at: int = 0
    shown: int = 0
    """How many written tasks had it injected."""

    @property
    def number(self) -> int:
        """Creation order over all kinds: breaks ties."""
        return number_of(self.id)

    @property
    def content_view(self) -> str:
        """What it does, as embedded. Bullets are left out, so a workflow's views never change [ours]."""
        return f"{self.title}\n{self.content}"

    @property
    def index_view(self) -> str:
        """Applicability and goal, as embedded."""
        return f"{self.title}. {self.applicability}"


def number_of(node: str) -> int:
    """The creation number in an id: 12 for `w00012-melt-a-substance`."""
    return int(node[1:].partition("-")[0])


def make_id(kind: Kind, number: int, title: str) -> str:
    """A stable, readable id that is also a safe file name: `w00012-melt-a-substance`."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", plain)[:6])[:48].strip("-")
    return f"{kind[0]}{number:05d}-{slug or kind}"


class Graph:
    """Nodes by id in creation order, with every edge indexed in both directions."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.callers: dict[str, set[str]] = {}
        """atomic -> the workflows that call it."""
        self.opposed: dict[str, set[str]] = {}
        """workflow -> its contrast neighbours."""
        self.parents: dict[str, set[str]] = {}
        """workflow -> the metas that generalize it."""
        self.touched: set[str] = set()
        """Ids put or removed since whoever keeps documents cleared it."""
        self.counts: dict[str, int] = dict.fromkeys((*KINDS, *ATOMIC_TYPES), 0)
        self._live: dict[Kind, dict[str, None]] = {kind: {} for kind in KINDS}

    def __getitem__(self, node: str) -> Node:
        return self.nodes[node]

    def __contains__(self, node: object) -> bool:
        return node in self.nodes

    def live(self, kind: Kind) -> Iterator[Node]:
        """The live nodes of a kind, in creation order."""
        return (self.nodes[id] for id in self._live[kind])

    @property
    def contrast_pairs(self) -> int:
        """Number of unordered contrast pairs."""
        return sum(map(len, self.opposed.values())) // 2

    def put(self, node: Node) -> None:
        """Add a node or replace the one with its id."""
        old = self.nodes.get(node.id)
        if old is not None:
            self._unlink(old)
        self.nodes[node.id] = node
        if node.live:
            self._live[node.kind][node.id] = None
        else:
            self._live[node.kind].pop(node.id, None)
        self._link(node)
        self.touched.add(node.id)

    def remove(self, node: str) -> None:
        """Delete a node and every edge at it; the nodes that held such an edge are rewritten."""
        gone = self.nodes[node]
        for other in sorted(self.opposed.get(node, ()), key=number_of):
            self._drop(other, "contrasts", node)
        for other in sorted(self.parents.get(node, ()), key=number_of):
            self._drop(other, "members", node)
        for other in sorted(self.callers.get(node, ()), key=number_of):
            self._drop(other, "calls", node)
        self._unlink(gone)
        del self.nodes[node]
        self._live[gone.kind].pop(node, None)
        for index in (self.callers, self.opposed, self.parents):
            index.pop(node, None)
        self.touched.add(node)

    def _drop(self, holder: str, field: Literal["contrasts", "members", "calls"], target: str) -> None:
        node = self.nodes[holder]
        left = tuple(id for id in getattr(node, field) if id != target)
        if left != getattr(node, field):
            changed: dict[str, Any] = {field: left}
            self.put(replace(node, **changed))

    def _link(self, node: Node) -> None:
        self._count(node, 1)
        for target in node.calls:
            self.callers.setdefault(target, set()).add(node.id)
        for target in node.members:
            self.parents.setdefault(target, set()).add(node.id)
        for target in node.contrasts:
            self.opposed.setdefault(target, set()).add(node.id)
            self.opposed.setdefault(node.id, set()).add(target)

    def _unlink(self, node: Node) -> None:
        self._count(node, -1)
        for target in node.calls:
            self.callers.get(target, set()).discard(node.id)
        for target in node.members:
            self.parents.get(target, set()).discard(node.id)
        for target in node.contrasts:
            self.opposed.get(target, set()).discard(node.id)
            self.opposed.get(node.id, set()).discard(target)

    def _count(self, node: Node, by: int) -> None:
        if node.live:
            self.counts[node.kind] += by
            if node.type:
                self.counts[node.type] += by

    def dangling(self) -> list[tuple[str, str, str]]:
        """Edges whose target is missing or of the wrong kind, as (node, field, target); empty if sound."""
        wanted: Sequence[tuple[str, Kind]] = (
            ("calls", "atomic"),
            ("contrasts", "workflow"),
            ("members", "workflow"),
            ("merged_from", "atomic"),
        )
        return [
            (node.id, field, target)
            for node in self.nodes.values()
            for field, kind in wanted
            for target in getattr(node, field)
            if target not in self.nodes or self.nodes[target].kind != kind
        ]
