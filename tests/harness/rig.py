"""A whole run in a few lines: the null world, a scripted player, a memory, and a real journal."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.backbone import Model, for_all_roles
from agents.base import BackboneFailed
from agents.client import Client, RawReply, Request
from agents.judge import Judge
from agents.loop import LoopOptions
from agents.prompts import blocks
from envs.base import Metric
from envs.null import NullEnvironment
from harness.budget import Budget, Caps
from harness.embeddings import JournalEmbedder
from harness.journal import Journal
from harness.progress import LineProgress, Running
from harness.recorder import JournalRecorder
from harness.stream import Parts, StreamOptions, stream
from memories.base import Memory, Resources
from memories.embedder.hashing import Hashing

META = {
    "setting": "lamp", "backbone": "player", "memory": "notes", "memory_label": "Notes", "variant": "default-0",
    "seed": "0", "judge": "default", "metrics": "[]", "categories": "{}", "stream": "{}", "tokenizer": "t",
    "reader": "0", "paid": "1", "config": "", "backbone_label": "player",
}  # fmt: skip
SKIP_TIMES = {
    "tasks": ("seconds", "seconds_world", "seconds_backbone", "seconds_memory", "finished"),
    "attempts": ("seconds",),
    "calls": ("seconds",),
}
TABLES = ("tasks", "attempts", "steps", "changes", "embeddings", "messages", "calls", "intents")


class Player:
    """A paid client that plays the null world from its prompt: the room named, sometimes a wrong one.

    Every reply is a function of the request, so a repeated request gets the same reply; `sent` counts how
    often each was paid for.
    """

    paid = True
    model = "player"

    def __init__(self, trouble: Callable[[int], None] | None = None) -> None:
        self.sent: list[str] = []
        self.trouble = trouble or (lambda n: None)

    def send(self, request: Request) -> RawReply:
        text = "\n".join(message["content"] for message in request.messages)
        self.trouble(len(self.sent))
        self.sent.append(text + request.role)
        return RawReply(self.answer(request, text), 10, 5, cost=0.001, model="player-1")

    def answer(self, request: Request, text: str) -> str:
        luck = random.Random(text)
        if request.role == "judge":
            lit = "lamp is lit" in blocks(text)["episode"][-1]
            return f'{{"reason": "seen", "outcome": "{"success" if lit else "failure"}"}}'
        if request.role != "act":
            return '{"note": "' + str(luck.randrange(10**6)) + '"}'
        room = blocks(text)["task"][-1].rstrip(".").split()[-1]
        seen = blocks(text)["observation"][-1]
        if f"You are in the {room}" in seen and luck.random() < 0.8:
            return "Thought: here\nAction: press"
        return f"Thought: on\nAction: go {room if luck.random() < 0.6 else 'hall'}"


class Watched(LineProgress):
    """Progress whose lines are kept."""

    def __init__(self, journal: Journal) -> None:
        metric = Metric("success_rate", "success", "percent")
        super().__init__("run", Running(metric, journal.spent, True))
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


def run(
    folder: Path,
    memory: Callable[[Resources], Memory],
    client: Client | None = None,
    options: StreamOptions | None = None,
    *,
    environment: Any = None,
    caps: Caps | None = None,
    forbid_new: bool = False,
    replies: Path | None = None,
    meta: dict[str, str] | None = None,
    agent: LoopOptions | None = None,
) -> Watched:
    """Do a run in `folder`; the same call resumes it. Gives the progress with its lines."""
    environment = environment or NullEnvironment(size=6, steps=6)
    client = client or Player()
    journal = Journal(folder, meta or META)
    try:
        usd, tokens, _ = journal.spent()
        recorder = JournalRecorder(
            journal, Budget(caps or Caps(), usd, tokens), forbid_new=forbid_new, replies=replies
        )
        backbone = Model(for_all_roles(client), recorder, seed=0)
        resources = Resources(
            backbone, JournalEmbedder(Hashing(), journal), tuple(environment.capabilities())
        )
        progress = Watched(journal)
        recorder.tell = progress.tell
        session = journal.start_session("r1", {}, dict(environment.provenance()))
        for note in journal.session_notes(session):
            progress.tell(note)
        parts = Parts(
            environment,
            agent or LoopOptions(),
            backbone,
            Judge(backbone),
            memory(resources),
            journal,
            recorder,
            progress,
        )
        stream(parts, options or StreamOptions())
        return progress
    finally:
        journal.close()


def record(folder: Path, tables: tuple[str, ...] = TABLES) -> dict[str, list[tuple[Any, ...]]]:
    """Everything a run's record holds apart from times, in the order of its keys."""
    return record_of(folder / "run.sqlite", tables)


def record_of(path: Path, tables: tuple[str, ...] = TABLES) -> dict[str, list[tuple[Any, ...]]]:
    """As `record`, for a file of any name."""
    connection = sqlite3.connect(path)
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table in tables:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        kept = [f'"{name}"' for name in names if name not in SKIP_TIMES.get(table, ())]
        rows = connection.execute(f"SELECT {', '.join(kept)} FROM {table}").fetchall()
        found[table] = sorted(rows, key=repr)
    connection.close()
    return found


def fail_at(call: int, error: BaseException) -> Callable[[int], None]:
    """A trouble that strikes once, at the given call."""
    struck: list[int] = []

    def trouble(number: int) -> None:
        if number == call and not struck:
            struck.append(number)
            raise error

    return trouble


def down(text: str = "the endpoint does not answer") -> BackboneFailed:
    """A backbone that failed for good."""
    return BackboneFailed(text)
