"""What lies under a backbone: one call to a model, and the seam where calls are recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import BaseModel

from agents.base import Message, Role, Usage


@dataclass(frozen=True)
class Request:
    """One call, as it is sent. What identifies it is everything but `schema` (which the messages describe)."""

    model: str
    messages: tuple[Message, ...]
    role: Role
    temperature: float
    max_tokens: int
    seed: int | None = None
    schema: type[BaseModel] | None = None
    """Only for a client that answers without a model; never sent."""


@dataclass(frozen=True)
class RawReply:
    """One answer, as it came."""

    text: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost: float | None = 0.0
    """US dollars, None if the price is unknown."""
    estimated: bool = False
    """The provider gave no usage (or zero): the bundled tokenizer counted."""
    seconds: float = 0.0
    model: str = ""
    """As the provider reports it."""
    reasoning: str = ""
    """`reasoning_content`, kept in the record and not echoed."""
    finish: str = "stop"
    """Why it ended: stop; length: cut off, perhaps before it said anything; refused: `text` says in what words."""
    retries: int = 0

    @property
    def usage(self) -> Usage:
        """What it used."""
        return Usage(
            self.input_tokens, self.output_tokens, self.cached_tokens, self.cost, self.estimated, self.seconds
        )


def together(first: Usage, second: Usage) -> Usage:
    """Two calls as one; unknown cost stays unknown, one estimate makes an estimate."""
    known = first.cost is not None and second.cost is not None
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cached_tokens + second.cached_tokens,
        (first.cost or 0.0) + (second.cost or 0.0) if known else None,
        first.estimated or second.estimated,
        first.seconds + second.seconds,
    )


def charged(reply: RawReply, others: Sequence[Usage]) -> RawReply:
    """`reply` with what other answers to the same request have cost."""
    total = reply.usage
    for usage in others:
        total = together(total, usage)
    return replace(
        reply,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cached_tokens=total.cached_tokens,
        cost=total.cost,
        estimated=total.estimated,
    )


class Client(Protocol):
    """Sends requests to one model."""

    @property
    def model(self) -> str:
        """Name of the model, as in the price table."""

    @property
    def paid(self) -> bool:
        """Whether a reply costs money or time that must not be spent twice (False for the offline reader)."""

    def send(self, request: Request) -> RawReply:
        """Raises ContextOverflow, Refusal, BackboneFailed (after its own retries)."""


Recorder = Callable[[Client, Request], RawReply]
"""Stands between a backbone and its client: the journal records, replays and budgets here."""


def unrecorded(client: Client, request: Request) -> RawReply:
    """The recorder that records nothing."""
    return client.send(request)
