"""Score by category, with task counts; memberships may overlap and need not cover every task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness.load import Run
from harness.metrics import (
    Group,
    Outcome,
    Score,
    is_clamped,
    metric_label,
    outcomes,
    over_seeds,
    reduce,
    score,
)
from harness.tables.base import FEWER_TASKS, Cell, Column, Table, legend, rank
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 50


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting that has categories."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    return [_table(part, paper) for part in parts if part.first.categories]


def members(run: Run, category: str | None) -> list[bool]:
    """For each ended task whether it belongs to a category; None: to no category at all."""
    return [(category in names) if category is not None else not names for names in run.tasks["categories"]]


def category_score(group: Group, category: str | None, *, clamp: bool = False) -> Score:
    """The headline metric over the tasks of one category, mean and sd over seeds; failed tasks left out."""
    metric = group.first.metrics[0]
    return over_seeds(
        reduce(_of(run, category, metric.value, clamp), metric.how, failures_count=False)
        for run in group.runs
    )


def weighted_mean(scores: Mapping[str, float | None], counts: Mapping[str, int]) -> float | None:
    """The mean of category scores weighted by their task counts; None if a category is empty."""
    total = sum(counts[name] for name in scores)
    if not total or any(value is None for value in scores.values()):
        return None
    return math.fsum(value * counts[name] for name, value in scores.items() if value is not None) / total


def counts(group: Group) -> dict[str, int]:
    """Tasks of each category in one run of the group (the longest)."""
    run = max(group.runs, key=lambda run: len(run.tasks))
    return {key: sum(members(run, key)) for key in run.categories}


def _of(run: Run, category: str | None, value: str, clamp: bool) -> list[Outcome]:
    pairs = zip(outcomes(run, value, clamp=clamp), members(run, category), strict=True)
    return [outcome for outcome, inside in pairs if inside]


def _table(panel: Panel, paper: str | None) -> Table:
    first, setting = panel.first, panel.first.setting
    clamp = is_clamped(setting, paper)
    longest = max(panel.groups, key=lambda group: max(len(run.tasks) for run in group.runs))
    sizes = counts(longest)
    outside = sum(members(max(longest.runs, key=lambda run: len(run.tasks)), None))
    columns = [Column("category", "Category"), Column("tasks", "Tasks")]
    columns += [Column(f"memory_{place}", panel.label(group)) for place, group in enumerate(panel.groups, 1)]
    rows: list[list[Cell]] = []
    for key, label in first.categories.items():
        if sizes.get(key, 0):
            cells = [_cell(panel, group, category_score(group, key, clamp=clamp)) for group in panel.groups]
            rows.append([Cell(label), Cell(str(sizes[key])), *rank(cells, "high")])
    absent = [label for key, label in first.categories.items() if not sizes.get(key, 0)]
    if outside:
        name = "Cross-site (no category)" if setting.startswith("webarena") else "In no category"
        cells = [_cell(panel, group, category_score(group, None, clamp=clamp)) for group in panel.groups]
        rows.append([Cell(name), Cell(str(outside)), *rank(cells, "high")])
    cells = [_cell(panel, group, _weighted(group, clamp)) for group in panel.groups]
    rows.append(
        [Cell("Mean of categories, weighted by tasks"), Cell(str(sum(sizes.values()))), *rank(cells, "high")]
    )
    cells = [_cell(panel, group, score(group, first.metrics[0], clamp=clamp)) for group in panel.groups]
    every = max(len(run.tasks) for run in longest.runs)
    rows.append([Cell("All tasks (main table)"), Cell(str(every)), *rank(cells, "high")])
    notes = [
        f"{metric_label(first.metrics[0])}; best of a row in bold, second underlined; failed tasks left out."
    ]
    if sum(sizes.values()) + outside > every:
        notes.append("Memberships overlap: the counts add up to more than the tasks.")
    if absent:
        notes.append(f"No task yet: {', '.join(absent)}.")
    if clamp:
        notes.append("Scores are clamped at 0, as EvoWeave's scale of 0 to 100 asks.")
    return Table(
        name=f"category_{panel.slug}_{setting}",
        title=f"By category on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows),
        notes=(*notes, *warnings(panel.groups), *legend(rows)),
        section="Categories",
    )


def _weighted(group: Group, clamp: bool) -> Score:
    sizes = {key: count for key, count in counts(group).items() if count}
    metric = group.first.metrics[0]
    values = []
    for run in group.runs:
        scores = {
            key: reduce(_of(run, key, metric.value, clamp), metric.how, failures_count=False) for key in sizes
        }
        values.append(weighted_mean(scores, sizes))
    return over_seeds(values)


def _cell(panel: Panel, group: Group, entry: Score) -> Cell:
    short = panel.unequal(group)
    return Cell(value=entry.mean, sd=entry.sd, marks=(FEWER_TASKS,) if short else (), ranked=not short)
