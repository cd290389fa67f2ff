"""How runs are put side by side: one panel a backbone and protocol, and the head every table carries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from envs.base import Metric
from harness import published
from harness.load import Run
from harness.metrics import Group, groups

MEMORIES = (
    "none", "flat", "awm", "reasoningbank", "mem0", "expel", "amem",
    "hermes", "memgen", "memevolve", "evoweave", "strata",
)  # fmt: skip
"""Order of rows: as in the papers' tables."""
METHODS = ("evoweave", "strata")
"""The methods that the papers propose; every other memory, but for their ablations, is a baseline."""
SHORT = {"appworld_test_normal": "Normal", "appworld_test_challenge": "Challenge"}
"""Labels where a table holds several settings, as in the papers' headings."""
SETTINGS = {
    "appworld_test_normal": "AppWorld Test-Normal",
    "appworld_test_challenge": "AppWorld Test-Challenge",
    "webarena": "WebArena",
    "alfworld": "ALFWorld",
    "scienceworld": "ScienceWorld",
    "scienceworld_strata23": "ScienceWorld (STRATA's 23)",
}
"""Labels, in the order of the papers' columns."""


@dataclass(frozen=True)
class Panel:
    """Memories that may be compared: one backbone, one way of running the stream."""

    groups: tuple[Group, ...]
    number: int = 1
    """Tells panels apart that have the same backbone and the same words for their stream."""

    @property
    def first(self) -> Run:
        return self.groups[0].first

    @property
    def settings(self) -> list[str]:
        """The settings, in the order of the papers' columns."""
        return sorted({group.first.setting for group in self.groups}, key=setting_order)

    @property
    def title(self) -> str:
        """The backbone, and what is not as in the papers."""
        return ", ".join([self.first.backbone_label, *deviations(self.first)])

    @property
    def slug(self) -> str:
        """A name for files, its own among the panels of a report."""
        name = slug(" ".join([self.first.backbone, *deviations(self.first)]))
        return name if self.number == 1 else f"{name}-{self.number}"

    def of(self, setting: str) -> Panel:
        """The part of the panel on one setting."""
        return Panel(tuple(group for group in self.groups if group.first.setting == setting), self.number)

    def label(self, group: Group) -> str:
        """A memory's label; with its variant if the setting has several variants of it."""
        run = group.first
        same = [g for g in self.groups if (g.first.setting, g.first.memory) == (run.setting, run.memory)]
        return run.memory_label if len(same) == 1 else f"{run.memory_label} [{run.variant}]"

    def unequal(self, group: Group) -> bool:
        """Whether a group is unfinished or has fewer tasks a seed than another of its setting."""
        most = max(max(len(run.tasks) for run in other.runs) for other in self.of(group.first.setting).groups)
        return any(not run.finished or len(run.tasks) < most for run in group.runs)


def deviations(run: Run) -> tuple[str, ...]:
    """In what the stream of a run is not the papers': empty for release order, online, one task at a time."""
    stream = run.stream
    order, freeze, window = (
        stream.get("order") or "release",
        stream.get("freeze_after"),
        stream.get("window") or 1,
    )
    chosen, source = stream.get("tasks"), stream.get("memory_from")
    return tuple(
        words
        for words, there in (
            (f"{order} order", order != "release"),
            (f"memory frozen after {freeze} tasks", freeze is not None),
            (f"{window} tasks in flight", window != 1),
            (f"{len(chosen or ())} chosen tasks", bool(chosen)),
            ("memory taken from another run", bool(source)),
        )
        if there
    )


def protocol(run: Run) -> str:
    """The stream of a run in words: order, online or frozen, and whatever else is not the papers'."""
    stream = run.stream
    words = [
        f"{stream.get('order') or 'release'} order",
        "online"
        if stream.get("freeze_after") is None
        else f"memory frozen after {stream['freeze_after']} tasks",
    ]
    return ", ".join(words + [word for word in deviations(run) if word not in words])


