"""All official scores of a setting that has more than the papers' main tables show."""

from __future__ import annotations

from collections.abc import Sequence

from harness.load import Run
from harness.metrics import Group, metric_label, score
from harness.tables.base import FEWER_TASKS, Cell, Column, Table, legend, rank_columns
from harness.tables.panels import Panel, head, headline, panels, setting_label, warnings

ORDER = 15


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting, as the environment evaluates it: nothing clamped by us."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    return [_table(part) for part in parts if len(part.first.metrics) > len(headline(part.first))]


def _table(panel: Panel) -> Table:
    metrics = panel.first.metrics
    columns = [Column("memory", "Memory")]
    columns += [Column(metric.name, metric_label(metric), "high") for metric in metrics]
    rows = rank_columns(columns, [_row(panel, group) for group in panel.groups])
    setting = panel.first.setting
    return Table(
        name=f"scores_{panel.slug}_{setting}",
        title=f"All scores on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=rows,
        notes=("Published harnesses differ in which they report. Failed tasks left out.",
               *warnings(panel.groups), *legend(rows)),
        section="Main results",
    )  # fmt: skip


def _row(panel: Panel, group: Group) -> list[Cell]:
    short = panel.unequal(group)
    cells = [Cell(panel.label(group))]
    for metric in panel.first.metrics:
        entry = score(group, metric)
        marks = (FEWER_TASKS,) if short else ()
        cells.append(Cell(value=entry.mean, sd=entry.sd, marks=marks, ranked=not short))
    return cells
