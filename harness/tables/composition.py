"""Memory composition: what each memory counts about itself at the end of its stream."""

from __future__ import annotations

from collections.abc import Sequence

from harness.load import Run
from harness.metrics import Group, over_seeds
from harness.tables.base import FEWER_TASKS, Cell, Column, Table, legend
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 90


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting whose memories count anything."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    return [made for made in map(_table, parts) if made.rows]


def counters(run: Run) -> dict[str, float]:
    """The memory's own counters after the run's last task."""
    kept = run.tasks["counters"].tolist()
    return {str(name): float(value) for name, value in kept[-1].items()} if kept else {}


def _rows(panel: Panel, group: Group) -> list[tuple[Cell, ...]]:
    per_seed = [counters(run) for run in group.runs]
    names = list(dict.fromkeys(name for found in per_seed for name in found))
    marks = (FEWER_TASKS,) if panel.unequal(group) else ()
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        values = over_seeds(found.get(name) for found in per_seed)
        whole = all(value == int(value) for value in values.values)
        digits = 0 if whole and len(values.values) == 1 else 1 if whole else 2
        cell = Cell(value=values.mean, sd=values.sd, digits=digits, marks=marks)
        rows.append(
            (Cell(panel.label(group)), Cell(name.replace("_", " ")), cell, Cell(f"{len(values.values)}"))
        )
    return rows


def _table(panel: Panel) -> Table:
    setting = panel.first.setting
    rows = tuple(row for group in panel.groups for row in _rows(panel, group))
    return Table(
        name=f"composition_{panel.slug}_{setting}",
        title=f"Memory composition on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=(
            Column("memory", "Memory"),
            Column("counter", "Counter"),
            Column("value", "After the last task"),
            Column("seeds", "Seeds"),
        ),
        rows=rows,
        notes=(
            "As each memory counts itself, cumulative over the stream.",
            *warnings(panel.groups),
            *legend(rows),
        ),
        section="Memory composition",
    )
