"""Scores by category as radars: EvoWeave's (every spoke its own range) and STRATA's (one labelled floor)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.figures.bounds import floor_of, radius, spoke_bounds, spoke_label
from harness.figures.style import Drawn, colour, dash, figure, footer, literal, save
from harness.load import Run
from harness.metrics import Score, is_clamped, metric_label
from harness.significance import separable
from harness.tables.base import NOT_SEPARABLE
from harness.tables.category import category_score
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 10
LEFT_OUT = ("none", "flat")
"""Memories that STRATA's radars omit for legibility."""


@dataclass(frozen=True)
class Series:
    """One memory's line: a score a spoke."""

    memory: str
    label: str
    scores: tuple[Score, ...]


@dataclass(frozen=True)
class Radar:
    """What both styles draw."""

    spokes: tuple[str, ...]
    """Labels of the categories that have a score under every memory."""
    series: tuple[Series, ...]


def radar(panel: Panel, *, clamp: bool, leave_out: Sequence[str] = ()) -> Radar:
    """The category scores of a panel on one setting. Categories that a memory lacks are left out."""
    members = [group for group in panel.groups if group.first.memory not in leave_out]
    categories = list(panel.first.categories.items())
    scores = {
        panel.label(group): [category_score(group, key, clamp=clamp) for key, _ in categories]
        for group in members
    }
    kept = [
        place
        for place in range(len(categories))
        if all(row[place].mean is not None for row in scores.values())
    ]
    return Radar(
        tuple(categories[place][1] for place in kept),
        tuple(
            Series(
                group.first.memory,
                panel.label(group),
                tuple(scores[panel.label(group)][place] for place in kept),
            )
            for group in members
        ),
    )


def figures(runs: Sequence[Run], folder: Path, paper: str | None = None) -> list[Drawn]:
    """Both radars of every backbone and setting with three categories or more."""
    made = []
    for panel in panels(runs):
        for setting in panel.settings:
            part = panel.of(setting)
            clamped = setting.startswith("scienceworld")
            own = radar(part, clamp=clamped)
            if own.series and len(own.spokes) >= 3:
                made.append(_own_ranges(part, own, folder, clamped))
            # STRATA's are drawn from raw scores; with nothing but none and flat there is nothing to show.
            floored = radar(part, clamp=is_clamped(setting, paper), leave_out=LEFT_OUT)
            if floored.series and len(floored.spokes) >= 3:
                made.append(_floored(part, floored, folder))
    return made


def _own_ranges(panel: Panel, data: Radar, folder: Path, clamped: bool) -> Drawn:
    bounds = [spoke_bounds(values) for values in _columns(data)]
    labels = [
        f"{literal(name, 20)}\n[{spoke_label(low)}, {spoke_label(high)}]"
        for name, (low, high) in zip(data.spokes, bounds, strict=True)
    ]
    drawn, axes = _axes(labels)
    axes.set_yticks([0.25, 0.5, 0.75, 1.0], labels=[])
    axes.set_ylim(0, 1)
    for place, series in enumerate(data.series):
        radii = [
            radius(score.mean or 0.0, low, high)
            for score, (low, high) in zip(series.scores, bounds, strict=True)
        ]
        _line(axes, data, place, radii)
    metric = metric_label(panel.first.metrics[0])
    notes = [
        f"{metric} by category; every spoke has its own range [L, U], rings at quarters: compare within a spoke, "
        "not areas."
    ]
    if clamped:
        notes.append("Scores clamped at 0.")
    setting = panel.first.setting
    title = f"{setting_label(setting)} by category: {panel.title}"
    return _finish(panel, drawn, axes, notes, title, f"radar_evoweave_{panel.slug}_{setting}", folder, 0.95)


def clipped(data: Radar, floor: float) -> list[str]:
    """What lies below the floor and is drawn on it: `memory on category: value`."""
    return [
        f"{series.label} on {name}: {score.mean:.1f}"
        for series in data.series
        for name, score in zip(data.spokes, series.scores, strict=True)
        if score.mean is not None and score.mean < floor
    ]


