"""Paired comparison: is one memory better than another on the same tasks?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from harness.load import Run
from harness.metrics import Group, metric_label
from harness.significance import RESAMPLES, Bootstrap, clustered_bootstrap, holm, mcnemar
from harness.tables.base import Cell, Column, Table
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 70


@dataclass(frozen=True)
class Pair:
    """The same task under two memories with the same seed."""

    scenario: str
    first: float
    second: float
    """Headline values."""
    first_success: bool
    second_success: bool


def pairs(first: Group, second: Group) -> list[Pair]:
    """Every task that neither of two memories failed on for reasons of infrastructure, seed by seed."""
    value = first.first.metrics[0].value
    by_seed = {run.seed: _values(run, value) for run in second.runs}
    found = []
    for run in first.runs:
        others = by_seed.get(run.seed, {})
        for number, (scenario, score, success) in _values(run, value).items():
            if number in others:
                _, other_score, other_success = others[number]
                found.append(Pair(scenario, score, other_score, success, other_success))
    return found


def _values(run: Run, value: str) -> dict[int, tuple[str, float, bool]]:
    tasks = run.tasks[~run.tasks["failed"]]
    return {
        int(number): (str(scenario), float(metrics[value]), metrics.get("success") == 1)
        for number, scenario, metrics in zip(
            tasks["number"], tasks["scenario"], tasks["metrics"], strict=True
        )
        if value in metrics
    }


@dataclass(frozen=True)
class Comparison:
    """What a row says."""

    first: Group
    second: Group
    n: int
    wins: int
    """Pairs in which the second has the higher headline value."""
    losses: int
    bootstrap: Bootstrap
    gained: int
    """Solved by the second alone."""
    lost: int
    """Solved by the first alone; negative transfer if the first is `none`."""
    solved: int
    """Solved by the first."""
    p: float


def compare(first: Group, second: Group, *, seed: int = 0) -> Comparison | None:
    """Compare two memories, None if they have no task in common. Differences: second less first."""
    found = pairs(first, second)
    if not found:
        return None
    percent = 1.0 if first.first.metrics[0].how == "mean" else 100.0
    clusters: dict[str, list[float]] = {}
    for pair in found:
        clusters.setdefault(pair.scenario, []).append(percent * (pair.second - pair.first))
    gained = sum(pair.second_success and not pair.first_success for pair in found)
    lost = sum(pair.first_success and not pair.second_success for pair in found)
    return Comparison(
        first,
        second,
        n=len(found),
        wins=sum(pair.second > pair.first for pair in found),
        losses=sum(pair.second < pair.first for pair in found),
        bootstrap=clustered_bootstrap(clusters, seed=seed),
        gained=gained,
        lost=lost,
        solved=sum(pair.first_success for pair in found),
        p=mcnemar(lost, gained),
    )


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting with at least two memories."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    made = []
    for part in parts:
        found = [compare(first, second) for first, second in combinations(part.groups, 2)]
        known = [comparison for comparison in found if comparison is not None]
        if known:
            made.append(_table(part, known))
    return made


def _table(panel: Panel, found: Sequence[Comparison]) -> Table:
    columns = (
        Column("memory", "Memory"),
        Column("against", "Against"),
        Column("pairs", "Pairs"),
        Column("wins", "Wins"),
        Column("losses", "Losses"),
        Column("ties", "Ties"),
        Column("difference", "Difference"),
        Column("low", "95 % from"),
        Column("high", "to"),
        Column("p_bootstrap_holm", "p (bootstrap, Holm)"),
        Column("gained", "Solved by it alone"),
        Column("lost", "by the other alone"),
        Column("p_mcnemar", "p (McNemar)"),
        Column("p_mcnemar_holm", "p (McNemar, Holm)"),
        Column("negative_transfer", "Negative transfer"),
    )
    bootstrap_p = holm([entry.bootstrap.p for entry in found])
    mcnemar_p = holm([entry.p for entry in found])
    rows = []
    for entry, p_scores, p_success in zip(found, bootstrap_p, mcnemar_p, strict=True):
        against_none = entry.first.first.memory == "none"
        rows.append(
            (
                Cell(panel.label(entry.second)),
                Cell(panel.label(entry.first)),
                Cell(str(entry.n)),
                Cell(str(entry.wins)),
                Cell(str(entry.losses)),
                Cell(str(entry.n - entry.wins - entry.losses)),
                Cell(value=entry.bootstrap.difference, signed=True),
                Cell(value=entry.bootstrap.low, signed=True),
                Cell(value=entry.bootstrap.high, signed=True),
                Cell(value=p_scores, digits=4),
                Cell(str(entry.gained)),
                Cell(str(entry.lost)),
                Cell(value=entry.p, digits=4),
                Cell(value=p_success, digits=4),
                Cell(f"{entry.lost} of {entry.solved}") if against_none else Cell(""),
            )
        )
    setting = panel.first.setting
    notes = [
        f"Pairs: the same task and seed under both, neither failed. Wins, losses and difference: "
        f"{metric_label(panel.first.metrics[0])}; interval: percentile bootstrap of {RESAMPLES:,} resamples "
        f"(seed 0) over whole scenarios. McNemar: exact, on success. Holm: over the {len(found)} rows.",
        "Negative transfer: tasks solved without memory and not with it, of all solved without.",
    ]
    if any(len(group.runs) > 1 for group in panel.groups):
        notes.append(
            "A task occurs once a seed here: McNemar takes these pairs as independent and so claims too much; the "
            "bootstrap draws a scenario with all its seeds and does not."
        )
    return Table(
        name=f"paired_{panel.slug}_{setting}",
        title=f"Paired comparison on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=columns,
        rows=tuple(rows),
        notes=(*notes, *warnings(panel.groups)),
        section="Paired comparison",
    )
