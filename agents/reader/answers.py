"""The reader's rules for structured replies: one function a schema, kept beside whoever asks.

A memory whose prompts deserve better than the schema-driven fallback writes, beside its prompts,

    @answers(Extraction)
    def extract(prompt: Prompt, rng: random.Random) -> Extraction: ...

and sees nothing but the prompt's text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from agents.base import Message, Role
from agents.prompts import blocks


@dataclass(frozen=True)
class Prompt:
    """A request as the reader sees it."""

    messages: tuple[Message, ...]
    role: Role
    schema: type[BaseModel] | None = None

    @property
    def text(self) -> str:
        """All messages, one after the other."""
        return "\n\n".join(message["content"] for message in self.messages)

    @cached_property
    def blocks(self) -> dict[str, list[str]]:
        """The marked blocks of all messages (see agents.prompts.block)."""
        return blocks(self.text)

    def block(self, name: str) -> str:
        """The last block of that name, or the empty text."""
        return self.blocks.get(name, [""])[-1]


Rule = Callable[[Prompt, random.Random], BaseModel | Mapping[str, Any]]

_rules: dict[type[BaseModel], Rule] = {}


def answers(schema: type[BaseModel]) -> Callable[[Rule], Rule]:
    """Register the decorated function as the reader's rule for `schema`."""

    def register(rule: Rule) -> Rule:
        _rules[schema] = rule
        return rule

    return register


def rule_for(schema: type[BaseModel]) -> Rule | None:
    """The rule registered for `schema`, if any."""
    return _rules.get(schema)