def inseparable(scores: Sequence[Score]) -> bool:
    """Whether the two best of a spoke differ by less than one combined standard deviation."""
    best = sorted((score for score in scores if score.mean is not None), key=lambda s: -(s.mean or 0.0))[:2]
    if len(best) < 2:
        return False
    return separable((best[0].mean or 0.0) - (best[1].mean or 0.0), best[0].sd, best[1].sd) is False


def _floored(panel: Panel, data: Radar, folder: Path) -> Drawn:
    values = [value for column in _columns(data) for value in column]
    floor = floor_of(values)
    top = min(100, max(10 * math.ceil(max(values) / 10), floor + 5))
    close = [
        inseparable([series.scores[place] for series in data.series]) for place in range(len(data.spokes))
    ]
    labels = [
        literal(name, 20) + (f" {NOT_SEPARABLE}" if mark else "")
        for name, mark in zip(data.spokes, close, strict=True)
    ]
    drawn, axes = _axes(labels)
    step = 20 if top - floor > 50 else 10 if top - floor > 20 else 5
    rings = [ring for ring in range(0, 101, step) if floor < ring <= top]
    axes.set_ylim(floor, top)
    axes.set_yticks(rings, labels=[str(ring) for ring in rings], fontsize=6, color="#777777")
    for place, series in enumerate(data.series):
        _line(axes, data, place, [min(max(score.mean or 0.0, floor), top) for score in series.scores])
    axes.text(0.5, 1.13, f"every axis starts at {floor}", transform=axes.transAxes, ha="center", fontsize=8)
    below = clipped(data, floor)
    metric = metric_label(panel.first.metrics[0])
    notes = [f"{metric} by category; every axis starts at {floor}, so areas are not proportional to scores."]
    if below:
        notes.append(f"Below the floor and drawn on it: {'; '.join(below)}.")
    if any(close):
        notes.append(
            f"{NOT_SEPARABLE} The two best differ by less than one combined standard deviation: not separable."
        )
    setting = panel.first.setting
    title = f"{setting_label(setting)} by category, from a floor: {panel.title}"
    return _finish(panel, drawn, axes, notes, title, f"radar_strata_{panel.slug}_{setting}", folder, 1.0)


def _columns(data: Radar) -> list[list[float]]:
    return [[series.scores[place].mean or 0.0 for series in data.series] for place in range(len(data.spokes))]


def _axes(labels: Sequence[str]) -> tuple[Any, Any]:
    drawn = figure(6.2, 5.4)
    axes = drawn.add_axes((0.14, 0.16, 0.72, 0.66), projection="polar")
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    angles = [2 * math.pi * place / len(labels) for place in range(len(labels))]
    axes.set_xticks(angles, labels=labels, fontsize=7.5)
    for angle, label in zip(angles, axes.get_xticklabels(), strict=True):
        side = math.sin(angle)
        label.set_horizontalalignment("center" if abs(side) < 0.1 else "left" if side > 0 else "right")
    axes.tick_params(axis="x", pad=3)
    axes.grid(color="#dddddd", linewidth=0.7)
    axes.spines["polar"].set_color("#999999")
    return drawn, axes


def _line(axes: Any, data: Radar, place: int, radii: Sequence[float]) -> None:
    series = data.series[place]
    memories = [entry.memory for entry in data.series]
    angles = [2 * math.pi * spoke / len(radii) for spoke in range(len(radii))]
    axes.plot(
        [*angles, angles[0]],
        [*radii, radii[0]],
        color=colour(series.memory, place),
        linestyle=dash(memories, place),
        linewidth=1.6,
        marker="o",
        markersize=3,
        label=literal(series.label),
        clip_on=False,
    )


def _finish(
    panel: Panel, drawn: Any, axes: Any, notes: Sequence[str], title: str, name: str, folder: Path, top: float
) -> Drawn:
    drawn.suptitle(literal(title, 70), fontsize=10, y=top, va="bottom")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncol=4, fontsize=8, frameon=False)
    lines = [*notes, *head(panel.groups), *warnings(panel.groups)]
    rows = -(-len(axes.get_legend().get_texts()) // 4)
    footer(
        drawn, [*notes, "; ".join(head(panel.groups)), *warnings(panel.groups)], y=0.02 - 0.03 * max(rows, 1)
    )
    return save(drawn, folder, name, title=title, caption=lines, section="Categories")
