"""The meta layer (STRATA, "Meta nodes"): communities of W become paradigms, old ones absorb newcomers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memories.strata import prompts, state
from memories.strata.communities import Edges, conductances
from memories.strata.graph import Bullet, Node
from memories.strata.markdown import many_lines, one_line
from memories.strata.reflect import Asker
from memories.strata.replies import MetaDraft, Route, Routes
from memories.strata.similarity import DECIMALS
from memories.strata.state import Entry
from memories.strata.store import Store
from memories.strata.tags import leading_tag

_SAME_MEMBERS = 0.5
"""Jaccard of the members from which a new meta is churn [ours]."""


def distance(centroid: Sequence[float], contents: Sequence[Sequence[float]]) -> list[float]:
    """1 - cos of a community's centroid to each meta's content embedding, rounded."""
    middle = np.asarray(centroid, dtype=np.float64)
    others = np.asarray(contents, dtype=np.float64)
    norms = np.linalg.norm(others, axis=1) * np.linalg.norm(middle)
    cosines = np.where(norms > 0, (others * middle).sum(axis=1) / np.maximum(norms, 1e-12), 0.0)
    result: list[float] = np.round(1.0 - cosines, DECIMALS).tolist()
    return result


def update_metas(store: Store, ask: Asker, edges: Edges, task: int) -> None:
    """Promote the communities of W that are large, tight and novel; let known metas absorb the others."""
    s = store.settings
    found = store.communities(edges)
    tight = [
        members
        for members, phi in zip(found, conductances(edges, found), strict=True)
        if len(members) >= s.min_members and phi < s.max_conductance
    ]
    ids = store.workflow_ids()
    for members in tight:
        _consider(store, ask, [ids[member] for member in members], task)


def _consider(store: Store, ask: Asker, community: list[str], task: int) -> None:
    """Create a meta, extend one, or do nothing because every member has one.

    `Unlinked` is a member in no meta. A community without any changes nothing, whichever meta is nearest
    [ours]: otherwise a paradigm far from its members' centroid would be created again in every round.
    """
    graph, s = store.graph, store.settings
    unlinked = [id for id in community if not graph.parents.get(id)]
    if not unlinked:
        return
    if not s.novelty_gate:
        if len(unlinked) >= s.min_members:
            _create(store, ask, unlinked, task)
        return
    metas = [node.id for node in graph.live("meta")]
    if metas:
        centroid = store.views.contents(community).astype(np.float64).mean(axis=0)
        distances = distance(centroid.tolist(), store.views.contents(metas).tolist())
        nearest = min(range(len(metas)), key=lambda place: (distances[place], place))
        if distances[nearest] < s.novelty:
            _extend(store, ask, graph[metas[nearest]], community, unlinked, task)
            return
    _create(store, ask, community, task)


def _create(store: Store, ask: Asker, members: list[str], task: int) -> None:
    nodes = [store.graph[id] for id in members]
    draft = ask.write(prompts.create_meta(nodes), MetaDraft)
    if draft is None:
        return
    title = one_line(draft.title) or "family"
    meta = Node(
        store.new_id("meta", title),
        "meta",
        title,
        one_line(draft.applicability),
        many_lines(draft.principle),
        tags=union_of_tags(nodes),
        bullets=_routing(ask, draft.routes, nodes, task),
        members=tuple(members),
        sources=(task,),
    )
    churn = _is_churn(store, meta)
    store.put(meta)
    store.count["metas_created"] += 1
    store.count["metas_churned"] += churn
    _record(store, task, "created", meta.id, churn, members)


def _extend(
    store: Store, ask: Asker, meta: Node, community: list[str], unlinked: list[str], task: int
) -> None:
    nodes = [store.graph[id] for id in unlinked]
    reply = ask.write(prompts.update_meta(meta, nodes), Routes)
    if reply is None:
        return
    tags = union_of_tags([store.graph[id] for id in community])
    if store.settings.meta_tags == "accumulate":
        tags = tuple(dict.fromkeys((*meta.tags, *tags)))
    store.retag(
        replace(
            meta,
            tags=tags,
            bullets=(*meta.bullets, *_routing(ask, reply.routes, nodes, task)),
            members=(*meta.members, *unlinked),
            sources=meta.sources if task in meta.sources else (*meta.sources, task),
        )
    )
    store.count["metas_updated"] += 1
    _record(store, task, "updated", meta.id, False, unlinked)


def union_of_tags(members: Sequence[Node]) -> tuple[str, ...]:
    """The tags of all members, in the order in which they appear."""
    return tuple(dict.fromkeys(tag for node in members for tag in node.tags))


def _routing(ask: Asker, routes: Sequence[Route], members: Sequence[Node], task: int) -> tuple[Bullet, ...]:
    """One variant bullet a member, keyed by when it applies; a member left out is keyed by its own words."""
    ask.known([route.member for route in routes], [node.id for node in members])
    given = {route.member.strip(): route for route in reversed(routes)}
    bullets = []
    for node in members:
        route = given.get(node.id)
        when = one_line(route.when if route else node.applicability).rstrip(".:")
        note = one_line(route.note) if route else ""
        text = f'{when}: follow "{node.title}"' + (f" ({note})" if note else "")
        bullets.append(Bullet("variant", text, task, node.id))
    return tuple(bullets)


def _is_churn(store: Store, meta: Node) -> bool:
    """Whether a new meta nearly repeats one that is there [ours]."""
    existing = list(store.graph.live("meta"))
    members = set(meta.members)
    if any(len(members & set(m.members)) / len(members | set(m.members)) >= _SAME_MEMBERS for m in existing):
        return True
    if not existing:
        return False
    scores = store.views.node_scores(store.view_of(meta))[store.views.rows("meta")]
    return bool(scores.max() > store.band(leading_tag(meta.tags))[1])


def _record(store: Store, task: int, what: str, meta: str, churn: bool, members: Sequence[str]) -> None:
    fields = (what, meta, "churn" if churn else "-", " ".join(members))
    store.state.add(Entry(task, state.META, fields))
