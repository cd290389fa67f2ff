"""Operation overlap within task types, and how often stored operations were referenced (appendix G)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from harness import published
from harness.load import Run
from harness.metrics import Group, over_seeds
from harness.significance import mean
from harness.tables.base import Cell, Column, Table, legend
from harness.tables.category import members
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 94
REFERENCED = "referenced"
"""Kind of the events that count."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting whose tasks have types and whose memory logs references."""
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            part = panel.of(setting)
            groups = tuple(g for g in part.groups if g.first.memory.startswith("evoweave"))
            if groups and groups[0].first.categories:
                made.append(_table(Panel(groups, part.number), paper))
    return made


def overlap(sets: Sequence[Collection[str]]) -> float | None:
    """Mean pairwise Jaccard similarity in percent; None below two sets. Empty sets are left out.

    Order, arguments and counts of operations are not part of the sets.
    """
    kept = [set(found) for found in sets if found]
    pairs = [len(one & two) / len(one | two) for one, two in combinations(kept, 2)]
    return 100 * mean(pairs) if pairs else None


def type_overlap(run: Run, category: str) -> float | None:
    """Overlap of the operation proxies of the tasks of one type."""
    inside = members(run, category)
    return overlap([found for found, kept in zip(run.tasks["operations"], inside, strict=True) if kept])


def reference_percent(run: Run, category: str) -> float | None:
    """Percent of the tasks of one type in whose episode a stored operation was referenced [ours].

    The paper does not define its percentage. Failed tasks are left out.
    """
    inside = members(run, category)
    rows = zip(run.tasks["events"], run.tasks["failed"], inside, strict=True)
    found = [
        any(event[0] == REFERENCED for event in events)
        for events, failed, kept in rows
        if kept and not failed
    ]
    return 100 * mean([float(each) for each in found]) if found else None


def _rows(panel: Panel, group: Group) -> list[tuple[Cell, ...]]:
    longest = max(group.runs, key=lambda run: len(run.tasks))
    rows: list[tuple[Cell, ...]] = []
    kept: list[tuple[float | None, float | None]] = []
    for key, label in longest.categories.items():
        count = sum(members(longest, key))
        if not count:
            continue
        within = type_overlap(longest, key)
        referenced = over_seeds(reference_percent(run, key) for run in group.runs)
        kept.append((within, referenced.mean))
        rows.append(
            (
                Cell(panel.label(group)),
                Cell(label),
                Cell(str(count)),
                Cell(value=within, digits=1),
                Cell(value=referenced.mean, sd=referenced.sd, digits=1),
            )
        )
    means = [[value for value in column if value is not None] for column in zip(*kept, strict=True)]
    if rows:
        overall = [Cell(value=mean(column) if column else None, digits=1) for column in means]
        rows.append((Cell(panel.label(group)), Cell("equal mean of types"), Cell(str(len(rows))), *overall))
    return rows


def _table(panel: Panel, paper: str | None) -> Table:
    setting = panel.first.setting
    rows = [row for group in panel.groups for row in _rows(panel, group)]
    if paper == "evoweave":
        for row in published.read("evoweave_overlap.csv"):
            if row["setting"] == setting:
                values = [float(row["operation_overlap_percent"]), float(row["reference_percent"])]
                rows.append(
                    (
                        Cell("EvoWeave's paper"),
                        Cell("equal mean of types"),
                        Cell(row["types"]),
                        *(Cell(value=value, digits=1) for value in values),
                    )
                )
    return Table(
        name=f"evoweave_overlap_{panel.slug}_{setting}",
        title=f"Operation overlap and references by type on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=(
            Column("memory", "Memory"),
            Column("type", "Type"),
            Column("tasks", "Tasks (types in the mean)"),
            Column("overlap", "Overlap (%)"),
            Column("referenced", "Tasks with a reference (%)"),
        ),
        rows=tuple(rows),
        notes=(
            "Overlap: mean pairwise Jaccard similarity of the tasks' operation proxies within a type, pairs across "
            "types left out; memberships may overlap.",
            "Reference: share of tasks in which agent or reflection named a stored operation. The paper does not "
            "define its percentage, so no difference is taken.",
            *warnings(panel.groups),
            *legend(rows),
        ),
        section="Operation reuse",
    )
