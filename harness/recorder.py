"""Between a backbone and its clients: every reply is recorded, replayed and counted here."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.base import BackboneFailed, Usage
from agents.client import Client, RawReply, Request
from envs.base import SetupError
from harness import database
from harness.budget import Budget
from harness.journal import Journal, reply_of
from harness.records import Call, call_key, message_hash


class NotRecorded(SetupError):
    """A call is not in the record and new ones are forbidden (`backbone.calls=replay`)."""


@dataclass
class Tally:
    """What the calls of the current attempt used."""

    seconds: float = 0.0


class JournalRecorder:
    """A `Recorder` (agents.client) over a journal.

    A reply that the journal already holds is given back without a call. `replies` may name the record
    of another run to take replies from (a recorded run that is replayed); with `forbid_new` a call found
    in neither is an error.
    """

    def __init__(
        self,
        journal: Journal,
        budget: Budget,
        *,
        forbid_new: bool = False,
        replies: Path | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._journal, self._budget, self._forbid_new, self._clock = journal, budget, forbid_new, clock
        self._source: sqlite3.Connection | None = (
            database.open_existing(replies, read_only=True) if replies is not None else None
        )
        self._served: dict[str, str] = {}
        self.tell: Callable[[str], None] = lambda text: None
        self.attempt(0, 0)

    def attempt(self, task: int, attempt: int) -> None:
        """Start counting for an attempt at a task."""
        self._task, self._attempt, self._index = task, attempt, 0
        self._occurrences: Counter[str] = Counter()
        self.tally = Tally()

    def __call__(self, client: Client, request: Request) -> RawReply:
        """The reply to a request: recorded, replayed, or received now.

        Raises NotRecorded, BudgetExhausted and what the client raises.
        """
        hashes = tuple(message_hash(message) for message in request.messages)
        same = call_key(request, hashes, self._task, self._attempt, 0)
        occurrence = self._occurrences[same]
        self._occurrences[same] += 1
        key = call_key(request, hashes, self._task, self._attempt, occurrence) if occurrence else same
        index = self._index
        self._index += 1

        # The reader's calls are not durable one by one, so nothing of an open attempt can be there.
        reply = self._journal.reply(key) if client.paid or self._source is not None else None
        if reply is not None:
            self.tally.seconds += reply.seconds
            return reply
        if self._source is not None:
            reply = reply_of(self._source, key)
        if reply is None:
            reply = self._received(client, request, key)
        durable = client.paid and self._source is None
        self._journal.receive(
            Call(key, self._task, self._attempt, index, request, hashes, reply), durable=durable
        )
        self.tally.seconds += reply.seconds
        self._watch_model(request.model, reply.model)
        return reply

    def _received(self, client: Client, request: Request, key: str) -> RawReply:
        if self._forbid_new:
            why = (
                "Name the run that holds it by recorded=FOLDER, or"
                if self._source is None
                else "Prompts or configuration differ from the recorded run:"
            )
            raise NotRecorded(
                f"backbone.calls=replay: the record holds no reply for this {request.role} call of task "
                f"{self._task}. {why} use backbone.calls=record to make new calls."
            )
        self._budget.check()
        if not client.paid:
            reply = client.send(request)
            self._budget.tokens += reply.input_tokens + reply.output_tokens
            return reply
        self._journal.intend(key, self._task)
        try:
            reply = client.send(request)
        except BackboneFailed as failed:
            if failed.billed is None:
                self._journal.abandon(key)
            else:
                self._keep_unusable(request, key, failed.billed)
            raise
        self._budget.add(reply.cost, reply.input_tokens + reply.output_tokens)
        return reply

    def _keep_unusable(self, request: Request, key: str, usage: Usage) -> None:
        """Count answers that no later attempt may be given again: under a key that no call has."""
        self._budget.add(usage.cost, usage.input_tokens + usage.output_tokens)
        reply = RawReply(
            "",
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cost,
            usage.estimated,
            usage.seconds,
            finish="unusable",
        )
        hashes = tuple(message_hash(message) for message in request.messages)
        self._journal.receive_unusable(
            Call(key, self._task, self._attempt, self._index - 1, request, hashes, reply)
        )

    def _watch_model(self, asked: str, served: str) -> None:
        before = self._served.get(asked, served)
        if served and served != before:
            self.tell(f"the provider now serves {served!r} for {asked!r} (before: {before!r})")
        if served:
            self._served[asked] = served
