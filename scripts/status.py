"""What became of the runs of a sweep: done, running, stopped or failed, with score and spend so far.

python -m scripts.status [results/runs]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path

from envs.base import Metric, SetupError
from harness import database
from harness.journal import FILE


@dataclass(frozen=True)
class Status:
    """One run's line."""

    run: str
    state: str
    """done, running, stopped (by a budget or a person), failed (by an error), killed, or waiting (for the tasks
    that a raised limit added, or not begun)."""
    done: int
    total: int
    failed: int
    score: str
    tokens: int
    cost: str
    detail: str


def status(path: Path, root: Path) -> Status:
    """The status of the run recorded at `path`. Raises SetupError if the file is no record of a run."""
    connection = database.open_existing(path, read_only=True)
    try:
        meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        rows = connection.execute("SELECT failure, evaluation, metrics FROM tasks").fetchall()
        usd, tokens, unknown = connection.execute(
            "SELECT TOTAL(cost), TOTAL(input_tokens + output_tokens), COUNT(*) - COUNT(cost) FROM calls"
        ).fetchone()
        last = connection.execute(
            "SELECT notes, ended FROM sessions ORDER BY session DESC LIMIT 1"
        ).fetchone()
    except sqlite3.DatabaseError as error:
        raise SetupError(f"{path} cannot be read ({error}).") from None
    finally:
        connection.close()
    metric = Metric(**json.loads(meta["metrics"])[0])
    values = [json.loads(m).get(metric.value, 0.0) for f, e, m in rows if f == "none" and e == "done"]
    mean = sum(values) / len(values) if values else None
    total = int(meta.get("tasks_total", 0))
    stops = [note for note in json.loads(last[0] if last else "[]") if note.startswith("stopped: ")]
    killed = last is not None and last[1] is None
    state, detail = _state(len(rows), total, in_use(path.parent), stops[-1] if stops else "", killed)
    cost = "-" if meta.get("paid") == "0" else "unknown" if unknown else f"${usd:.4f}"
    score = "-" if mean is None else f"{metric.name} {mean if metric.how == 'mean' else 100 * mean:.1f}"
    return Status(
        str(path.parent.relative_to(root)), state, len(rows), total, len(rows) - len(values), score,
        int(tokens), cost, detail,
    )  # fmt: skip


def _state(done: int, total: int, used: bool, stop: str, killed: bool) -> tuple[str, str]:
    if used:
        return "running", ""
    if total and done >= total:
        return "done", ""
    if not stop:
        ended = "its process ended without a word; " if killed else ""
        return "killed" if killed else "waiting", f"{ended}the same command goes on"
    kind, _, why = stop.removeprefix("stopped: ").partition(": ")
    if kind == "KeyboardInterrupt":
        return "stopped", "by the keyboard; the same command goes on"
    return ("stopped" if kind == "BudgetExhausted" else "failed"), why or kind


def in_use(folder: Path) -> bool:
    """Whether a process holds the run's lock."""
    try:
        with (folder / "run.lock").open() as lock:
            fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # refused while a process holds it for itself
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def collect(root: Path) -> tuple[list[Status], list[str]]:
    """The status of every run below `root`, and a line for every file that is none."""
    found: list[Status] = []
    problems: list[str] = []
    for path in sorted(root.rglob(FILE)):
        try:
            found.append(status(path, root))
        except (SetupError, KeyError, ValueError) as error:
            problems.append(str(error))
    return found, problems


def main(words: list[str] | None = None) -> int:
    """Print a table; exit code 1 if there is nothing to show."""
    parser = argparse.ArgumentParser(prog="python -m scripts.status", description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="results/runs", type=Path)
    root = parser.parse_args(words).folder
    if not root.is_dir():
        print(
            f"memtrial: there is no folder {root}. Runs are made by python -m scripts.run.", file=sys.stderr
        )
        return 1
    found, problems = collect(root)
    for problem in problems:
        print(f"memtrial: {problem}", file=sys.stderr)
    if not found:
        print(f"memtrial: no run below {root}. Runs are made by python -m scripts.run.", file=sys.stderr)
        return 1
    show(found, len(problems))
    return 1 if problems else 0


def show(found: list[Status], damaged: int = 0) -> None:
    """The table, and a line of sums."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("run", "state", "tasks", "failed", "so far", "tokens", "spent", ""):
        table.add_column(
            heading, justify="right" if heading in ("tasks", "failed", "tokens", "spent") else "left"
        )
    for row in found:
        table.add_row(
            escape(row.run), row.state, f"{row.done}/{row.total or '?'}", str(row.failed or ""), row.score,
            f"{row.tokens:,}", row.cost, escape(row.detail),
        )  # fmt: skip
    console = Console(width=None if sys.stdout.isatty() else 180)
    console.print(table)
    states = {
        state: sum(row.state == state for row in found) for state in dict.fromkeys(r.state for r in found)
    }
    if damaged:
        states["damaged"] = damaged
    total = sum(states.values())
    print(
        f"{total} run{'s' * (total != 1)}: "
        + ", ".join(f"{count} {state}" for state, count in states.items())
    )


if __name__ == "__main__":
    sys.exit(main())
