"""Composition of EvoWeave's graph: counts, and the two normalised bars of appendix E."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness import published
from harness.load import Run
from harness.metrics import Group, over_seeds
from harness.tables.base import FEWER_TASKS, Cell, Column, Table, legend
from harness.tables.composition import counters
from harness.tables.panels import Panel, head, panels, setting_label, warnings

ORDER = 92
LAYERS: Mapping[str, tuple[str, ...]] = {
    "experience": ("states", "operations"),
    "capability": ("code_nodes", "api_nodes", "role_nodes", "code_links", "api_links", "role_links"),
}
"""Layer -> its components. The capability layer (the figure's tool layer) holds nodes and links together."""


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """One table a backbone and setting with a memory that has states and operations."""
    parts = [panel.of(setting) for panel in panels(runs) for setting in panel.settings]
    return [made for made in (_table(part, paper) for part in parts) if made is not None]


def composition(group: Group) -> dict[str, float]:
    """Mean count of each component over seeds, after the last task; empty for a memory without them."""
    found: dict[str, float] = {}
    for name in (part for parts in LAYERS.values() for part in parts):
        mean = over_seeds(counters(run).get(name) for run in group.runs).mean
        if mean is None:
            return {}
        found[name] = mean
    return found


def shares(counts: Mapping[str, float]) -> dict[str, float]:
    """100 n_k / sum of n_j over the components of its layer; 0 everywhere in an empty layer."""
    found: dict[str, float] = {}
    for parts in LAYERS.values():
        total = sum(counts[part] for part in parts)
        found |= {part: 100 * counts[part] / total if total else 0.0 for part in parts}
    return found


def _published(setting: str) -> Mapping[str, str]:
    return next((row for row in published.read("evoweave_graph.csv") if row["setting"] == setting), {})


def _table(panel: Panel, paper: str | None) -> Table | None:
    setting = panel.first.setting
    theirs = _published(setting) if paper == "evoweave" else {}
    rows: list[tuple[Cell, ...]] = []
    shown: list[Group] = []
    for group in panel.groups:
        counts = composition(group)
        if not counts:
            continue
        shown.append(group)
        marks = (FEWER_TASKS,) if panel.unequal(group) else ()
        percent = shares(counts)
        for layer, parts in LAYERS.items():
            for part in parts:
                value = counts[part]
                digits = 0 if value == int(value) else 1
                row = [
                    Cell(panel.label(group)),
                    Cell(layer),
                    Cell(part.replace("_", " ")),
                    Cell(value=value, digits=digits, marks=marks),
                    Cell(value=percent[part], digits=1),
                ]
                rows.append((*row, _paper(theirs, part)) if theirs else tuple(row))
    if not rows:
        return None
    columns = [
        Column("memory", "Memory"),
        Column("layer", "Layer"),
        Column("component", "Component"),
        Column("count", "Count"),
        Column("share", "Share of layer (%)"),
    ]
    return Table(
        name=f"evoweave_graph_{panel.slug}_{setting}",
        title=f"Graph composition on {setting_label(setting)}: {panel.title}",
        head=head(shown),
        columns=tuple([*columns, Column("paper", "EvoWeave's paper")] if theirs else columns),
        rows=tuple(rows),
        notes=(
            "After the last task, mean over seeds. Each layer is normalised by itself, nodes and links together: "
            "shares are of recorded elements, not of use.",
            "api nodes are the environment's public definitions.",
            *warnings(shown),
            *legend(rows),
        ),
        section="Memory composition",
    )


def _paper(row: Mapping[str, str], part: str) -> Cell:
    return Cell(value=float(row[part]), digits=0) if part in row else Cell()
