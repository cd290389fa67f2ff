"""Composition of STRATA's graph after a full pass, a row a setting (the paper's appendix A)."""

from __future__ import annotations

from collections.abc import Sequence

from harness import published
from harness.load import Run
from harness.metrics import Group
from harness.tables.base import Cell, Column, Table, legend
from harness.tables.panels import Panel, head, panels, setting_label, warnings
from harness.tables.published import shortfall
from harness.tables.strata_ablations import by_row
from harness.tables.strata_measures import of_group

ORDER = 92
_COLUMNS = (
    ("workflows", "Workflows", "workflows"),
    ("metas", "Metas", "metas"),
    ("atomics", "Atomics", ""),
    ("contrast_pairs", "Contrast edges", "contrast_edges"),
    ("deletions", "Deletions", "collected"),
    ("bridges", "Bridges spared", ""),
    ("support", "Members a meta", ""),
    ("injected_lines", "Injected lines", ""),
)
"""Measure, heading, name in results/paper/strata_quoted.csv."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone that has a run of the full system."""
    parts = (
        Panel(tuple(g for g in panel.groups if g.first.memory == "strata"), panel.number)
        for panel in panels(runs)
    )
    return [_table(part, paper) for part in parts if part.groups]


def _table(panel: Panel, paper: str | None) -> Table:
    theirs = {
        (row["setting"], row["metric"]): float(row["mean"])
        for row in published.read("strata_quoted.csv")
        if row["table"] == "graph"
    }
    groups = by_row(panel)["strata"]
    columns = [Column("setting", "Setting"), Column("tasks", "Tasks")]
    marks = {s: shortfall(groups[s], "strata")[0] if paper == "strata" else () for s in panel.settings}
    rows: list[list[Cell]] = [
        [Cell(setting_label(s)), Cell(_tasks(groups[s]), marks=marks[s])] for s in panel.settings
    ]
    for measure, heading, name in _COLUMNS:
        beside = paper == "strata" and any(
            (published.setting_of("strata", setting), name) in theirs for setting in panel.settings
        )
        columns += [
            Column(measure, heading),
            *([Column(f"{measure}_paper", "STRATA's paper")] if beside else []),
        ]
        for row, setting in zip(rows, panel.settings, strict=True):
            row.append(Cell(value=of_group(groups[setting]).get(measure), digits=1))
            if beside:
                value = theirs.get((published.setting_of("strata", setting), name))
                row.append(Cell(value=value, digits=1))
    return Table(
        name=f"strata_graph_{panel.slug}",
        title=f"STRATA's graph after the last task: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows),
        notes=(
            "Means over seeds. Contrast edges are unordered pairs. Workflows and metas are those that survive.",
            *warnings(panel.groups),
            *legend(rows),
        ),
        section="Memory composition",
    )


def _tasks(group: Group) -> str:
    """Tasks a seed; a range if the seeds differ."""
    counts = sorted({len(run.tasks) for run in group.runs})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
