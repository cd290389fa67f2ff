"""Stream curves as data: score, injected tokens and memory size at every position."""

from __future__ import annotations

from collections.abc import Sequence

from harness.curves import Point, curve, window_of
from harness.load import Run
from harness.metrics import metric_label
from harness.tables.base import Cell, Column, Table
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 80
PLACES = 8
"""Positions that the readable table shows [ours]."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """Per backbone and setting: a short table to read, and every position as CSV."""
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            part = panel.of(setting)
            curves = [(part.label(group), curve(group, paper)) for group in part.groups]
            if any(points for _, points in curves):
                made += [_table(part, curves, short=True), _table(part, curves, short=False)]
    return made


def chosen(last: int) -> list[int]:
    """About `PLACES` positions spread evenly over a stream of `last`, the last one among them."""
    return sorted({max(1, round(last * place / PLACES)) for place in range(1, PLACES + 1)})


def _table(panel: Panel, curves: Sequence[tuple[str, Sequence[Point]]], *, short: bool) -> Table:
    setting, metric = panel.first.setting, metric_label(panel.first.metrics[0])
    last = max(points[-1].position for _, points in curves if points)
    places = set(chosen(last)) if short else set(range(1, last + 1))
    rows = [
        (
            Cell(label),
            Cell(str(point.position)),
            Cell(value=point.cumulative),
            Cell(value=point.moving),
            Cell(value=point.injected, digits=1),
            Cell(value=point.size, digits=0),
        )
        for label, points in curves
        for point in points
        if point.position in places
    ]
    window = window_of(max(run.total or len(run.tasks) for group in panel.groups for run in group.runs))
    return Table(
        name=f"stream_{panel.slug}_{setting}" + ("" if short else "_all"),
        title=f"Along the stream on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=(
            Column("memory", "Memory"),
            Column("position", "Position"),
            Column("cumulative", f"{metric}, so far"),
            Column("moving", f"{metric}, last {window}"),
            Column("injected_tokens", "Injected tokens"),
            Column("memory_characters", "Memory, characters"),
        ),
        rows=tuple(rows),
        notes=("Means over seeds; failed tasks left out of scores.", *warnings(panel.groups)),
        section="Stream",
        data_only=not short,
    )
