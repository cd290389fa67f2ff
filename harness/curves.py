"""How a run goes along its stream: score, injected tokens and memory size at every position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.load import Run
from harness.metrics import Group, is_clamped
from harness.significance import mean


@dataclass(frozen=True)
class Point:
    """One position of a stream, means over the seeds that have reached it."""

    position: int
    cumulative: float | None
    """Headline metric over the tasks up to here; None while there is none."""
    moving: float | None
    """The same over the last `window` tasks."""
    injected: float
    """Injected tokens of this task, each text once."""
    size: float
    """Characters of the memory's documents after this task."""


def window_of(tasks: int) -> int:
    """Width of the moving mean: a tenth of the stream, at least 5 [ours]."""
    return max(5, round(tasks / 10))


def cumulative(values: Sequence[float | None]) -> list[float | None]:
    """Mean of the values up to each place; a failed task (None) leaves it as it was."""
    means: list[float | None] = []
    total, count = 0.0, 0
    for value in values:
        if value is not None:
            total, count = total + value, count + 1
        means.append(total / count if count else None)
    return means


def moving(values: Sequence[float | None], window: int) -> list[float | None]:
    """Mean of the last `window` places that have a value; None before there are `window` places."""
    means: list[float | None] = []
    for end in range(1, len(values) + 1):
        known = [value for value in values[max(0, end - window) : end] if value is not None]
        means.append(mean(known) if end >= window and known else None)
    return means


def sizes(changes: Sequence[tuple[int, str, int]], positions: Sequence[int]) -> list[int]:
    """Characters of all live documents after each position, from (position, document, characters)."""
    live: dict[str, int] = {}
    total, place, found = 0, 0, []
    ordered = sorted(changes, key=lambda change: change[0])
    for position in positions:
        while place < len(ordered) and ordered[place][0] <= position:
            _, document, size = ordered[place]
            total += size - live.get(document, 0)
            live[document] = size
            place += 1
        found.append(total)
    return found


def curve(group: Group, paper: str | None = None) -> list[Point]:
    """The points of one memory. The headline as a mean of tasks: percent for success metrics."""
    window = window_of(max(run.total or len(run.tasks) for run in group.runs))
    clamp = is_clamped(group.first.setting, paper)
    per_seed = [_of_run(run, window, clamp) for run in group.runs]
    points = []
    for position in sorted({position for run in per_seed for position in run}):
        here = [run[position] for run in per_seed if position in run]
        points.append(
            Point(
                position,
                _mean([point.cumulative for point in here]),
                _mean([point.moving for point in here]),
                mean([point.injected for point in here]),
                mean([point.size for point in here]),
            )
        )
    return points


def _of_run(run: Run, window: int, clamp: bool) -> Mapping[int, Point]:
    metric = run.metrics[0]
    factor = 1.0 if metric.how == "mean" else 100.0
    tasks, values = run.tasks, []
    for failed, metrics in zip(tasks["failed"], tasks["metrics"], strict=True):
        number = None if failed or metric.value not in metrics else factor * float(metrics[metric.value])
        values.append(max(0.0, number) if clamp and number is not None else number)
    positions = [int(position) for position in tasks["position"]]
    frame = run.changes
    changes = list(
        zip(
            frame["position"].astype(int),
            frame["document"].astype(str),
            frame["size"].astype(int),
            strict=True,
        )
    )
    rows = zip(
        positions,
        cumulative(values),
        moving(values, window),
        tasks["injected_tokens"],
        sizes(changes, positions),
        strict=True,
    )
    return {row[0]: Point(row[0], row[1], row[2], float(row[3]), float(row[4])) for row in rows}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None
