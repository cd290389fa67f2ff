"""From tasks to the numbers of a table: metrics of a run, means over seeds, means over backbones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from envs.base import Metric
from harness.load import Run
from harness.significance import mean, sample_sd

TEST_NORMAL, TEST_CHALLENGE = 168, 417
"""Tasks of AppWorld's two test splits: the weights of Overall (EvoWeave, A.2)."""


@dataclass(frozen=True)
class Outcome:
    """One task as metrics see it. `value` is None if the task failed (infrastructure, not the agent)."""

    scenario: str
    value: float | None


@dataclass(frozen=True)
class Score:
    """One metric over one or more seeds. A run that does not exist has no score: None, never 0."""

    mean: float | None
    sd: float | None
    """Sample standard deviation over seeds; None for one seed."""
    values: tuple[float, ...]
    """One a seed."""


@dataclass(frozen=True)
class Group:
    """The runs that differ only in their seed."""

    runs: tuple[Run, ...]

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(run.seed for run in self.runs)

    @property
    def tasks(self) -> int:
        """Tasks that ended, over all seeds, failed ones included."""
        return sum(len(run.tasks) for run in self.runs)

    @property
    def total(self) -> int:
        """Tasks that there should be, over all seeds."""
        return sum(max(run.total, len(run.tasks)) for run in self.runs)

    @property
    def failed(self) -> int:
        """Tasks that failed: environment, backbone, overflow, refusal, interruption, no evaluation."""
        return sum(int(run.tasks["failed"].sum()) for run in self.runs)

    @property
    def finished(self) -> bool:
        return all(run.finished for run in self.runs)


def groups(runs: Iterable[Run]) -> list[Group]:
    """Runs grouped over seeds, in the order in which they come."""
    found: dict[tuple[str, str, str, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.setting, run.backbone, run.memory, run.variant), []).append(run)
    return [Group(tuple(sorted(members, key=lambda run: run.seed))) for members in found.values()]


def outcomes(run: Run, value: str, *, clamp: bool = False) -> list[Outcome]:
    """Every ended task of a run under the evaluation key `value`; clamped at 0 if asked (EvoWeave)."""
    tasks = run.tasks
    found = []
    for scenario, failed, metrics in zip(tasks["scenario"], tasks["failed"], tasks["metrics"], strict=True):
        if failed or value not in metrics:
            found.append(Outcome(str(scenario), None))
        else:
            number = float(metrics[value])
            found.append(Outcome(str(scenario), max(0.0, number) if clamp else number))
    return found


def reduce(tasks: Sequence[Outcome], how: str, *, failures_count: bool) -> float | None:
    """One metric from the tasks of one run, None if nothing can be said.

    With `failures_count` a failed task has the value 0. Without it failed tasks are left out, and for
    `percent_of_scenarios` so is every scenario that holds one: whether all of it passed is unknown.
    """
    if how == "percent_of_scenarios":
        scenarios: dict[str, list[float | None]] = {}
        for task in tasks:
            scenarios.setdefault(task.scenario, []).append(task.value)
        kept = [values for values in scenarios.values() if failures_count or None not in values]
        if not kept:
            return None
        return 100 * mean([float(all(value == 1 for value in values)) for values in kept])
    values = [
        0.0 if task.value is None else task.value
        for task in tasks
        if failures_count or task.value is not None
    ]
    if not values:
        return None
    if how == "percent":
        return 100 * mean(values)
    if how == "mean":
        return mean(values)
    raise ValueError(f"a metric is a mean, percent or percent_of_scenarios, not {how!r}")


def over_seeds(values: Iterable[float | None]) -> Score:
    """Mean and sample sd of one value a seed; seeds without a value are left out."""
    known = tuple(value for value in values if value is not None)
    return Score(mean(known) if known else None, sample_sd(known), known)


def score(group: Group, metric: Metric, *, failures_count: bool = False, clamp: bool = False) -> Score:
    """A metric of one memory over its seeds."""
    return over_seeds(
        reduce(outcomes(run, metric.value, clamp=clamp), metric.how, failures_count=failures_count)
        for run in group.runs
    )


def is_clamped(setting: str, paper: str | None) -> bool:
    """EvoWeave's ScienceWorld score lies in 0..100, STRATA's and ours in -100..100 (protocol)."""
    return paper == "evoweave" and setting.startswith("scienceworld")


def overall(normal: float, challenge: float) -> float:
    """AppWorld Overall from the means of the two splits, weighted by their tasks (EvoWeave, A.2)."""
    return (TEST_NORMAL * normal + TEST_CHALLENGE * challenge) / (TEST_NORMAL + TEST_CHALLENGE)


def macro(backbones: Mapping[str, Score]) -> Score:
    """The mean over backbones, each weighing the same; its sd is that of a mean of independent means."""
    means = [entry.mean for entry in backbones.values() if entry.mean is not None]
    sds = [entry.sd for entry in backbones.values()]
    known = [sd for sd in sds if sd is not None]
    sd = sum(value**2 for value in known) ** 0.5 / len(known) if known and len(known) == len(sds) else None
    return Score(mean(means) if means else None, sd, tuple(means))


def metric_label(metric: Metric) -> str:
    """The heading of a metric's column."""
    return metric.label or metric.name.replace("_", " ")
