"""Reads the runs below a folder: what each is, and its record as pandas frames.

Databases are opened read-only, so that a run can be looked at while it is being written.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.base import Metric

if TYPE_CHECKING:
    from pandas import DataFrame

FILE = "run.sqlite"
NEEDED_META = ("setting", "backbone", "memory", "variant", "seed", "metrics")
_JSON_COLUMNS = ("categories", "operations", "metrics", "items", "events", "counters")


class NoRuns(Exception):
    """Nothing to report on: names the folder and what to do."""


def _warn(line: str) -> None:
    print(f"warning: {line}", file=sys.stderr)


@dataclass(frozen=True)
class Run:
    """One run: its meta values, and its tables as frames that are read when first asked for."""

    path: Path
    """The run's `run.sqlite`."""
    meta: Mapping[str, str]

    @property
    def setting(self) -> str:
        return self.meta["setting"]

    @property
    def backbone(self) -> str:
        return self.meta["backbone"]

    @property
    def backbone_label(self) -> str:
        """As tables show it; the offline reader is always marked."""
        if self.meta.get("reader") == "1":
            return "offline reader (no language model)"
        return self.meta.get("backbone_label") or self.backbone

    @property
    def memory(self) -> str:
        return self.meta["memory"]

    @property
    def memory_label(self) -> str:
        return self.meta.get("memory_label") or self.memory

    @property
    def variant(self) -> str:
        return self.meta["variant"]

    @property
    def seed(self) -> int:
        return int(self.meta["seed"])

    @property
    def total(self) -> int:
        """Tasks that the run is meant to have; 0 if its record does not say."""
        return int(self.meta.get("tasks_total") or 0)

    @property
    def finished(self) -> bool:
        """Whether every task of the run has ended."""
        return len(self.tasks) >= self.total > 0

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The setting's metrics, the headline first."""
        return tuple(Metric(**entry) for entry in json.loads(self.meta["metrics"]))

    @cached_property
    def categories(self) -> dict[str, str]:
        """Category key -> label, in the order of the papers' figures."""
        return dict(json.loads(self.meta.get("categories") or "{}"))

    @cached_property
    def stream(self) -> dict[str, Any]:
        """Order, freeze_after, limit, window."""
        return dict(json.loads(self.meta.get("stream") or "{}"))

    @cached_property
    def tasks(self) -> DataFrame:
        """A row a task in stream order; JSON columns are parsed. `failed` tells failed tasks apart."""
        frame = self.frame("SELECT * FROM tasks ORDER BY position")
        for column in _JSON_COLUMNS:
            frame[column] = [json.loads(text) for text in frame[column]]
        frame["failed"] = (frame["failure"] != "none") | (frame["evaluation"] != "done")
        return frame

    @cached_property
    def calls(self) -> DataFrame:
        """A row a backbone call of every attempt, without messages and texts."""
        return self.frame(
            "SELECT task, attempt, role, model, served, input_tokens, cached_tokens, output_tokens,"
            ' estimated, cost, retries, seconds FROM calls ORDER BY task, attempt, "index"'
        )

    @cached_property
    def steps(self) -> DataFrame:
        """A row a round of every episode."""
        return self.frame('SELECT * FROM steps ORDER BY task, attempt, "index"')

    @cached_property
    def changes(self) -> DataFrame:
        """Position, document and size in characters (0: deleted) of every change of the memory."""
        return self.frame(
            "SELECT position, document, coalesce(length(text), 0) AS size FROM changes ORDER BY position"
        )

    @cached_property
    def served(self) -> str:
        """The backbone as its provider reports it for acting calls; empty if nothing was called."""
        calls = self.calls
        names = calls.loc[calls["role"] == "act", "served"].unique().tolist()
        return ", ".join(sorted(str(name) for name in names if name))

    def frame(self, query: str) -> DataFrame:
        """The result of one SQL query on the run's record."""
        import pandas

        connection = connect(self.path)
        try:
            return pandas.read_sql_query(query, connection)
        finally:
            connection.close()


def connect(path: Path) -> sqlite3.Connection:
    """A read-only connection. In a folder that may not be written, a run nobody writes is still read."""
    uri = path.resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=30)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # A WAL database needs a -shm file beside it, which a read-only folder does not allow.
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return connection


def read(path: Path) -> Run:
    """The run in one `run.sqlite`. Raises ValueError saying what is wrong with a file that is none."""
    try:
        connection = connect(path)
        try:
            meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            # The pragmas of a damaged file may pass while its pages cannot be read.
            connection.execute("SELECT count(*), max(length(metrics)) FROM tasks").fetchone()
            connection.execute("SELECT count(*), max(seconds) FROM calls").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise ValueError(f"it cannot be read as a run ({error})") from error
    missing = [key for key in NEEDED_META if key not in meta]
    if missing:
        raise ValueError(f"its record does not say {', '.join(missing)}")
    run = Run(path, meta)
    try:
        metrics, _, _ = run.metrics, run.categories, run.stream
        _, _ = run.seed, run.total
    except (ValueError, TypeError) as error:
        raise ValueError(f"its record does not parse ({error})") from error
    if not metrics:
        raise ValueError("its record names no metric")
    return run


def runs(folder: Path, warn: Callable[[str], None] = _warn) -> list[Run]:
    """Every run below `folder`, ordered by setting, backbone, memory, variant, seed.

    A file that is no run is named in a warning line and left out. Of two records of one run (a copy)
    the one with more tasks counts. Raises NoRuns.
    """
    if not folder.is_dir():
        raise NoRuns(f"there is no folder {folder}: give the folder of the runs, such as results/runs")
    found: dict[tuple[str, str, str, str, int], Run] = {}
    for path in sorted(folder.rglob(FILE)):
        try:
            run = read(path)
            count = len(run.tasks)
        except (ValueError, sqlite3.Error) as error:
            warn(f"{path} is left out: {error}")
            continue
        key = (run.setting, run.backbone, run.memory, run.variant, run.seed)
        if key in found:
            other = found[key]
            kept, left = (run, other) if count > len(other.tasks) else (other, run)
            warn(f"{left.path} is left out: {kept.path} is the same run")
            run = kept
        found[key] = run
    if not found:
        raise NoRuns(
            f"no run was found below {folder}: a run is a folder with {FILE}; "
            "make one with `python -m scripts.run +experiment=demo`"
        )
    return [found[key] for key in sorted(found)]
