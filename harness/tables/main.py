"""The main table: memories by settings and metrics, one table a backbone."""

from __future__ import annotations

from collections.abc import Sequence

from envs.base import Metric
from harness.load import Run
from harness.metrics import Group, is_clamped, metric_label, score
from harness.tables.base import FEWER_TASKS, Cell, Column, Table, legend, rank_columns
from harness.tables.panels import SHORT, Panel, head, headline, panels, setting_label, warnings

ORDER = 10


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """Mean +- sd over seeds, failed tasks left out and counted as failures, tasks and seeds shown."""
    return [_table(panel, paper) for panel in panels(runs)]


def rows_of(panel: Panel) -> dict[str, dict[str, Group]]:
    """Row label -> setting -> group, in the order of rows."""
    found: dict[str, dict[str, Group]] = {}
    for group in panel.groups:
        found.setdefault(panel.label(group), {})[group.first.setting] = group
    return found


def _table(panel: Panel, paper: str | None) -> Table:
    several = len(panel.settings) > 1
    columns = [Column("memory", "Memory")]
    cells: dict[str, list[Cell]] = {label: [Cell(label)] for label in rows_of(panel)}
    for setting in panel.settings:
        part = panel.of(setting)
        failures = any(group.failed for group in part.groups)
        place = f"{SHORT.get(setting, setting_label(setting))} " if several else ""
        for metric in headline(part.first):
            columns += _metric_columns(metric, setting, place, failures)
        columns += [
            Column(f"{setting}_tasks", f"{place}tasks"),
            Column(f"{setting}_failed", f"{place}failed"),
            Column(f"{setting}_seeds", f"{place}seeds"),
        ]
        for label, by_setting in rows_of(panel).items():
            cells[label] += _cells(part, by_setting.get(setting), failures, is_clamped(setting, paper))
    rows = rank_columns(columns, cells.values())
    title = "Main results" + ("" if several else f" on {setting_label(panel.settings[0])}")
    return Table(
        name=f"main_{panel.slug}",
        title=f"{title}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=rows,
        notes=(*_notes(panel, paper), *warnings(panel.groups), *legend(rows)),
        section="Main results",
    )


def _metric_columns(metric: Metric, setting: str, place: str, failures: bool) -> list[Column]:
    key, heading = f"{setting}_{metric.name}", f"{place}{metric_label(metric)}"
    plain = Column(key, heading, "high")
    return [plain, Column(f"{key}_failed_as_0", f"{heading}, failed = 0", "high")] if failures else [plain]


def _cells(part: Panel, group: Group | None, failures: bool, clamp: bool) -> list[Cell]:
    metrics = headline(part.first)
    if group is None:
        return [Cell()] * (len(metrics) * (2 if failures else 1) + 3)
    ranked = not part.unequal(group)
    marks = () if ranked else (FEWER_TASKS,)
    cells = []
    for metric in metrics:
        for count in (False, True) if failures else (False,):
            entry = score(group, metric, failures_count=count, clamp=clamp)
            cells.append(Cell(value=entry.mean, sd=entry.sd, marks=marks, ranked=ranked))
    done = str(group.tasks) if group.finished else f"{group.tasks} of {group.total}"
    return [*cells, Cell(done), Cell(str(group.failed)), Cell(f"{len(group.runs)}")]


def _notes(panel: Panel, paper: str | None) -> tuple[str, ...]:
    notes = [
        "Mean ± sample standard deviation over seeds; best in bold, second underlined; tasks over all seeds."
    ]
    if any(group.failed for group in panel.groups):
        notes.append(
            "A failed task (environment, backbone, context overflow, refusal, interrupted, not evaluated) is "
            "no answer of the agent's: the first value leaves it out, 'failed = 0' counts it as a failure. A "
            "scenario that holds one is left out whole from the first value of a share of scenarios."
        )
    else:
        notes.append("No task failed: means without failed tasks and with them as failures are the same.")
    if any(is_clamped(setting, paper) for setting in panel.settings):
        notes.append("ScienceWorld scores are clamped at 0, as EvoWeave's scale of 0 to 100 asks.")
    return tuple(notes)