def panels(runs: Sequence[Run]) -> list[Panel]:
    """Panels in the order of their backbones' names, the papers' protocol first."""
    found: dict[tuple[str, tuple[str, ...], str], list[Group]] = {}
    for group in groups(runs):
        run = group.first
        # Two lists of chosen tasks, or two sources of a memory, are two protocols of the same words.
        which = f"{run.stream.get('tasks') or ''} {run.stream.get('memory_from') or ''}"
        found.setdefault((run.backbone, deviations(run), which), []).append(group)
    made: list[Panel] = []
    for key in sorted(found):
        same = sum(panel.first.backbone == key[0] and deviations(panel.first) == key[1] for panel in made)
        made.append(Panel(tuple(sorted(found[key], key=row_order)), same + 1))
    return made


def headline(run: Run) -> tuple[Metric, ...]:
    """The metrics that the papers' main tables show for a setting; for others the first alone."""
    there = published.setting_of("strata", run.setting)
    return (
        tuple(metric for metric in run.metrics if (there, metric.name) in published.COLUMNS)
        or run.metrics[:1]
    )


def row_order(group: Group) -> tuple[int, str, str]:
    """Sort key of rows: the papers' order, then by name and variant."""
    name = group.first.memory
    known = name if name in MEMORIES else name.split("_")[0]  # an ablation stands below what it is one of
    return (MEMORIES.index(known) if known in MEMORIES else len(MEMORIES), name, group.first.variant)


def setting_order(setting: str) -> tuple[int, str]:
    """Sort key of settings: the papers' order, then by name."""
    known = list(SETTINGS)
    return (known.index(setting) if setting in known else len(known), setting)


def setting_label(setting: str) -> str:
    """A setting as headings show it; one that the papers do not have keeps its own name."""
    return SETTINGS.get(setting, setting)


def slug(text: str) -> str:
    """A name for files: small letters, digits, - and _."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-") or "x"


def head(members: Sequence[Group]) -> tuple[str, ...]:
    """The lines at the head of a table: protocol, seeds, backbone as served, judge, tokenizer."""
    runs = [run for group in members for run in group.runs]
    limits = _distinct([f"first {n} only" if (n := run.stream.get("limit")) else "all" for run in runs])
    limited = "" if limits == ["all"] else f", {' or '.join(limits)}"
    stream = "; ".join(_distinct([protocol(run) for run in runs]))
    seeds = _distinct([", ".join(str(seed) for seed in group.seeds) for group in members])
    served = _distinct([name for run in runs for name in run.served.split(", ") if name])
    backbone = "; ".join(_distinct([run.backbone_label for run in runs]))
    return (
        f"Stream: {stream}{_chosen(runs)}{limited}",
        "Seeds: " + (seeds[0] if len(seeds) == 1 else "differ between rows: " + " | ".join(seeds)),
        f"Backbone: {backbone}, served as {', '.join(served) or 'not recorded'}",
        f"Judge: {'; '.join(_distinct([run.meta.get('judge') or 'not recorded' for run in runs]))}",
        f"Tokenizer: {'; '.join(_distinct([run.meta.get('tokenizer') or 'not recorded' for run in runs]))}",
    )


def _chosen(runs: Sequence[Run]) -> str:
    """The numbers of chosen tasks, where they are few and the same for all."""
    lists = _distinct([", ".join(str(number) for number in run.stream.get("tasks") or ()) for run in runs])
    return f" ({lists[0]})" if len(lists) == 1 and 0 < len(lists[0]) <= 60 else ""


def warnings(members: Sequence[Group]) -> tuple[str, ...]:
    """What every reader of these runs must know: single seeds, unfinished runs, failed tasks."""
    notes = []
    if any(len(group.runs) == 1 for group in members):
        notes.append(
            "Warning: some rows rest on one seed; no spread can be given and the order may be chance."
        )
    open_runs = [run for group in members for run in group.runs if not run.finished]
    if open_runs:
        several = len({run.backbone for run in open_runs}) > 1
        parts = [
            f"{run.memory_label} seed {run.seed}, {run.setting}{f', {run.backbone}' if several else ''}: "
            f"{len(run.tasks)} of {run.total or '?'}"
            for run in open_runs
        ]
        shown = "; ".join(parts[:6]) + (f"; and {len(parts) - 6} more" if len(parts) > 6 else "")
        notes.append(f"Unfinished (tasks done): {shown}.")
    return tuple(notes)


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))
