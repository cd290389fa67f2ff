"""STRATA's six ablation tables: mechanisms, similarity, thresholds, collection, meta layer, contrast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import published
from harness.load import Run
from harness.metrics import Group, Score, metric_label, score
from harness.significance import mean
from harness.tables.base import Cell, Column, Table, legend, rank_columns
from harness.tables.panels import SHORT, Panel, head, panels, setting_label, warnings
from harness.tables.published import shortfall
from harness.tables.strata_measures import of_group

ORDER = 70
FULL = "strata"
AVERAGE, SUM = "average", "sum_over_settings"


@dataclass(frozen=True)
class Quantity:
    """A column beside the scores: a measure summed or averaged over settings, as the paper does."""

    measure: str
    heading: str
    over: str
    """AVERAGE or SUM."""
    metric: str
    """Its name in results/paper/strata_quoted.csv."""
    digits: int = 1


@dataclass(frozen=True)
class Layout:
    """One table of the paper."""

    name: str
    title: str
    source: str
    """Name of the table in results/paper/strata_quoted.csv."""
    rows: Mapping[str, str]
    quantities: tuple[Quantity, ...] = ()
    remark: str = ""
    """Where the paper disagrees with itself."""


_SUMS = "The paper sums workflows, deletions, bridges and metas over settings; so do we, over those shown."
LAYOUTS = (
    Layout(
        "mechanisms",
        "Mechanisms removed one at a time",
        "ablation_mechanism",
        {
            FULL: "STRATA",
            "strata_no_tags": "w/o tag term",
            "strata_no_contrast": "w/o contrast edges",
            "strata_no_adaptive_threshold": "w/o adaptive threshold",
            "strata_no_meta": "w/o meta layer",
            "strata_no_collection": "w/o collection",
        },
    ),
    Layout(
        "similarity",
        "Similarity dimensions removed one at a time, the other weights renormalised",
        "similarity_dimension",
        {
            FULL: "STRATA",
            "strata_no_content": "w/o content",
            "strata_no_index": "w/o index",
            "strata_no_tags": "w/o tags",
            "strata_no_lexical": "w/o lexical",
            "strata_content_only": "content only",
        },
        remark="The paper gives 75.3 for the full system here and 72.9 in its other tables, and does not say why; "
        "of the single embedding dimensions it states the range only (-2.5 to -3.7).",
    ),
    Layout(
        "thresholds",
        "Thresholds",
        "threshold",
        {
            "strata_fixed_global_band": "fixed global band",
            "strata_no_adaptive_threshold": "w/o adaptive threshold",
            "strata_no_shrinkage": "per-group quantiles, no shrinkage",
            FULL: "STRATA",
        },
        (Quantity("workflows", "Surviving workflows", SUM, "workflows"),),
        _SUMS,
    ),
    Layout(
        "collection",
        "Collection",
        "collection",
        {
            "strata_no_collection": "w/o collection",
            "strata_no_bridge_protection": "w/o bridge protection",
            FULL: "STRATA",
        },
        (
            Quantity("deletions", "Deletions", SUM, "deletions"),
            Quantity("workflows", "Final size", SUM, "workflows"),
            Quantity("bridges", "Bridges spared", SUM, "bridges_protected"),
            Quantity("regret", "Regret, %", AVERAGE, "regret_percent"),
            Quantity("injected_lines", "Injected lines", AVERAGE, "injected_lines"),
        ),
        f"{_SUMS} The paper says that protection fires 1 to 6 times per benchmark, although ScienceWorld deletes "
        "nothing there.",
    ),
    Layout(
        "meta",
        "Meta layer",
        "meta_layer",
        {
            "strata_no_meta": "w/o meta layer",
            "strata_no_novelty_gate": "w/o novelty gate",
            FULL: "STRATA",
        },
        (
            Quantity("metas", "Metas", SUM, "metas"),
            Quantity("support", "Support", AVERAGE, "support"),
            Quantity("purity", "Purity, %", AVERAGE, "purity_percent"),
            Quantity("churn", "Churn, %", AVERAGE, "churn_percent"),
            Quantity("injection", "Injection, %", AVERAGE, "injection_percent"),
        ),
        _SUMS,
    ),
    Layout(
        "contrast",
        "Contrast edges",
        "contrast",
        {
            "strata_no_contrast": "none",
            "strata_hand_contrast": "hand-placed",
            FULL: "by rule (STRATA)",
        },
        (Quantity("contrast_pairs", "Pairs", SUM, "contrast_edges"),),
        "The paper says that the lexicon covers 'only heat_and_place' of ALFWorld, and elsewhere that "
        "clean_and_place carries contrast edges too.",
    ),
)


def table(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """Per backbone those of the six tables that have a row besides the full system."""
    made = []
    for panel in panels(runs):
        for layout in LAYOUTS:
            part = Panel(tuple(g for g in panel.groups if g.first.memory in layout.rows), panel.number)
            if {group.first.memory for group in part.groups} - {FULL}:
                made.append(_table(part, layout, paper))
    return made


def by_row(panel: Panel) -> dict[str, dict[str, Group]]:
    """Memory -> setting -> group; of several variants of a memory the default one counts."""
    found: dict[str, dict[str, Group]] = {}
    for group in sorted(panel.groups, key=lambda group: not group.first.variant.startswith("default")):
        found.setdefault(group.first.memory, {}).setdefault(group.first.setting, group)
    return found


def published_value(layout: Layout, memory: str, setting: str, metrics: Sequence[str]) -> float | None:
    """The paper's value under the first of `metrics` that it states for a row and setting."""
    for metric in metrics:
        for row in published.read("strata_quoted.csv"):
            key = (row["table"], row["memory"], row["setting"], row["metric"])
            if key == (layout.source, memory, setting, metric):
                return float(row["mean"])
    return None


