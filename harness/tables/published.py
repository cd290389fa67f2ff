"""The paper's value, ours and the difference, side by side; only with --paper."""

from __future__ import annotations

from collections.abc import Sequence

from envs.base import Metric
from harness import published
from harness.load import Run
from harness.metrics import Group, Score, is_clamped, metric_label, score
from harness.published import Value
from harness.significance import separable
from harness.tables.base import (
    FEWER_SEEDS,
    FEWER_TASKS,
    NOT_SEPARABLE,
    NOTHING,
    OTHER,
    Cell,
    Column,
    Table,
    legend,
)
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 30


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting that the paper has values for."""
    if paper is None:
        return []
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            compared = _table(panel.of(setting), paper)
            if compared is not None:
                made.append(compared)
    return made


def _table(panel: Panel, paper: str) -> Table | None:
    setting = panel.first.setting
    there = published.setting_of(paper, setting)
    values = [value for value in published.main_values(paper) if value.setting == there]
    if not values:
        return None
    backbones = list(dict.fromkeys(value.backbone for value in values))
    same_backbone = panel.first.backbone in backbones
    rows = []
    for group in panel.groups:
        for metric in panel.first.metrics:
            if all(value.metric != metric.name for value in values):
                continue
            known = [v.backbone for v in values if (v.memory, v.metric) == (group.first.memory, metric.name)]
            beside = [panel.first.backbone] if same_backbone else list(dict.fromkeys(known)) or [NOTHING]
            for backbone in beside:
                value = next(
                    (
                        value
                        for value in values
                        if (value.backbone, value.memory, value.metric)
                        == (backbone, group.first.memory, metric.name)
                    ),
                    None,
                )
                rows.append(_row(panel, group, metric, backbone, value, paper))
    label = published.LABELS[paper]
    columns = (
        Column("memory", "Memory"),
        Column("metric", "Metric"),
        Column("paper_backbone", f"{label}'s backbone"),
        Column("paper", f"{label}"),
        Column("ours", "Ours"),
        Column("difference", "Difference"),
        Column("remarks", "Remarks"),
    )
    notes = [f"Published values are {label}'s (results/paper). {published.SEEDS_NOTE[paper]}"]
    if not same_backbone:
        notes.append(
            f"{label} has no runs with {panel.first.backbone_label}: its backbones are shown beside ours."
        )
    if is_clamped(setting, paper):
        notes.append("Scores are clamped at 0, as EvoWeave's scale of 0 to 100 asks.")
    notes.append("The two papers disagree on backbones, so a comparison is with one of them.")
    return Table(
        name=f"{paper}_{panel.slug}_{setting}",
        title=f"Beside {label} on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=columns,
        rows=tuple(rows),
        notes=(*notes, *warnings(panel.groups), *legend(rows)),
        section=f"Beside {label}",
    )


def shortfall(group: Group, paper: str) -> tuple[tuple[str, ...], list[str]]:
    """Marks and words for fewer tasks or seeds than the paper has, or other tasks."""
    setting = group.first.setting
    there = published.setting_of(paper, setting)
    wanted, seeds = published.tasks(paper, there), published.SEEDS[paper]
    fewest = min(len(run.tasks) - int(run.tasks["failed"].sum()) for run in group.runs)
    marks, words = [], []
    if (paper, setting) == ("strata", "scienceworld"):
        marks.append(OTHER)
        words.append(f"{fewest} tasks; STRATA has 23 others")
    elif wanted is not None and fewest < wanted:
        marks.append(FEWER_TASKS)
        words.append(f"{fewest} of {wanted} tasks")
    if len(group.runs) < seeds:
        marks.append(FEWER_SEEDS)
        inferred = " (inferred)" if paper == "evoweave" else ""
        words.append(f"{len(group.runs)} of {seeds}{inferred} seeds")
    return tuple(marks), words


def _row(
    panel: Panel, group: Group, metric: Metric, backbone: str, value: Value | None, paper: str
) -> tuple[Cell, ...]:
    ours = score(group, metric, clamp=is_clamped(group.first.setting, paper))
    marks, words = shortfall(group, paper)
    theirs = Cell() if value is None else Cell(value=value.mean, sd=value.sd)
    comparable = backbone == panel.first.backbone and OTHER not in marks
    if value is None:
        difference = Cell()
        marks, words = (), ["not in the paper"] if paper == "evoweave" else ["not stated in the paper's text"]
    elif not comparable:
        difference = Cell(marks=(OTHER,))
    else:
        difference = _difference(ours, value)
    return (
        Cell(panel.label(group)),
        Cell(metric_label(metric)),
        Cell(backbone),
        theirs,
        Cell(value=ours.mean, sd=ours.sd, marks=marks),
        difference,
        Cell("; ".join(words) or "as many tasks and seeds as the paper"),
    )


def _difference(ours: Score, value: Value) -> Cell:
    if ours.mean is None:
        return Cell()
    difference = ours.mean - value.mean
    marks = (NOT_SEPARABLE,) if separable(difference, ours.sd, value.sd) is False else ()
    return Cell(value=difference, signed=True, marks=marks)
