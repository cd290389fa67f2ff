"""Judge quality: the verdict against official success. It bounds what a memory can learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from harness.load import Run
from harness.metrics import Group
from harness.tables.base import Cell, Column, Table
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 60
_COLUMNS = (
    Column("memory", "Memory"),
    Column("true_success", "said success, was"),
    Column("false_success", "said success, was not"),
    Column("false_failure", "said failure, was success"),
    Column("true_failure", "said failure, was"),
    Column("unreadable_success", "unreadable, was success"),
    Column("unreadable_failure", "unreadable, was not"),
    Column("agreement", "Agreement, %", "high"),
    Column("precision", "Precision of success, %", "high"),
    Column("recall", "Recall of success, %", "high"),
)


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One confusion table a backbone and setting, a row a memory."""
    return [_table(panel.of(setting)) for panel in panels(runs) for setting in panel.settings]


def confusion(group: Group) -> Counter[tuple[str, bool]]:
    """(verdict, official success) -> tasks, over all seeds; failed tasks have no verdict to compare."""
    found: Counter[tuple[str, bool]] = Counter()
    for run in group.runs:
        tasks = run.tasks[~run.tasks["failed"]]
        for verdict, metrics in zip(tasks["verdict"], tasks["metrics"], strict=True):
            if isinstance(verdict, str) and "success" in metrics:
                found[(verdict, metrics["success"] == 1)] += 1
    return found


def rates(counts: Mapping[tuple[str, bool], int]) -> tuple[float | None, float | None, float | None]:
    """Agreement, precision and recall of the verdict `success`, in percent; None where undefined.

    An unreadable verdict agrees with nothing and finds nothing.
    """
    total = sum(counts.values())
    right = counts.get(("success", True), 0)
    said = right + counts.get(("success", False), 0)
    was = sum(count for (_, success), count in counts.items() if success)
    agreed = right + counts.get(("failure", False), 0)
    return (
        100 * agreed / total if total else None,
        100 * right / said if said else None,
        100 * right / was if was else None,
    )


def _table(panel: Panel) -> Table:
    rows = []
    for group in panel.groups:
        counts = confusion(group)
        cells = [
            Cell(str(counts[(verdict, success)]))
            for verdict, success in (
                ("success", True),
                ("success", False),
                ("failure", True),
                ("failure", False),
                ("unreadable", True),
                ("unreadable", False),
            )
        ]
        rows.append(
            (Cell(panel.label(group)), *cells, *(Cell(value=rate, digits=1) for rate in rates(counts)))
        )
    setting = panel.first.setting
    return Table(
        name=f"judge_{panel.slug}_{setting}",
        title=f"Judge against official success on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=_COLUMNS,
        rows=tuple(rows),
        notes=(
            "Tasks over all seeds; failed tasks are left out. A memory learns from verdicts, so a wrong one "
            "teaches it wrongly.",
            *warnings(panel.groups),
        ),
        section="Judge",
    )
