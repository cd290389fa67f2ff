"""What a run would do and cost, told before anything is paid (`dry_run=true`)."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.prices import Price, PriceTable, load_prices
from envs.base import Environment, SetupError, Task
from harness import database
from harness.assemble import Plan
from harness.journal import FILE
from harness.stream import ordered

PAPER = Path(__file__).resolve().parent.parent / "results" / "paper" / "evoweave_efficiency.csv"


@dataclass(frozen=True)
class PerTask:
    """Means over tasks, and where they come from."""

    calls: float
    input_tokens: float
    cached_tokens: float
    output_tokens: float
    source: str


@dataclass(frozen=True)
class Estimate:
    """What is left of one run."""

    text: str
    """For a person, several lines."""
    tasks: int
    tokens: int | None = 0
    """Input plus output; None: unknown."""
    usd: float | None = 0.0
    """US dollars; None: unknown."""


def estimate(plan: Plan) -> Estimate:
    """The plan of a run: folder, tasks, what is done, and what the rest would cost. Raises SetupError."""
    known, doubt = _tasks(plan.environment)
    tasks = ordered(known, plan.options)
    done = _done(plan.folder / FILE)
    left = max(len(tasks) - done, 0)
    lines = [
        f"{plan.name}",
        f"  folder: {plan.folder}",
        f"  tasks:  {len(tasks)} ({done} done, {left} to do)",
        *([f"  note:   the benchmark's known number of tasks, since {doubt}"] if doubt else []),
        f"  stream: {plan.meta['stream']}",
    ]
    model = str(plan.config["backbone"].get("model") or plan.meta["backbone"])
    if plan.meta["paid"] == "0":
        lines.append(f"  cost:   nothing, backbone={plan.meta['backbone']} makes no paid call")
        return Estimate("\n".join(lines), left)
    guess = from_runs(plan) or from_paper(plan.meta["memory"])
    if guess is None:
        lines.append("  cost:   unknown: no finished run of this kind, and no figure in the papers")
        return Estimate("\n".join(lines), left, None, None)
    own = plan.config["backbone"].get("price")
    table = load_prices()
    if own:
        table = PriceTable("", {model: Price(own["input"], own.get("cached", own["input"]), own["output"])})
    inputs, cached, outputs = (
        round(n * left) for n in (guess.input_tokens, guess.cached_tokens, guess.output_tokens)
    )
    cost = table.cost(model, inputs, outputs, cached)
    dollars = f"unknown (no price for {model})" if cost is None else f"about ${cost:,.2f}"
    text = "\n".join(
        [
            *lines,
            f"  calls:  about {guess.calls * left:,.0f}",
            f"  tokens: about {inputs:,} in ({cached:,} of them cached), {outputs:,} out",
            f"  cost:   {dollars}" + ("" if own else f", prices of {table.date}"),
            f"  from:   {guess.source}",
        ]
    )
    return Estimate(text, left, inputs + outputs, cost)


def total(estimates: Sequence[Estimate]) -> str:
    """All runs of an experiment in a line."""
    tokens = [one.tokens for one in estimates if one.tokens is not None]
    dollars = [one.usd for one in estimates if one.usd is not None]
    parts = [f"{sum(one.tasks for one in estimates):,} tasks to do", f"about {sum(tokens):,} tokens",
             f"about ${sum(dollars):,.2f}"]  # fmt: skip
    unknown = len(estimates) - len(dollars)
    if unknown:
        parts.append(f"and what is not known of {unknown} of the runs")
    return ", ".join(parts)


def _tasks(environment: Environment) -> tuple[Sequence[Task], str]:
    """The tasks to count, and what speaks against it: an engine that is missing here needs none for that."""
    try:
        return environment.tasks(), ""
    except SetupError as error:
        known = getattr(environment, "known_tasks", None)
        if known is None:
            raise
        return [Task(number, "") for number in range(1, known + 1)], str(error)


def from_runs(plan: Plan) -> PerTask | None:
    """Means of recorded runs of the same setting and memory: the same backbone's if there are any."""
    paths = sorted(plan.results.glob(f"{plan.meta['setting']}/*/{plan.meta['memory']}/*/*/{FILE}"))
    same = [path for path in paths if path.parts[-5] == plan.meta["backbone"]]
    reader = [path for path in paths if path.parts[-5] == "reader"]
    for chosen in (same, [path for path in paths if path not in reader]):
        sums = _sums(chosen)
        if sums is not None:
            return sums
    return None


def from_paper(memory: str) -> PerTask | None:
    """EvoWeave's efficiency table (appendix F), whose calls are the acting rounds alone."""
    with PAPER.open(newline="") as rows:
        for row in csv.DictReader(rows):
            if row["memory"] == memory:
                inputs = float(row["input_tokens_per_task"])
                return PerTask(
                    float(row["rounds_per_task"]),
                    inputs,
                    inputs * float(row["cache_reuse_percent"]) / 100,
                    float(row["output_tokens_per_task"]),
                    "EvoWeave's efficiency table (a mean over its settings and backbones)",
                )
    return None


def _sums(paths: Iterable[Path]) -> PerTask | None:
    total = [0.0] * 4
    tasks = runs = 0
    for path in paths:
        try:
            connection = database.open_existing(path, read_only=True)
        except SetupError:
            continue
        count = connection.execute("SELECT COUNT(*) FROM tasks").fetchone()[0]
        if count:
            row = connection.execute(
                "SELECT COUNT(*), TOTAL(input_tokens), TOTAL(cached_tokens), TOTAL(output_tokens) FROM calls "
                "WHERE task IN (SELECT number FROM tasks)"
            ).fetchone()
            total = [a + b for a, b in zip(total, row, strict=True)]
            tasks, runs = tasks + count, runs + 1
        connection.close()
    if not tasks:
        return None
    means = [value / tasks for value in total]
    return PerTask(
        means[0],
        means[1],
        means[2],
        means[3],
        f"{tasks} tasks of {runs} recorded runs of this setting and memory",
    )


def _done(path: Path) -> int:
    if not path.exists():
        return 0
    connection: sqlite3.Connection = database.open_existing(path, read_only=True)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM tasks").fetchone()[0])
    finally:
        connection.close()
