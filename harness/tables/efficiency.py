"""Efficiency per task (the columns of EvoWeave's and STRATA's tables) and injection saving."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from harness import published
from harness.efficiency import Efficiency, efficiency, injection_saving
from harness.load import Run
from harness.metrics import Group, over_seeds
from harness.tables.base import Cell, Column, Table, legend, rank_columns
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 40
Better = Literal["high", "low"] | None
Columns = tuple[tuple[str, str, Better, int, Callable[[Efficiency], float | None]], ...]
_TOKENS: Columns = (
    ("injected_tokens", "Injected tokens", None, 1, lambda e: e.injected),
    ("injected_tokens_per_call", "per call", None, 1, lambda e: e.injected_per_call),
    ("injected_tokens_once", "each text once", None, 1, lambda e: e.injected_once),
    ("injected_lines", "Injected lines", None, 1, lambda e: e.lines),
    ("input_tokens", "Input tokens", "low", 0, lambda e: e.input),
    ("cache_reuse_percent", "of it cached, %", "high", 1, lambda e: e.cache_percent),
    ("output_tokens", "Output tokens", "low", 0, lambda e: e.output),
    ("learning_input_tokens", "Input, judge and write", "low", 0, lambda e: e.learning_input),
    ("learning_output_tokens", "Output, judge and write", "low", 0, lambda e: e.learning_output),
)
_WORK: Columns = (
    ("rounds", "Rounds", "low", 2, lambda e: e.rounds),
    ("steps", "Steps", "low", 2, lambda e: e.steps),
    ("seconds_per_round", "s / round", "low", 2, lambda e: e.seconds_round),
    ("latency_seconds", "Latency, s", "low", 2, lambda e: e.seconds),
    ("calls_act", "Calls: act", None, 2, lambda e: e.calls["act"]),
    ("calls_plan", "plan", None, 2, lambda e: e.calls["plan"]),
    ("calls_retrieve", "retrieve", None, 2, lambda e: e.calls["retrieve"]),
    ("calls_judge", "judge", None, 2, lambda e: e.calls["judge"]),
    ("calls_write", "write", None, 2, lambda e: e.calls["write"]),
    ("cost_usd", "Cost, $", "low", 4, lambda e: e.cost),
)
_PUBLISHED = {
    "injected_tokens": "injected_tokens_per_task",
    "input_tokens": "input_tokens_per_task",
    "cache_reuse_percent": "cache_reuse_percent",
    "output_tokens": "output_tokens_per_task",
    "rounds": "rounds_per_task",
    "seconds_per_round": "seconds_per_round",
}
"""Our columns -> those of EvoWeave's table."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """Per backbone and setting: efficiency, calls by role, injection saving; the paper's values beside."""
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            part = panel.of(setting)
            made += _efficiency(part)
            if sum(injects(group) for group in part.groups) > 1:
                made.append(_saving(part))
            if paper is not None:
                made.append(_beside(part, paper))
    return made


def measured(group: Group) -> list[Efficiency | None]:
    """The efficiency of every seed."""
    return [efficiency(run) for run in group.runs]


def cell(
    entries: Sequence[Efficiency | None], read: Callable[[Efficiency], float | None], digits: int
) -> Cell:
    """One mean over seeds; unknown if it is unknown for any seed."""
    values = [None if entry is None else read(entry) for entry in entries]
    if any(value is None or math.isnan(value) for value in values):
        return Cell("unknown")
    entry = over_seeds(values)
    return Cell(value=entry.mean, sd=entry.sd, digits=digits)


def injects(group: Group) -> bool:
    """Whether a memory injected anything."""
    return any(run.tasks["injected_tokens_calls"].sum() > 0 for run in group.runs)


def _table(
    panel: Panel,
    kind: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *notes: str,
) -> Table:
    setting = panel.first.setting
    return Table(
        name=f"{kind}_{panel.slug}_{setting}",
        title=f"{title} on {setting_label(setting)}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows),
        notes=(*notes, *warnings(panel.groups), *legend(rows)),
        section="Efficiency",
    )


def _efficiency(panel: Panel) -> list[Table]:
    found = [measured(group) for group in panel.groups]
    notes = [
        "Means per task that did not fail. Injected tokens are summed over the task's acting calls; they are "
        "counted by the bundled tokenizer. Input and output tokens are those of acting, planning and "
        "retrieving, as the provider reports them. The lowest is best, except for the cached share."
    ]
    if any(entry is not None and entry.estimated for entries in found for entry in entries):
        notes.append(
            "The provider gave no usage for some calls: their tokens are estimates by the tokenizer."
        )
    work = (
        "Means per task that did not fail; calls are those of the counted attempt. Cost is a mean over all tasks "
        "and holds every call, retries and failed tasks included."
    )
    return [
        _table(panel, "tokens", "Tokens per task", *_grid(panel, found, _TOKENS), *notes),
        _table(panel, "work", "Rounds, time, calls and cost per task", *_grid(panel, found, _WORK), work),
    ]


def _grid(
    panel: Panel, found: Sequence[Sequence[Efficiency | None]], columns: Columns
) -> tuple[list[Column], tuple[tuple[Cell, ...], ...]]:
    heads = [Column("memory", "Memory")] + [Column(key, text, end) for key, text, end, _, _ in columns]
    rows = []
    for group, entries in zip(panel.groups, found, strict=True):
        cells = [cell(entries, read, digits) for _, _, _, digits, read in columns]
        ranked = not panel.unequal(group)
        rows.append([Cell(panel.label(group)), *(replace(entry, ranked=ranked) for entry in cells)])
    return heads, rank_columns(heads, rows)


def _saving(panel: Panel) -> Table:
    members = [group for group in panel.groups if injects(group)]
    columns = [Column("memory", "Memory")]
    columns += [Column(f"against_{place}", f"against {panel.label(g)}") for place, g in enumerate(members, 1)]
    injected = [cell(measured(group), lambda e: e.injected, 1).value or 0.0 for group in members]
    rows = [
        [Cell(panel.label(group))]
        + [Cell("") if other == place else Cell(value=injection_saving(injected[place], base), signed=True)
           for other, base in enumerate(injected)]
        for place, group in enumerate(members)
    ]  # fmt: skip
    note = "100 (1 - I / I_b), I: injected tokens of the row, I_b: of the column; undefined against none."
    return _table(panel, "saving", "Injection saving in percent", columns, rows, note)


def _beside(panel: Panel, paper: str) -> Table:
    if paper == "evoweave":
        theirs = {
            (row["memory"], ours): float(row[name])
            for row in published.read("evoweave_efficiency.csv")
            for ours, name in _PUBLISHED.items()
        }
    else:
        theirs = {
            (row["memory"], row["metric"]): float(row["mean"])
            for row in published.read("strata_quoted.csv")
            if row["table"] == "efficiency"
        }
    label = published.LABELS[paper]
    columns = [Column("memory", "Memory"), Column("quantity", "Per task"), Column("paper", label)]
    columns += [Column("ours", "Ours"), Column("difference", "Difference")]
    rows = []
    for group in panel.groups:
        entries = measured(group)
        for key, heading, _, digits, read in (*_TOKENS, *_WORK):
            value = theirs.get((group.first.memory, key))
            if value is not None:
                ours = cell(entries, read, digits)
                difference = (
                    Cell()
                    if ours.value is None
                    else Cell(value=ours.value - value, digits=digits, signed=True)
                )
                paper_cell = Cell(value=value, digits=digits)
                rows.append([Cell(panel.label(group)), Cell(heading), paper_cell, ours, difference])
    note = (
        f"{label} does not say for which settings and backbones its efficiency table holds: orientation only."
    )
    return _table(panel, f"efficiency_{paper}", f"Efficiency beside {label}", columns, rows, note)
