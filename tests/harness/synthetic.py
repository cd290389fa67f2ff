"""Records of runs for tests of reports: the real schema, rows put in by hand."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import harness

SCHEMA = (Path(harness.__file__).parent / "schema.sql").read_text(encoding="utf-8")
SCORE = {"name": "score", "value": "score", "how": "mean", "label": "Score"}
SUCCESS = {"name": "success_rate", "value": "success", "how": "percent", "label": "SR"}
TGC = {"name": "tgc", "value": "success", "how": "percent", "label": "TGC"}
SGC = {"name": "sgc", "value": "success", "how": "percent_of_scenarios", "label": "SGC"}


@dataclass(frozen=True)
class Row:
    """One task: what a test says about it; everything else has a default."""

    metrics: Mapping[str, float] | None = None
    """None: not evaluated."""
    scenario: str = ""
    categories: Sequence[str] = ()
    failure: str = "none"
    verdict: str | None = "failure"
    counters: Mapping[str, float] = field(default_factory=dict)
    injected_tokens_calls: int = 0
    injected_tokens: int = 0
    injected_lines: int = 0
    steps: int = 4
    rounds: int = 5
    seconds: float = 10.0
    calls: Sequence[Mapping[str, Any]] = ()
    """role, input_tokens, cached_tokens, output_tokens, cost, served, attempt, estimated"""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    instruction: str = "do it"
    number: int | None = None


def score(value: float, **others: Any) -> Row:
    """A task with a score; 100 is success."""
    return Row({"success": float(value == 100), "score": value}, **others)


def success(value: int, **others: Any) -> Row:
    """A task with success or not."""
    return Row({"success": float(value)}, **others)


def make_run(
    folder: Path,
    rows: Sequence[Row],
    *,
    memory: str = "none",
    backbone: str = "deepseek-v3.2",
    seed: int = 0,
    setting: str = "scienceworld",
    variant: str = "default-0000",
    metrics: Sequence[Mapping[str, Any]] = (SCORE,),
    categories: Mapping[str, str] | None = None,
    total: int | None = None,
    stream: Mapping[str, Any] | None = None,
    **meta: str,
) -> Path:
    """Write one `run.sqlite` below `folder`; returns its path."""
    path = folder / setting / backbone / memory / variant / str(seed) / "run.sqlite"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode=WAL;\n" + SCHEMA)
    values = {
        "schema_version": "1",
        "setting": setting,
        "backbone": backbone,
        "backbone_label": backbone,
        "memory": memory,
        "memory_label": memory,
        "variant": variant,
        "seed": str(seed),
        "judge": "default",
        "metrics": json.dumps(list(metrics)),
        "categories": json.dumps(categories or {}),
        "stream": json.dumps(
            stream or {"order": "release", "freeze_after": None, "limit": None, "window": 1}
        ),
        "tokenizer": "all-MiniLM-L6-v2 WordPiece",
        "paid": "0",
        "tasks_total": str(len(rows) if total is None else total),
        "config": "",
        "reader": "0",
        **meta,
    }
    connection.executemany("INSERT INTO meta VALUES (?, ?)", values.items())
    for position, row in enumerate(rows, 1):
        _insert(connection, position, row)
    connection.commit()
    connection.close()
    return path


def _insert(connection: sqlite3.Connection, position: int, row: Row) -> None:
    number = row.number or position
    evaluated = row.metrics is not None
    entry = {
        "number": number,
        "position": position,
        "instruction": row.instruction,
        "id": f"t{number}",
        "scenario": row.scenario or f"s{number}",
        "family": "f",
        "categories": json.dumps(list(row.categories)),
        "operations": "[]",
        "attempt": 1,
        "end": "finished",
        "failure": row.failure,
        "error": "",
        "evaluation": "done" if evaluated else "failed",
        "metrics": json.dumps(dict(row.metrics or {})),
        "verdict": row.verdict,
        "reason": "",
        "written": 1,
        "write_error": "",
        "opening": "",
        "injected": "",
        "injected_lines": row.injected_lines,
        "injected_tokens": row.injected_tokens,
        "injected_tokens_calls": row.injected_tokens_calls,
        "items": "[]",
        "events": "[]",
        "counters": json.dumps(dict(row.counters)),
        "steps": row.steps,
        "rounds": row.rounds,
        "seconds": row.seconds,
        "seconds_world": 1.0,
        "seconds_backbone": 1.0,
        "seconds_memory": 1.0,
        "finished": 0.0,
    }
    _row(connection, "tasks", entry)
    for index, call in enumerate(row.calls):
        base = {
            "key": f"{number}-{index}",
            "task": number,
            "attempt": 1,
            "index": index,
            "role": "act",
            "model": "m",
            "served": "m-served",
            "messages": "[]",
            "temperature": 0.0,
            "max_tokens": 10,
            "text": "",
            "reasoning": "",
            "finish": "stop",
            "input_tokens": 0,
            "cached_tokens": 0,
            "output_tokens": 0,
            "estimated": 0,
            "cost": 0.0,
            "retries": 0,
            "seconds": 0.1,
        }
        _row(connection, "calls", {**base, **call})
    for document, text in row.changes.items():
        _row(connection, "changes", {"position": position, "document": document, "text": text})


def _row(connection: sqlite3.Connection, table: str, entry: Mapping[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in entry)
    connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(entry))})", tuple(entry.values())
    )
