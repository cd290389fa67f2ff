"""What STRATA keeps beside its graph: counters, and a record of what happened (documents in `state/`).

The record is append-only and lies in files of 100 lines, so that a task changes one of them. Scores in it
are the observations behind the thresholds; the rest is what reports need of nodes that are gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memories.base import DocumentError

COUNTERS = "state/counters.md"
_RECORD = "state/record-{:04d}.md"
_CHUNK = 100
_COUNTER_HEAD = "# Counters\n\nNumbers that this memory keeps over the stream.\n"
_RECORD_HEAD = "# Record\n\nOne line an event: task, kind, fields.\n"
_COUNTER = re.compile(r"([a-z_]+): (\d+)")
_ENTRY = re.compile(r"- task (\d+) \| (score|edges|deleted|meta) \| (.*)")

SCORE, EDGES, DELETED, META = "score", "edges", "deleted", "meta"

NAMES = (
    "clock",  # written tasks: ages are counted against it
    "next_number",
    "recalls",  # written tasks whose recall could have held something
    "injected",  # recalls that held something
    "injected_meta",
    "injected_contrast",
    "noop",
    "add_bullet",
    "create",
    "pitfalls",
    "atomic_created",
    "atomic_refined",
    "atomic_merged",
    "metas_created",
    "metas_updated",
    "metas_churned",
    "deletions",
    "bridges_spared",
    "atomics_cascaded",
    "metas_cascaded",
    "malformed",  # replies that did not fit, asked for twice
    "unknown_ids",  # ids in replies that name no node they could
    "rejected_tags",
    "unreadable",  # episodes whose verdict was unreadable
)


@dataclass(frozen=True)
class Entry:
    """One line of the record."""

    task: int
    kind: str
    fields: tuple[str, ...]
    """score: group, value, decision. edges: group, workflow, values with blanks between. deleted: workflow,
    quality, spared workflow or `-`, source tasks with blanks between. meta: created or updated, meta, `churn` or
    `-`, members added with blanks between."""


class State:
    """Counters and record."""

    def __init__(self) -> None:
        self.count: dict[str, int] = dict.fromkeys(NAMES, 0)
        self.entries: list[Entry] = []
        self._chunks: list[str] = []
        self._rendered = 0

    def add(self, entry: Entry) -> None:
        """Append to the record."""
        self.entries.append(entry)

    def documents(self) -> dict[str, str]:
        """The state as documents; chunks that did not change are the same strings."""
        for at in range(self._rendered - self._rendered % _CHUNK, len(self.entries), _CHUNK):
            text = _RECORD_HEAD + "".join(map(_write, self.entries[at : at + _CHUNK]))
            self._chunks[at // _CHUNK :] = [text]
        self._rendered = len(self.entries)
        counters = "\n".join([_COUNTER_HEAD, *(f"{name}: {self.count[name]}" for name in NAMES), ""])
        return {COUNTERS: counters} | {_RECORD.format(n): text for n, text in enumerate(self._chunks, 1)}


def _write(entry: Entry) -> str:
    return f"- task {entry.task} | {entry.kind} | {' | '.join(entry.fields)}\n"


def read_state(documents: Mapping[str, str]) -> State:
    """The state in `documents` (those below `state/`). Raises DocumentError."""
    state = State()
    names = sorted(name for name in documents if name != COUNTERS)
    if not documents:
        return state
    if COUNTERS not in documents:
        raise DocumentError(f"{COUNTERS} is missing: without it ages and ids cannot go on")
    for at, line in _body(COUNTERS, documents[COUNTERS], _COUNTER_HEAD):
        match = _COUNTER.fullmatch(line)
        if match and match[1] in state.count:
            state.count[match[1]] = int(match[2])
        else:
            raise DocumentError(
                f"{COUNTERS}, line {at}: {line[:60]!r} is not `name: number` of a known counter"
            )
    for place, name in enumerate(names, 1):
        if name != _RECORD.format(place):
            raise DocumentError(f"{name}: the record's next document would be {_RECORD.format(place)}")
        state.entries += read_record(name, documents[name])
    return state


def _body(name: str, text: str, head: str) -> Iterator[tuple[int, str]]:
    """The numbered lines that hold something, after the heading."""
    title = head.split("\n")[0]
    lines = text.split("\n")
    if lines[0] != title:
        raise DocumentError(f"{name}, line 1: {lines[0][:60]!r} stands where {title!r} is expected")
    return ((at, line) for at, line in enumerate(lines, 1) if line and line not in head.split("\n"))


def read_record(name: str, text: str) -> list[Entry]:
    """The entries of one document of the record. Raises DocumentError."""
    entries = []
    for at, line in _body(name, text, _RECORD_HEAD):
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise DocumentError(f"{name}, line {at}: {line[:60]!r} is not `- task N | kind | fields`")
        entry = Entry(int(match[1]), match[2], tuple(match[3].split(" | ")))
        try:
            scores(entry)
        except (ValueError, IndexError):
            raise DocumentError(f"{name}, line {at}: {line[:60]!r} holds no score") from None
        entries.append(entry)
    return entries


def scores(entry: Entry) -> list[float]:
    """The observations in an entry of kind score or edges; none in others."""
    if entry.kind == SCORE:
        return [float(entry.fields[1])]
    if entry.kind == EDGES:
        return [float(value) for value in entry.fields[2].split()]
    return []