def _table(panel: Panel, layout: Layout, paper: str | None) -> Table:
    rows = by_row(panel)
    memories = [memory for memory in layout.rows if memory in rows]
    whole = {memory: _average(panel, rows[memory]) for memory in memories}
    columns = [Column("configuration", "Configuration")]
    cells: dict[str, list[Cell]] = {memory: [Cell(layout.rows[memory])] for memory in memories}

    def add(column: Column, ours: Mapping[str, Cell], setting: str, metrics: Sequence[str]) -> None:
        columns.append(column)
        theirs = {memory: published_value(layout, memory, setting, metrics) for memory in memories}
        beside = paper == "strata" and any(value is not None for value in theirs.values())
        if beside:
            columns.append(Column(f"{column.key}_paper", "STRATA's paper"))
        for memory in memories:
            cells[memory].append(ours[memory])
            if beside:
                digits, signed = ours[memory].digits, ours[memory].signed
                cells[memory].append(Cell(value=theirs[memory], digits=digits, signed=signed, ranked=False))

    for setting in panel.settings:
        run = next(group.first for group in panel.groups if group.first.setting == setting)
        label = f"{SHORT.get(setting, setting_label(setting))} {metric_label(run.metrics[0])}"
        ours = {memory: _score_cell(panel, rows[memory].get(setting), paper) for memory in memories}
        there = published.setting_of("strata", setting)
        add(Column(setting, label, "high"), ours, there, [run.metrics[0].name])
    if len(panel.settings) > 1:
        ours = {memory: Cell(value=whole[memory], digits=1) for memory in memories}
        add(Column(AVERAGE, "Average", "high"), ours, AVERAGE, ["score"])
    if whole.get(FULL) is not None:
        changes = {memory: _change(whole, memory) for memory in memories}
        alone = published.setting_of("strata", panel.settings[0])
        where = AVERAGE if len(panel.settings) > 1 else alone
        add(Column("change", "Change"), changes, where, ["score_change"])
    for quantity in layout.quantities:
        ours = {memory: _quantity(panel, rows[memory], quantity) for memory in memories}
        add(Column(quantity.measure, quantity.heading), ours, quantity.over, [quantity.metric])
    made = rank_columns(columns, cells.values())
    return Table(
        name=f"strata_{layout.name}_{panel.slug}",
        title=f"{layout.title}: {panel.title}",
        head=head(panel.groups),
        columns=tuple(columns),
        rows=made,
        notes=(*_notes(panel, layout, paper), *warnings(panel.groups), *legend(made)),
        section="Ablations of STRATA",
    )


def _score_cell(panel: Panel, group: Group | None, paper: str | None) -> Cell:
    if group is None:
        return Cell()
    entry: Score = score(group, group.first.metrics[0])
    marks = shortfall(group, paper)[0] if paper == "strata" else ()
    return Cell(value=entry.mean, sd=entry.sd, digits=1, marks=marks, ranked=not panel.unequal(group))


def _average(panel: Panel, by_setting: Mapping[str, Group]) -> float | None:
    """The mean of the headline metric over settings, None unless every setting shown has it."""
    means = [
        score(by_setting[s], by_setting[s].first.metrics[0]).mean for s in panel.settings if s in by_setting
    ]
    known = [value for value in means if value is not None]
    return mean(known) if len(known) == len(panel.settings) else None


def _change(whole: Mapping[str, float | None], memory: str) -> Cell:
    full, value = whole[FULL], whole[memory]
    if memory == FULL or full is None or value is None:
        return Cell()
    return Cell(value=value - full, digits=1, signed=True)


def _quantity(panel: Panel, by_setting: Mapping[str, Group], quantity: Quantity) -> Cell:
    values = [of_group(by_setting[s]).get(quantity.measure) for s in panel.settings if s in by_setting]
    known = [value for value in values if value is not None]
    if len(values) < len(panel.settings) or (quantity.over == SUM and len(known) < len(values)) or not known:
        return Cell()
    return Cell(value=sum(known) if quantity.over == SUM else mean(known), digits=quantity.digits)


def _notes(panel: Panel, layout: Layout, paper: str | None) -> list[str]:
    notes = ["Headline metric of each setting; the change is to the full system, before rounding."]
    if len(panel.settings) > 1:
        notes.append("The average weighs the settings shown alike; a row without one of them has none.")
    if any(quantity.over == AVERAGE for quantity in layout.quantities):
        notes.append("Rates are means over the settings where there is something to count.")
    if paper == "strata":
        notes += [layout.remark] if layout.remark else []
        notes += _changes_stated(panel, layout)
        notes.append(f"{published.SEEDS_NOTE['strata']} The paper's ablations do not name their backbone.")
    return notes


def _changes_stated(panel: Panel, layout: Layout) -> list[str]:
    """The changes that the paper states for single settings, where the table shows several."""
    labels = {published.setting_of("strata", setting): setting_label(setting) for setting in panel.settings}
    stated = [
        f"{layout.rows[row['memory']]} {float(row['mean']):+.1f} on {labels[row['setting']]}"
        for row in published.read("strata_quoted.csv")
        if (row["table"], row["metric"]) == (layout.source, "score_change")
        and row["memory"] in layout.rows
        and row["setting"] in labels
    ]
    return [f"Changes that the paper states: {'; '.join(stated)}."] if stated and len(labels) > 1 else []
