"""The macro table: equal means over backbones, and differences taken before rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.load import Run
from harness.metrics import Score, is_clamped, macro, metric_label, overall, score
from harness.significance import separable
from harness.tables.base import NOT_SEPARABLE, Cell, Column, Table, legend, rank_columns
from harness.tables.panels import (
    METHODS,
    SHORT,
    Panel,
    deviations,
    head,
    headline,
    panels,
    row_order,
    setting_label,
    setting_order,
    warnings,
)

ORDER = 20
Means = Mapping[str, Mapping[tuple[str, str], Score]]
"""Row label -> (setting, metric) -> mean over backbones."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table for each way of running the stream that has more than one backbone."""
    kinds: dict[tuple[object, ...], list[Panel]] = {}
    for panel in panels(runs):
        stream = panel.first.stream
        key = (deviations(panel.first), str(stream.get("tasks")), str(stream.get("memory_from")))
        kinds.setdefault(key, []).append(panel)
    return [_table(members, paper) for members in kinds.values() if len(members) > 1]


def with_overall(means: Mapping[tuple[str, str], Score]) -> dict[tuple[str, str], Score]:
    """The same with AppWorld Overall, taken from the means of the two splits (not a mean of Overalls)."""
    found = dict(means)
    for metric in ("tgc", "sgc"):
        normal = means.get(("appworld_test_normal", metric))
        challenge = means.get(("appworld_test_challenge", metric))
        if normal and challenge and normal.mean is not None and challenge.mean is not None:
            found[("overall", metric)] = Score(overall(normal.mean, challenge.mean), None, ())
    return found


def differences(
    means: Means, memories: Mapping[str, str], key: tuple[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """Row label -> (row of none, row of the strongest other baseline) under one metric."""
    known = {label: row[key].mean for label, row in means.items() if key in row}
    none = next((label for label in known if memories[label] == "none"), None)
    found: dict[str, tuple[str | None, str | None]] = {}
    for label in known:
        rivals = {
            other: value
            for other, value in known.items()
            if other != label and memories[other].split("_")[0] not in METHODS and value is not None
        }
        strongest = max(rivals, key=lambda other: rivals[other]) if rivals else None
        found[label] = (None if none == label else none, strongest)
    return found


def _table(members: Sequence[Panel], paper: str | None) -> Table:
    collected: dict[str, dict[tuple[str, str], dict[str, Score]]] = {}
    memories: dict[str, str] = {}
    labels: dict[tuple[str, str], str] = {("overall", m): f"Overall {m.upper()}" for m in ("tgc", "sgc")}
    everyone: dict[tuple[str, str], set[str]] = {}
    all_groups = sorted((group for panel in members for group in panel.groups), key=row_order)
    for group in all_groups:
        panel = next(panel for panel in members if group in panel.groups)
        label, run = panel.label(group), group.first
        memories[label] = run.memory
        for metric in headline(run):
            key = (run.setting, metric.name)
            labels[key] = f"{SHORT.get(run.setting, setting_label(run.setting))} {metric_label(metric)}"
            entry = score(group, metric, clamp=is_clamped(run.setting, paper))
            collected.setdefault(label, {}).setdefault(key, {})[run.backbone] = entry
            everyone.setdefault(key, set()).add(run.backbone)
    means: dict[str, dict[tuple[str, str], Score]] = {}
    partial: set[tuple[str, tuple[str, str]]] = set()
    for label, row in collected.items():
        complete = {key: macro(scores) for key, scores in row.items() if set(scores) == everyone[key]}
        partial |= {(label, key) for key in row if key not in complete}
        means[label] = with_overall(complete)
    order = sorted({key for row in means.values() for key in row}, key=lambda key: _key_order(key, everyone))
    columns, body = _body(means, memories, order, labels)
    rows = rank_columns(columns, body)
    names = sorted({run.backbone_label for panel in members for run in [panel.first]})
    notes = [
        f"Equal means over the backbones {', '.join(names)}; differences are taken before rounding. The "
        "spread is that of a mean of independent means, from the spread over seeds.",
        "'to baseline': difference to the strongest other memory that is not a method of the two papers.",
    ]
    if partial:
        short = sorted({label for label, _ in partial})
        notes.append(f"Not run on every backbone, and left empty there: {', '.join(short)}.")
    return Table(
        name=f"macro_{members[0].slug}" if deviations(members[0].first) else "macro",
        title="Equal means over backbones",
        head=head(all_groups),
        columns=tuple(columns),
        rows=rows,
        notes=(*notes, *warnings(all_groups), *legend(rows)),
        section="Main results",
    )


def _key_order(key: tuple[str, str], everyone: Mapping[tuple[str, str], set[str]]) -> tuple[int, str, int]:
    place = (1.5, "") if key[0] == "overall" else setting_order(key[0])
    return (int(2 * place[0]), place[1], list(everyone).index(key) if key in everyone else 0)


def _body(
    means: Means,
    memories: Mapping[str, str],
    order: Sequence[tuple[str, str]],
    labels: Mapping[tuple[str, str], str],
) -> tuple[list[Column], list[list[Cell]]]:
    columns = [Column("memory", "Memory")]
    rows: dict[str, list[Cell]] = {label: [Cell(label)] for label in means}
    for key in order:
        name = "_".join(key)
        columns += [
            Column(name, labels[key], "high"),
            Column(f"{name}_to_none", "to none"),
            Column(f"{name}_to_baseline", "to baseline"),
        ]
        references = differences(means, memories, key)
        for label, row in rows.items():
            if key not in means[label]:
                row += [Cell(), Cell(), Cell()]
                continue
            ours = means[label][key]
            row.append(Cell(value=ours.mean, sd=ours.sd))
            row += [
                difference_cell(ours, means[other][key] if other else None) for other in references[label]
            ]
    return columns, list(rows.values())


def difference_cell(ours: Score, other: Score | None) -> Cell:
    """Ours minus the other, marked where it is below one combined sd."""
    if other is None or ours.mean is None or other.mean is None:
        return Cell()
    difference = ours.mean - other.mean
    cell = Cell(value=difference, signed=True, ranked=False)
    return (
        replace(cell, marks=(NOT_SEPARABLE,)) if separable(difference, ours.sd, other.sd) is False else cell
    )
