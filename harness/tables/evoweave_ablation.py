"""EvoWeave's ablation, configurations A to F, per backbone and as equal means (table 2, appendix D)."""

from __future__ import annotations

from collections.abc import Sequence

from harness import published
from harness.load import Run
from harness.metrics import Group, Score, is_clamped, macro, metric_label, overall, score
from harness.tables.base import FEWER_SEEDS, FEWER_TASKS, Cell, Column, Table, legend, rank_columns
from harness.tables.panels import SHORT, Panel, deviations, head, panels, setting_label, warnings

ORDER = 60
CONFIGURATIONS = {
    "none": ("A", "No memory"),
    "flat": ("B", "Whole trajectory"),
    "evoweave_c": ("C", "Operation cards"),
    "evoweave_d": ("D", "C + directed connections"),
    "evoweave_e": ("E", "C + active retrieval"),
    "evoweave": ("F", "EvoWeave (full)"),
}
NORMAL, CHALLENGE = "appworld_test_normal", "appworld_test_challenge"
PUBLISHED = {NORMAL: "test_normal_tgc", CHALLENGE: "test_challenge_tgc", "overall": "overall_tgc"}
"""Setting -> column of results/paper/evoweave_ablation.csv."""
Scores = dict[str, dict[str, Score]]
"""Memory -> setting (or `overall`) -> score."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone that has any of C to E, and the equal means if there are several backbones."""
    made: list[Table] = []
    several: list[tuple[Panel, Scores]] = []
    for panel in panels(runs):
        groups = tuple(group for group in panel.groups if group.first.memory in CONFIGURATIONS)
        part = Panel(groups, panel.number)
        if {group.first.memory for group in groups} & {"evoweave_c", "evoweave_d", "evoweave_e"}:
            scores = with_overall(_scores(part, paper))
            made.append(_table(part, scores, part.first.backbone, part.title, f"_{part.slug}", paper))
            if not deviations(part.first):
                several.append((part, scores))
    if len(several) > 1:
        means = with_overall(equal_means([scores for _, scores in several]))
        everyone = Panel(tuple(group for panel, _ in several for group in panel.groups))
        made.append(_table(everyone, means, "macro", "equal means over backbones", "_macro", paper))
    return made


def _scores(panel: Panel, paper: str | None) -> Scores:
    """The headline metric of each configuration and setting; of several variants the default one counts."""
    found: Scores = {}
    for group in sorted(panel.groups, key=lambda group: not group.first.variant.startswith("default")):
        run = group.first
        entry = score(group, run.metrics[0], clamp=is_clamped(run.setting, paper))
        found.setdefault(run.memory, {}).setdefault(run.setting, entry)
    return found


def with_overall(scores: Scores) -> Scores:
    """The same with AppWorld's Overall = (168 normal + 417 challenge) / 585, from the means."""
    found = {memory: dict(row) for memory, row in scores.items()}
    for row in found.values():
        row.pop("overall", None)
        normal, challenge = row.get(NORMAL), row.get(CHALLENGE)
        if normal and challenge and normal.mean is not None and challenge.mean is not None:
            row["overall"] = Score(overall(normal.mean, challenge.mean), None, ())
    return found


def equal_means(backbones: Sequence[Scores]) -> Scores:
    """Means over backbones, each weighing the same; only where every backbone has the value."""
    found: Scores = {}
    for memory in CONFIGURATIONS:
        for setting in {key for scores in backbones for key in scores.get(memory, {})}:
            entries = {str(n): scores.get(memory, {}).get(setting) for n, scores in enumerate(backbones)}
            known = {name: entry for name, entry in entries.items() if entry is not None}
            if len(known) == len(backbones):
                found.setdefault(memory, {})[setting] = macro(known)
    return found


def published_value(backbone: str, configuration: str, setting: str) -> float | None:
    """The paper's value, or None if it has none."""
    for row in published.read("evoweave_ablation.csv"):
        if (row["backbone"], row["configuration"]) == (backbone, configuration) and setting in PUBLISHED:
            return float(row[PUBLISHED[setting]])
    return None


def _columns(panel: Panel, scores: Scores, paper: str | None) -> list[tuple[str, list[Column]]]:
    labels: dict[str, str] = {}
    for setting in panel.settings:
        run = next(group.first for group in panel.groups if group.first.setting == setting)
        labels[setting] = f"{SHORT.get(setting, setting_label(setting))} {metric_label(run.metrics[0])}"
    if any("overall" in row for row in scores.values()):
        labels["overall"] = "Overall"
    found = []
    for setting, label in labels.items():
        columns = [Column(setting, label, "high")]
        if paper == "evoweave" and setting in PUBLISHED:
            columns += [Column(f"{setting}_paper", "paper"), Column(f"{setting}_difference", "ours - paper")]
        found.append((setting, columns))
    return found


def _table(panel: Panel, scores: Scores, backbone: str, title: str, suffix: str, paper: str | None) -> Table:
    parts = _columns(panel, scores, paper)
    body: list[list[Cell]] = []
    for memory, (letter, words) in CONFIGURATIONS.items():
        if memory not in scores:
            continue
        row = [Cell(f"{letter}: {words}")]
        for setting, columns in parts:
            entry = scores[memory].get(setting)
            marks = _marks(panel, memory, setting, paper)
            row.append(Cell() if entry is None else Cell(value=entry.mean, sd=entry.sd, marks=marks))
            if len(columns) > 1:
                row += _beside(entry, published_value(backbone, letter, setting))
        body.append(row)
    columns = [Column("configuration", "Configuration"), *(column for _, found in parts for column in found)]
    rows = rank_columns(columns, body)
    notes = [
        "C to F share protocol, candidate pool and capability access; they differ in what is connected and asked."
    ]
    if any(setting == "overall" for setting, _ in parts):
        notes.append("Overall = (168 normal + 417 challenge) / 585, taken from the means.")
    if paper == "evoweave" and published_value(backbone, "A", NORMAL) is None:
        notes.append(f"The paper has no ablation with {panel.first.backbone_label}.")
    return Table(
        name=f"evoweave_ablation{suffix}",
        title=f"EvoWeave's configurations: {title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=rows,
        notes=(*notes, *warnings(panel.groups), *legend(rows)),
        section="Ablation of EvoWeave",
    )


def _beside(ours: Score | None, theirs: float | None) -> list[Cell]:
    difference = None if ours is None or ours.mean is None or theirs is None else ours.mean - theirs
    return [Cell(value=theirs, ranked=False), Cell(value=difference, signed=True, ranked=False)]


def _marks(panel: Panel, memory: str, setting: str, paper: str | None) -> tuple[str, ...]:
    groups = [g for g in panel.groups if g.first.memory == memory and setting in (g.first.setting, "overall")]
    marks = (FEWER_TASKS,) if any(_short(panel, group, paper) for group in groups) else ()
    few = paper is not None and any(len(group.runs) < published.SEEDS[paper] for group in groups)
    return (*marks, FEWER_SEEDS) if few else marks


def _short(panel: Panel, group: Group, paper: str | None) -> bool:
    wanted = published.tasks(paper, group.first.setting) if paper else None
    fewest = min(len(run.tasks) for run in group.runs)
    return panel.unequal(group) or (wanted is not None and fewest < wanted)
