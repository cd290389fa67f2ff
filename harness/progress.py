"""What a person sees while a run goes on: a bar on a terminal, a line a task elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TextIO

from agents.base import Step
from envs.base import Metric, Task
from harness.records import TaskRecord


@dataclass
class Running:
    """The figures of a run so far. A failed task is no zero: it is counted apart."""

    metric: Metric
    spent: Callable[[], tuple[float, int, bool]]
    """US dollars, tokens, whether a price is unknown (`Journal.spent`)."""
    paid: bool
    values: list[float] = field(default_factory=list)
    failed: int = 0

    def add(self, failure: str, evaluation: str, metrics: dict[str, float]) -> None:
        """Count one committed task."""
        if failure != "none" or evaluation != "done":
            self.failed += 1
        else:
            self.values.append(metrics.get(self.metric.value, 0.0))

    def text(self) -> str:
        """e.g. `score so far 31.2 · 41,203 tokens · $0.12`."""
        usd, tokens, unknown = self.spent()
        parts = [f"{self.metric.name} so far {self.score()}"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        parts.append(f"{tokens:,} tokens")
        if self.paid:
            parts.append("cost unknown" if unknown else f"${usd:.4f}")
        return " · ".join(parts)

    def score(self) -> str:
        """Running mean, in the unit of the metric."""
        if not self.values:
            return "-"
        mean = sum(self.values) / len(self.values)
        # A share of scenarios is only known when they are whole: while running, the tasks' share stands for it.
        return f"{mean:.1f}" if self.metric.how == "mean" else f"{100 * mean:.1f}"


class LineProgress:
    """A line a task, on any stream: for logs, and for the runs of a sweep that go side by side."""

    def __init__(self, name: str, running: Running, out: TextIO | None = None) -> None:
        self.name, self.running, self.out = name, running, out or sys.stderr
        self._began = time.monotonic()
        self._total = self._done = self._new = 0

    def start(self, total: int, done: int) -> None:
        """Say what there is to do."""
        self._total, self._done, self._began = total, done, time.monotonic()
        state = "everything is done already" if done >= total else f"{done} of {total} tasks done, going on"
        if done:
            self.say(f"{state} · {self.running.text()}")

    def task(self, position: int, task: Task) -> None:
        """A task begins."""

    def step(self, step: Step) -> None:
        """A step was taken."""

    def committed(self, record: TaskRecord) -> None:
        """A task is in the journal."""
        self.running.add(record.failure, record.evaluation, dict(record.metrics))
        self._done += 1
        self._new += 1
        outcome = record.failure if record.failure != "none" else (record.end or "")
        self.say(
            f"task {self._done} of {self._total} · {self.running.text()} · {record.acted} steps, {outcome} · "
            f"{left(self._began, self._new, self._total - self._done)}"
        )

    def tell(self, text: str) -> None:
        """Something the user should know."""
        self.say(text)

    def say(self, text: str) -> None:
        print(f"[{self.name}] {text}", file=self.out, flush=True)

    def close(self) -> None:
        """Nothing to tidy up."""


class BarProgress(LineProgress):
    """A bar with the running figures, for one run on a terminal."""

    def __init__(self, name: str, running: Running) -> None:
        super().__init__(name, running)
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = Console(stderr=True)
        columns: list[Any] = [
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
            TimeElapsedColumn(),
        ]
        self._bar = Progress(*columns, console=self._console)
        self._row = self._bar.add_task(name, total=None, figures="")
        self._position = self._steps = 0

    def start(self, total: int, done: int) -> None:
        super().start(total, done)
        self._bar.start()
        self._bar.update(self._row, total=total, completed=done)

    def task(self, position: int, task: Task) -> None:
        self._steps = 0
        self._show("starting")

    def step(self, step: Step) -> None:
        self._steps += step.kind == "act"
        self._show(f"step {self._steps}")

    def committed(self, record: TaskRecord) -> None:
        self.running.add(record.failure, record.evaluation, dict(record.metrics))
        self._done += 1
        self._new += 1
        self._bar.update(self._row, completed=self._done)
        self._show("")

    def say(self, text: str) -> None:
        self._console.print(f"[{self.name}] {text}", markup=False, highlight=False)

    def close(self) -> None:
        self._bar.stop()

    def _show(self, now: str) -> None:
        parts = [now, self.running.text(), left(self._began, self._new, self._total - self._done)]
        self._bar.update(self._row, figures=" · ".join(part for part in parts if part))


def left(began: float, done: int, remaining: int) -> str:
    """Time left, from the mean of the tasks done in this process."""
    if remaining <= 0:
        return "done"
    if not done:
        return "time left unknown"
    seconds = int((time.monotonic() - began) / done * remaining)
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} left"
