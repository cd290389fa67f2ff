"""The stream curve: score, injected tokens and memory size against stream position."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.curves import curve, window_of
from harness.figures.style import Drawn, colour, dash, figure, footer, literal, save
from harness.load import Run
from harness.metrics import metric_label
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 20


def figures(runs: Sequence[Run], folder: Path, paper: str | None = None) -> list[Drawn]:
    """One figure a backbone and setting with more than one task."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    return [
        _draw(part, folder, paper)
        for part in parts
        if max(len(run.tasks) for group in part.groups for run in group.runs) > 1
    ]


def _draw(panel: Panel, folder: Path, paper: str | None) -> Drawn:
    drawn = figure(7.2, 6.4)
    scores, tokens, size = drawn.subplots(3, 1, sharex=True, height_ratios=(2, 1, 1))
    memories = [group.first.memory for group in panel.groups]
    moving = False
    for place, group in enumerate(panel.groups):
        points = curve(group, paper)
        at = [point.position for point in points]
        look = {"color": colour(memories[place], place), "linestyle": dash(memories, place)}
        scores.plot(at, [_gap(point.cumulative) for point in points], linewidth=1.8,
                    label=literal(panel.label(group)), **look)  # fmt: skip
        scores.plot(at, [_gap(point.moving) for point in points], linewidth=0.9, alpha=0.45, **look)
        moving = moving or any(point.moving is not None for point in points)
        tokens.plot(at, [point.injected for point in points], linewidth=1.1, **look)
        size.plot(at, [point.size / 1000 for point in points], linewidth=1.4, **look)
    metric = metric_label(panel.first.metrics[0])
    for axes, name in ((scores, metric), (tokens, "injected tokens"), (size, "memory (1,000\ncharacters)")):
        axes.set_ylabel("\n".join(map(literal, name.split("\n"))), fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(color="#e6e6e6", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.01)
    tokens.set_ylim(bottom=0)
    size.set_ylim(bottom=0)
    size.set_xlabel("position in the stream (tasks)", fontsize=8)
    size.xaxis.get_major_locator().set_params(integer=True)
    scores.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, fontsize=8, frameon=False)
    setting = panel.first.setting
    title = f"Along the stream on {setting_label(setting)}: {panel.title}"
    drawn.suptitle(literal(title, 80), fontsize=10, y=0.99)
    drawn.align_ylabels()
    rows = -(-len(scores.get_legend().get_texts()) // 4)
    drawn.subplots_adjust(top=0.94 - 0.025 * max(rows, 1), hspace=0.12)
    window = window_of(max(run.total or len(run.tasks) for group in panel.groups for run in group.runs))
    notes = [f"Score: mean over all tasks so far{f'; faint: over the last {window} tasks' if moving else ''}. "
             "Means over seeds; failed tasks left out of scores."]  # fmt: skip
    lines = [*notes, *head(panel.groups), *warnings(panel.groups)]
    footer(drawn, [*notes, "; ".join(head(panel.groups)), *warnings(panel.groups)], width=120, y=0.03)
    return save(drawn, folder, f"stream_{panel.slug}_{setting}", title=title, caption=lines, section="Stream")


def _gap(value: float | None) -> float:
    return float("nan") if value is None else value
