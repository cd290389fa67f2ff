"""EvoWeave's figure 8: two horizontal bars a setting, each layer of the graph normalised by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.figures.style import Drawn, figure, footer, literal, save
from harness.load import Run
from harness.tables.evoweave_graph import LAYERS, composition, shares
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 60
COLOURS = {
    "states": "#1f77b4", "operations": "#aec7e8", "code_nodes": "#2ca02c", "api_nodes": "#ff7f0e",
    "role_nodes": "#9467bd", "code_links": "#98df8a", "api_links": "#ffbb78", "role_links": "#c5b0d5",
}  # fmt: skip
LABELLED = 4.0
"""Share in percent from which a part carries its count inside the bar; smaller ones are in the legend."""


def figures(runs: Sequence[Run], folder: Path, paper: str | None = None) -> list[Drawn]:
    """One figure a backbone with EvoWeave runs."""
    made = []
    for panel in panels(runs):
        groups = tuple(group for group in panel.groups if composition(group))
        if groups:
            made.append(_draw(Panel(groups, panel.number), folder))
    return made


def _draw(panel: Panel, folder: Path) -> Drawn:
    bars = [(panel, group, layer) for group in panel.groups for layer in LAYERS]
    height = 1.5 + 0.36 * len(bars)
    drawn = figure(7.2, height)
    axes = drawn.subplots()
    # Margins in inches, so that few bars leave room for title and small print too.
    drawn.subplots_adjust(left=0.28, right=0.98, top=1 - 0.85 / height, bottom=0.6 / height)
    seen: set[str] = set()
    for place, (_, group, layer) in enumerate(bars):
        counts = composition(group)
        percent = shares(counts)
        left = 0.0
        for part in LAYERS[layer]:
            width = percent[part]
            label = part.replace("_", " ") if part not in seen else None
            seen.add(part)
            axes.barh(
                place, width, left=left, color=COLOURS[part], edgecolor="white", height=0.72, label=label
            )
            if width >= LABELLED:
                text = f"{counts[part]:g}" if counts[part] == int(counts[part]) else f"{counts[part]:.1f}"
                axes.text(left + width / 2, place, text, ha="center", va="center", fontsize=7)
            left += width
    names = [f"{setting_label(g.first.setting)}, {panel.label(g)}: {layer}" for _, g, layer in bars]
    axes.set_yticks(range(len(bars)), [literal(name) for name in names], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of its layer (%); numbers are counts", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, fontsize=7, frameon=False)
    title = f"Composition of the graph: {panel.title}"
    drawn.suptitle(literal(title, 80), fontsize=10, y=1 - 0.1 / height, va="top")
    lines = [
        "Each bar is normalised by itself: equal lengths do not mean equal sizes. Recorded elements, not their use.",
        *head(panel.groups),
        *warnings(panel.groups),
    ]
    footer(drawn, [lines[0], "; ".join(head(panel.groups))], width=120, y=0.15 / height)
    return save(
        drawn,
        folder,
        f"evoweave_graph_{panel.slug}",
        title=title,
        caption=lines,
        section="Memory composition",
    )
