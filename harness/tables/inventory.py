"""Every run of a report: how far it is, what failed, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.efficiency import spent
from harness.load import Run
from harness.metrics import groups, metric_label, outcomes, reduce
from harness.tables.base import Cell, Column, Table
from harness.tables.panels import head, protocol, row_order, setting_order

ORDER = 95
_COLUMNS = (
    Column("setting", "Setting"),
    Column("backbone", "Backbone"),
    Column("memory", "Memory"),
    Column("variant", "Variant"),
    Column("seed", "Seed"),
    Column("stream", "Stream"),
    Column("tasks", "Tasks"),
    Column("failed", "Failed"),
    Column("metric", "Metric"),
    Column("value", "Value"),
    Column("write_errors", "Failed writes"),
    Column("cost_usd", "Cost, $"),
)


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table with a row a run."""
    ordered = sorted(
        groups(runs), key=lambda g: (setting_order(g.first.setting), g.first.backbone, row_order(g))
    )
    rows = tuple(_row(run) for group in ordered for run in group.runs)
    notes = ("Failed: tasks that ended for reasons of infrastructure, by kind. Cost: every call of the run.",)
    return [Table("runs", "Runs", head(ordered), _COLUMNS, rows, notes, section="Runs")]


def failures(run: Run) -> str:
    """Failed tasks by kind, e.g. `2 backbone, 1 not evaluated`."""
    tasks = run.tasks[run.tasks["failed"]]
    kinds = Counter(
        "not evaluated" if kind == "none" else str(kind).replace("_", " ") for kind in tasks["failure"]
    )
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "0"


def _row(run: Run) -> tuple[Cell, ...]:
    metric = run.metrics[0]
    cost = spent(run)
    done = len(run.tasks)
    return (
        Cell(run.setting),
        Cell(run.backbone_label),
        Cell(run.memory_label),
        Cell(run.variant),
        Cell(str(run.seed)),
        Cell(protocol(run)),
        Cell(str(done) if run.finished else f"{done} of {run.total or '?'}"),
        Cell(failures(run)),
        Cell(metric_label(metric)),
        Cell(value=reduce(outcomes(run, metric.value), metric.how, failures_count=False)),
        Cell(str(int((run.tasks["write_error"] != "").sum()))),
        Cell("unknown") if cost is None else Cell(value=cost, digits=4),
    )
