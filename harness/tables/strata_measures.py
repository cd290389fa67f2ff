"""What STRATA's tables measure of a run beyond its score, from its counters, its record and its documents.

Families are reporting metadata: the memory never sees them, so purity and regret are computed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.load import Run
from harness.metrics import Group, over_seeds
from harness.significance import mean


@dataclass(frozen=True)
class Measures:
    """One finished stream. None: there is nothing to measure (no meta, no deletion)."""

    workflows: float
    metas: float
    atomics: float
    contrast_pairs: float
    deletions: float
    bridges: float
    """Times the workflow of lowest quality was spared as a cut vertex."""
    injected_lines: float
    """Mean over tasks."""
    injection: float
    """Percent of tasks whose recall held a meta."""
    regret: float | None
    """Percent of deleted workflows whose task family recurs later."""
    support: float | None
    """Mean number of members of a meta."""
    purity: float | None
    """Mean over metas: percent of the members that come from the largest family."""
    churn: float | None
    """Percent of meta writes that create a near-duplicate of an existing meta."""


def measures(run: Run) -> Measures | None:
    """The measures of a run, None for a run without a task or without STRATA's documents."""
    tasks = run.tasks
    if not len(tasks) or not (counters := tasks["counters"].iloc[-1]) or "metas_created" not in counters:
        return None
    family = {int(n): str(f) for n, f in zip(tasks["number"], tasks["family"], strict=True)}
    position = {int(n): int(p) for n, p in zip(tasks["number"], tasks["position"], strict=True)}
    documents = final_documents(run)
    origin, members = _graph(documents)
    holds_meta = [any(kind == "meta" for _, kind in items) for items in tasks["items"]]
    writes = counters["metas_created"] + counters["metas_updated"]
    return Measures(
        workflows=counters["workflows"],
        metas=counters["metas"],
        atomics=counters["atomics"],
        contrast_pairs=counters["contrast_pairs"],
        deletions=counters["deletions"],
        bridges=counters["bridges_spared"],
        injected_lines=mean([float(lines) for lines in tasks["injected_lines"]]),
        injection=100 * mean([float(held) for held in holds_meta]),
        regret=regret(_deletions(documents), family, position),
        support=mean([float(len(found)) for found in members]) if members else None,
        purity=purity([[family.get(origin[id], "?") for id in found] for found in members]),
        churn=100 * counters["metas_churned"] / writes if writes else None,
    )


def purity(families: Sequence[Sequence[str]]) -> float | None:
    """Mean over metas of the percent of members in the largest family; `families` are each meta's."""
    shares = [max(Counter(found).values()) / len(found) for found in families if found]
    return 100 * mean(shares) if shares else None


def regret(
    deletions: Iterable[tuple[int, int]], family: Mapping[int, str], position: Mapping[int, int]
) -> float | None:
    """Percent of (task of the deletion, task that made the workflow) whose family recurs after the deletion."""
    last: dict[str, int] = {}
    for task, place in position.items():
        last[family[task]] = max(place, last.get(family[task], 0))
    found = [last[family[source]] > position[task] for task, source in deletions]
    return 100 * mean([float(recurs) for recurs in found]) if found else None


def final_documents(run: Run) -> dict[str, str]:
    """The memory's documents after the last task."""
    frame = run.frame("SELECT document, text FROM changes ORDER BY position")
    documents: dict[str, str] = {}
    for name, text in zip(frame["document"], frame["text"], strict=True):
        if not isinstance(text, str):
            documents.pop(str(name), None)
        else:
            documents[str(name)] = str(text)
    return documents


def _graph(documents: Mapping[str, str]) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    """The task that made each workflow, and the members of each meta."""
    from memories.strata.markdown import read_node

    nodes = [
        read_node(name, text) for name, text in documents.items() if name.startswith(("workflow/", "meta/"))
    ]
    origin = {node.id: node.sources[0] for node in nodes if node.kind == "workflow"}
    return origin, [node.members for node in nodes if node.kind == "meta" and node.members]


def _deletions(documents: Mapping[str, str]) -> list[tuple[int, int]]:
    """(task of the deletion, task that made the workflow) of every deletion."""
    from memories.strata.state import DELETED, read_record

    names = sorted(name for name in documents if name.startswith("state/record-"))
    entries = [entry for name in names for entry in read_record(name, documents[name])]
    return [(e.task, int(e.fields[3].split()[0])) for e in entries if e.kind == DELETED]


def of_group(group: Group) -> dict[str, float | None]:
    """Each measure as a mean over seeds; empty if a seed has none."""
    found = [measures(run) for run in group.runs]
    known = [vars(entry) for entry in found if entry is not None]
    if len(known) != len(found):
        return {}
    return {name: over_seeds(entry[name] for entry in known).mean for name in known[0]}
