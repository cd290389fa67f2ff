"""Scores by composition class: how a task's operations stand to those of the tasks before it (appendix H)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.load import Run
from harness.metrics import Group, is_clamped, metric_label, outcomes, over_seeds, reduce
from harness.tables.base import Cell, Column, Table, legend, rank
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 96
CLASSES = {
    "none": "no overlap",
    "one": "overlap in one step",
    "several": "overlap in several steps",
    "novel": "novel combination",
    "known": "known combination",
}
AND = "plans with an AND join"


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting that has an EvoWeave run and operation proxies."""
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            part = panel.of(setting)
            evoweave = any(group.first.memory.startswith("evoweave") for group in part.groups)
            if evoweave and any(len(found) for found in part.first.tasks["operations"]):
                made.append(_table(part, paper))
    return made


def classes(operations: Sequence[Sequence[str]]) -> list[str]:
    """The class of each task of a stream, from its operation proxies and those of the tasks before it.

    none: no operation was seen before; one, several: so many were; novel: all were, but in no single
    earlier task; known: one earlier task had them all. Decided by the task list alone, before any score.
    """
    seen: set[str] = set()
    earlier: list[frozenset[str]] = []
    found = []
    for each in map(frozenset, operations):
        shared = each & seen
        if not shared:
            found.append("none")
        elif shared == each:
            found.append("known" if any(each <= other for other in earlier) else "novel")
        else:
            found.append("one" if len(shared) == 1 else "several")
        seen |= each
        earlier.append(each)
    return found


def joins(panel: Panel) -> set[int]:
    """Numbers of tasks whose plan has a step with two direct dependencies, in most EvoWeave runs that planned.

    Plans are made before the episode, without memory or score.
    """
    votes: dict[int, list[bool]] = {}
    for group in panel.groups:
        for run in group.runs:
            for number, events in zip(run.tasks["number"], run.tasks["events"], strict=True):
                plan = next((event[2] for event in events if event[0] == "plan"), None)
                if plan is not None:
                    votes.setdefault(int(number), []).append(has_join(plan))
    return {number for number, found in votes.items() if 2 * sum(found) > len(found)}


def has_join(plan: str) -> bool:
    """Whether a plan, as its event tells it, has a step after two others."""
    return any("(after " in line and "," in line.rpartition("(after ")[2] for line in plan.splitlines())


def _table(panel: Panel, paper: str | None) -> Table:
    longest = max((run for group in panel.groups for run in group.runs), key=lambda run: len(run.tasks))
    numbers = [int(number) for number in longest.tasks["number"]]
    of_task = dict(zip(numbers, classes(longest.tasks["operations"].tolist()), strict=True))
    joined = joins(panel)
    kinds: dict[str, set[int]] = {
        label: {number for number, kind in of_task.items() if kind == key} for key, label in CLASSES.items()
    }
    kinds[AND] = joined & set(of_task)
    present = {label: tasks for label, tasks in kinds.items() if tasks}
    metric, where = panel.first.metrics[0], setting_label(panel.first.setting)
    columns = [Column("class", "Class"), Column("tasks", "Tasks")]
    columns += [Column(f"m{n}", panel.label(group), "high") for n, group in enumerate(panel.groups)]
    rows = []
    for label, tasks in present.items():
        cells = [_cell(group, tasks, paper) for group in panel.groups]
        rows.append((Cell(label), Cell(str(len(tasks))), *rank(cells, "high")))
    return Table(
        name=f"evoweave_classes_{panel.slug}_{panel.first.setting}",
        title=f"{metric_label(metric)} by composition class on {where}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            "Classes come from the tasks' operation proxies and the order of the stream, not from any score: "
            "'novel combination' had all its operations before, but never in one task.",
            f"'{AND}' is read off EvoWeave's plans (a step with two direct dependencies); it cuts across classes.",
            *warnings(panel.groups),
            *legend(rows),
        ),
        section="Composition",
    )


def _cell(group: Group, tasks: set[int], paper: str | None) -> Cell:
    metric = group.first.metrics[0]
    clamp = is_clamped(group.first.setting, paper)
    values = []
    for run in group.runs:
        found = zip(run.tasks["number"], outcomes(run, metric.value, clamp=clamp), strict=True)
        inside = [each for number, each in found if int(number) in tasks]
        values.append(reduce(inside, metric.how, failures_count=False))
    score = over_seeds(values)
    return Cell(value=score.mean, sd=score.sd)
