"""The plain values that the journal stores: one call, one task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from agents.base import EpisodeEnd, Message, Step, Verdict
from agents.client import RawReply, Request
from envs.base import Task, TaskInfo

Failure = Literal["none", "environment", "backbone", "context_overflow", "refusal", "budget", "interrupted"]
EvaluationState = Literal["done", "failed", "none"]


def message_hash(message: Message) -> str:
    """Identity of a message: it is stored once, however many histories repeat it."""
    return _text_hash(message["role"], message["content"])


@lru_cache(maxsize=4096)  # a conversation asks for each of its messages again with every call
def _text_hash(role: str, content: str) -> str:
    return hashlib.sha256(f"{role}\n{content}".encode()).hexdigest()


def call_key(request: Request, hashes: Sequence[str], task: int, attempt: int, occurrence: int) -> str:
    """Identity of a call: what was asked of which model, and where in the stream.

    `occurrence` counts the same request within the attempt, from 0. Keys, addresses and timeouts are
    no part of it.
    """
    parts = [
        request.model,
        list(hashes),
        request.temperature,
        request.max_tokens,
        request.seed,
        task,
        attempt,
        occurrence,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Call:
    """One received reply with what identifies it."""

    key: str
    task: int
    attempt: int
    index: int
    request: Request
    hashes: tuple[str, ...]
    reply: RawReply


@dataclass
class TaskRecord:
    """Everything that one task adds to the record, committed in one transaction."""

    task: Task
    info: TaskInfo
    position: int
    attempt: int
    end: EpisodeEnd | None = None
    failure: Failure = "none"
    error: str = ""
    evaluation: EvaluationState = "none"
    metrics: Mapping[str, float] = field(default_factory=dict)
    verdict: Verdict | None = None
    written: bool = False
    write_error: str = ""
    opening: str = ""
    injected: str = ""
    injected_lines: int = 0
    injected_tokens: int = 0
    injected_tokens_calls: int = 0
    items: Sequence[tuple[str, str]] = ()
    events: Sequence[tuple[str, str, str]] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    seconds: float = 0.0
    seconds_world: float = 0.0
    seconds_backbone: float = 0.0
    seconds_memory: float = 0.0

    @property
    def acted(self) -> int:
        """Actions that reached the world."""
        return sum(step.kind == "act" for step in self.steps)

    @property
    def rounds(self) -> int:
        """Acting calls."""
        return sum(step.kind != "note" for step in self.steps)
