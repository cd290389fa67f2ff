"""The journal: one SQLite file a run, one durable commit a task.

A paid reply is durable when `receive` returns. Everything else of a task (its row, steps, changed
documents, embeddings, free calls) lands in the transaction of `commit`, or not at all.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.client import RawReply
from envs.base import SetupError
from harness import database
from harness.database import storage, transaction
from harness.lock import RunLock
from harness.records import Call, TaskRecord

FILE = "run.sqlite"


class Journal:
    """The record of one run, held by one process."""

    def __init__(self, folder: Path, meta: Mapping[str, str]) -> None:
        """Create or resume the record in `folder`. `meta` says what the run is.

        Raises SetupError if the folder is locked, unwritable, or holds the record of another run.
        """
        self.folder = folder
        self.path = folder / FILE
        self.lock = RunLock(folder)
        self._messages: set[str] = set()
        self._unwritten: list[Call] = []
        self._vectors: list[tuple[str, str, bytes]] = []
        self._spent: tuple[float, int, bool] | None = None
        try:
            self._connection = self._open(meta)
        except BaseException:
            self.lock.release()
            raise

    def _open(self, meta: Mapping[str, str]) -> sqlite3.Connection:
        if not self.path.exists():
            # Built aside and renamed, so that a killed start leaves no half-made record behind.
            fresh = self.path.with_suffix(".new")
            for leftover in self.folder.glob(fresh.name + "*"):
                leftover.unlink()
            connection = database.create(fresh)
            with storage(fresh), transaction(connection):
                connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.close()
            fresh.rename(self.path)
        connection = database.open_existing(self.path)
        with storage(self.path):
            found = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        for key in ("setting", "backbone", "memory", "variant", "seed"):
            if key in meta and found.get(key) != meta[key]:
                connection.close()
                raise SetupError(
                    f"{self.path} is the record of another run: its {key} is {found.get(key)!r}, not "
                    f"{meta[key]!r}. Move it away, or choose another results_dir=..."
                )
        self._messages = {row[0] for row in connection.execute("SELECT hash FROM messages")}
        return connection

    # What is known

    def meta(self) -> dict[str, str]:
        """All meta values."""
        return dict(self._connection.execute("SELECT key, value FROM meta").fetchall())

    def set_meta(self, key: str, value: str) -> None:
        """Record a value that becomes known only while running (such as the number of tasks)."""
        with storage(self.path), transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def done(self) -> dict[int, str]:
        """Position in the stream -> failure state, of every committed task."""
        return dict(
            self._connection.execute("SELECT position, failure FROM tasks ORDER BY position").fetchall()
        )

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Rows of a read-only query."""
        return self._connection.execute(query, values).fetchall()

    def next_attempt(self, task: int) -> int:
        """Number of the attempt that a task is at: one more than those that ended."""
        row = self._connection.execute("SELECT MAX(attempt) FROM attempts WHERE task = ?", (task,)).fetchone()
        return int(row[0] or 0) + 1

    def documents(self, position: int | None = None) -> dict[str, str]:
        """The memory's documents as they were after `position` (None: the last committed)."""
        return documents_at(self._connection, position)

    def spent(self) -> tuple[float, int, bool]:
        """US dollars, tokens, and whether some call's price is unknown."""
        if self._spent is None:
            row = self._connection.execute(
                "SELECT TOTAL(cost), TOTAL(input_tokens + output_tokens), COUNT(*) - COUNT(cost) FROM calls"
            ).fetchone()
            self._spent = float(row[0]), int(row[1]), bool(row[2])
        return self._spent

    def _spend(self, reply: RawReply) -> None:
        # Summed as the calls come: asking SQLite at every task would cost more with every task.
        usd, tokens, unknown = self.spent()
        self._spent = (
            usd + (reply.cost or 0.0),
            tokens + reply.input_tokens + reply.output_tokens,
            unknown or reply.cost is None,
        )

    # Calls

    def reply(self, key: str) -> RawReply | None:
        """The reply received for a call, if there is one."""
        return reply_of(self._connection, key)

    def intend(self, key: str, task: int) -> None:
        """Note durably that a call is about to be made that may be billed."""
        with storage(self.path), transaction(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO intents VALUES (?, ?, ?)", (key, task, time.time())
            )

    def receive(self, call: Call, *, durable: bool) -> None:
        """Keep a reply: at once if `durable`, else with the task's commit."""
        self._spend(call.reply)
        if not durable:
            self._unwritten.append(call)
            return
        with storage(self.path), transaction(self._connection):
            self._insert_calls([call])
            self._connection.execute("DELETE FROM intents WHERE key = ?", (call.key,))

    def receive_unusable(self, call: Call) -> None:
        """Count answers to a call that failed all the same: durably, and never given back for that call."""
        self._spend(call.reply)
        with storage(self.path), transaction(self._connection):
            (before,) = self._connection.execute(
                "SELECT COUNT(*) FROM calls WHERE key GLOB ?", (f"{call.key}:*",)
            ).fetchone()
            self._insert_calls([replace(call, key=f"{call.key}:unusable {before + 1}")])
            self._connection.execute("DELETE FROM intents WHERE key = ?", (call.key,))

    def abandon(self, key: str) -> None:
        """Drop the intent of a call that failed without a completion (nothing was billed)."""
        with storage(self.path), transaction(self._connection):
            self._connection.execute("DELETE FROM intents WHERE key = ?", (key,))

    def leftover_intents(self) -> list[tuple[str, int]]:
        """Calls of an earlier process that may have been billed without a reply: (key, task)."""
        return self._connection.execute("SELECT key, task FROM intents ORDER BY created, key").fetchall()

    def _insert_calls(self, calls: Sequence[Call]) -> None:
        new: dict[str, tuple[str, str, str]] = {}
        for call in calls:
            for hash_, message in zip(call.hashes, call.request.messages, strict=True):
                if hash_ not in self._messages and hash_ not in new:
                    new[hash_] = (hash_, message["role"], message["content"])
        self._connection.executemany("INSERT OR IGNORE INTO messages VALUES (?, ?, ?)", new.values())
        self._connection.executemany(
            f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * 20)})", map(_call_row, calls)
        )
        self._messages.update(new)

    # Embeddings

    def vectors(self, embedder: str, hashes: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Stored vectors by text hash."""
        found: dict[str, npt.NDArray[np.float32]] = {}
        for start in range(0, len(hashes), 500):
            part = hashes[start : start + 500]
            marks = ", ".join("?" * len(part))
            rows = self._connection.execute(
                f"SELECT hash, vector FROM embeddings WHERE embedder = ? AND hash IN ({marks})",
                (embedder, *part),
            )
            found.update({hash_: np.frombuffer(blob, dtype="<f4") for hash_, blob in rows})
        return found

    def keep_vector(self, embedder: str, hash_: str, vector: npt.NDArray[np.float32]) -> None:
        """Store a vector with the next commit."""
        self._vectors.append((embedder, hash_, vector.astype("<f4").tobytes()))

    # Commits

    def commit(self, record: TaskRecord, changes: Mapping[str, str | None]) -> None:
        """One task, whole: its row, attempt, steps, changed documents, calls and embeddings."""
        with storage(self.path), transaction(self._connection):
            self._flush()
            self._insert_attempt(record)
            self._connection.execute(f"INSERT INTO tasks VALUES ({', '.join('?' * 33)})", _task_row(record))
            self._connection.executemany(
                "INSERT OR REPLACE INTO changes VALUES (?, ?, ?)",
                [(record.position, name, text) for name, text in sorted(changes.items())],
            )
            self._connection.execute("DELETE FROM intents WHERE task = ?", (record.task.number,))
        self._settle()

    def end_attempt(self, record: TaskRecord) -> None:
        """An attempt that failed and will be tried again: its steps, its error and its calls."""
        with storage(self.path), transaction(self._connection):
            self._flush()
            self._insert_attempt(record)
        self._settle()

    def reopen(self, position: int) -> None:
        """Forget the outcome of a committed task, so that it is tried again; its attempts stay."""
        with storage(self.path), transaction(self._connection):
            self._connection.execute("DELETE FROM tasks WHERE position = ?", (position,))

    def start_with(self, documents: Mapping[str, str]) -> None:
        """Record documents that the memory was given before the first task."""
        with storage(self.path), transaction(self._connection):
            rows = [(0, name, text) for name, text in sorted(documents.items())]
            self._connection.executemany("INSERT OR REPLACE INTO changes VALUES (?, ?, ?)", rows)

    def _flush(self) -> None:
        self._insert_calls(self._unwritten)
        self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", self._vectors)

    def _settle(self) -> None:
        self._unwritten = []
        self._vectors = []

    def _insert_attempt(self, record: TaskRecord) -> None:
        number = record.task.number
        self._connection.execute(
            "INSERT INTO attempts VALUES (?, ?, ?, ?, ?)",
            (number, record.attempt, record.failure, record.error, record.seconds),
        )
        self._connection.executemany(
            "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (number, record.attempt, index, s.kind, s.thought, s.action, s.observation)
                for index, s in enumerate(record.steps)
            ],
        )

    # Sessions

    def start_session(self, revision: str, packages: Mapping[str, str], engine: Mapping[str, str]) -> int:
        """Note a process that works on this run, with what it runs on. Gives its number."""
        leftovers = self.leftover_intents()
        notes = [f"task {task}: a call may have been billed without a reply" for _, task in leftovers]
        previous = self.rows("SELECT revision, packages, engine FROM sessions ORDER BY session DESC LIMIT 1")
        if previous:
            notes += changed(previous[0], revision, packages, engine)
        with storage(self.path), transaction(self._connection):
            self._connection.execute("DELETE FROM intents WHERE key NOT LIKE 'open:%'")
            cursor = self._connection.execute(
                "INSERT INTO sessions (started, revision, packages, engine, notes) VALUES (?, ?, ?, ?, ?)",
                (time.time(), revision, _json(packages), _json(engine), json.dumps(notes)),
            )
        return int(cursor.lastrowid or 0)

    def session_notes(self, session: int) -> list[str]:
        """What was noted about a session."""
        row = self._connection.execute("SELECT notes FROM sessions WHERE session = ?", (session,)).fetchone()
        return list(json.loads(row[0])) if row else []

    def note(self, session: int, text: str) -> None:
        """Add a note to a session."""
        notes = [*self.session_notes(session), text]
        with storage(self.path), transaction(self._connection):
            self._connection.execute(
                "UPDATE sessions SET notes = ? WHERE session = ?", (json.dumps(notes), session)
            )

    def end_session(self, session: int) -> None:
        """Note when a session ended in order."""
        with storage(self.path), transaction(self._connection):
            self._connection.execute(
                "UPDATE sessions SET ended = ? WHERE session = ?", (time.time(), session)
            )

    def close(self) -> None:
        """Close the file and let go of the lock. Idempotent."""
        self._connection.close()
        self.lock.release()


def documents_at(connection: sqlite3.Connection, position: int | None = None) -> dict[str, str]:
    """A run's documents after `position` (None: the last committed), by name."""
    rows = connection.execute(
        "SELECT document, text FROM changes WHERE ? IS NULL OR position <= ? ORDER BY position",
        (position, position),
    )
    documents: dict[str, str] = {}
    for name, text in rows:
        if text is None:
            documents.pop(name, None)
        else:
            documents[name] = text
    return dict(sorted(documents.items()))


def reply_of(connection: sqlite3.Connection, key: str) -> RawReply | None:
    """The reply recorded under a call key, if there is one."""
    row = connection.execute(
        "SELECT text, input_tokens, output_tokens, cached_tokens, cost, estimated, seconds, served, reasoning, "
        "finish, retries FROM calls WHERE key = ?",
        (key,),
    ).fetchone()
    if row is None:
        return None
    text, inputs, outputs, cached, cost, estimated, seconds, served, reasoning, finish, retries = row
    return RawReply(
        text, inputs, outputs, cached, cost, bool(estimated), seconds, served, reasoning, finish, retries
    )


def changed(
    previous: tuple[str, str, str], revision: str, packages: Mapping[str, str], engine: Mapping[str, str]
) -> list[str]:
    """What differs between the last session and this one, a line each."""
    notes = [] if previous[0] == revision else [f"code revision changed: {previous[0]} -> {revision}"]
    for what, before, now in (("package", previous[1], packages), ("engine", previous[2], engine)):
        old = json.loads(before)
        for name in sorted({*old, *now}):
            if old.get(name) != now.get(name):
                notes.append(f"{what} {name} changed: {old.get(name, 'absent')} -> {now.get(name, 'absent')}")
    return notes


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """The documents that differ: name -> new text, or None where one is gone."""
    changes: dict[str, str | None] = {name: text for name, text in after.items() if before.get(name) != text}
    changes.update({name: None for name in before if name not in after})
    return changes


def _json(value: Mapping[str, str]) -> str:
    return json.dumps(dict(value), sort_keys=True)


def _call_row(call: Call) -> tuple[Any, ...]:
    request, reply = call.request, call.reply
    return (
        call.key,
        call.task,
        call.attempt,
        call.index,
        request.role,
        request.model,
        reply.model or request.model,
        json.dumps(call.hashes),
        request.temperature,
        request.max_tokens,
        reply.text,
        reply.reasoning,
        reply.finish,
        reply.input_tokens,
        reply.cached_tokens,
        reply.output_tokens,
        int(reply.estimated),
        reply.cost,
        reply.retries,
        reply.seconds,
    )


def _task_row(record: TaskRecord) -> tuple[Any, ...]:
    info, verdict = record.info, record.verdict
    return (
        record.task.number,
        record.position,
        record.task.instruction,
        info.id,
        info.scenario,
        info.family,
        json.dumps(info.categories),
        json.dumps(info.operations),
        record.attempt,
        record.end,
        record.failure,
        record.error,
        record.evaluation,
        json.dumps(dict(record.metrics), sort_keys=True),
        verdict.outcome if verdict else None,
        verdict.reason if verdict else "",
        int(record.written),
        record.write_error,
        record.opening,
        record.injected,
        record.injected_lines,
        record.injected_tokens,
        record.injected_tokens_calls,
        json.dumps(list(record.items)),
        json.dumps(list(record.events)),
        json.dumps(dict(record.counters), sort_keys=True),
        record.acted,
        record.rounds,
        record.seconds,
        record.seconds_world,
        record.seconds_backbone,
        record.seconds_memory,
        time.time(),
    )
