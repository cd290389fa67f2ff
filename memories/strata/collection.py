"""Collection on the store: delete under pressure, then let go what hung on the deleted (STRATA, "Forgetting")."""

from __future__ import annotations

from memories.strata import state
from memories.strata.communities import Edges
from memories.strata.forgetting import collect, survivors_wanted
from memories.strata.state import Entry
from memories.strata.store import Store


def collect_workflows(store: Store, edges: Edges, task: int) -> None:
    """If live workflows exceed the cap, delete down to cap (1 - hysteresis) and cascade."""
    s, graph = store.settings, store.graph
    if len(store.workflows) <= s.cap:
        return
    nodes = [graph[id] for id in store.workflow_ids()]
    ages = [store.age(node) for node in nodes]
    target = survivors_wanted(s.cap, s.hysteresis)
    deletions = collect(edges, ages, target, w_a=s.w_a, w_g=s.w_g, bridges=s.bridges)
    called = {call for deletion in deletions for call in nodes[deletion.row].calls}
    parents = {meta for deletion in deletions for meta in graph.parents.get(nodes[deletion.row].id, ())}
    for deletion in deletions:
        node = nodes[deletion.row]
        spared = nodes[deletion.spared].id if deletion.spared is not None else "-"
        sources = " ".join(map(str, node.sources))
        store.state.add(Entry(task, state.DELETED, (node.id, repr(deletion.quality), spared, sources)))
        store.count["bridges_spared"] += deletion.spared is not None
    store.count["deletions"] += len(deletions)
    store.remove([nodes[deletion.row].id for deletion in deletions])
    orphans = sorted(id for id in called if not graph.callers.get(id))
    empty = sorted(id for id in parents if not graph[id].members)
    store.count["atomics_cascaded"] += len(orphans)
    store.count["metas_cascaded"] += len(empty)
    store.remove([*with_tombstones(store, orphans), *empty])


def with_tombstones(store: Store, atomics: list[str]) -> list[str]:
    """Atomics followed by the tombstones merged into them, which would otherwise explain nothing."""
    found: list[str] = []
    waiting = list(atomics)
    while waiting:
        node = store.graph[waiting.pop(0)]
        found.append(node.id)
        waiting += [id for id in node.merged_from if id in store.graph]
    return list(dict.fromkeys(found))
