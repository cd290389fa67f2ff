"""How much memory an agent was shown, and the cap on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents import tokens
from agents.base import Step
from memories.base import Recall


@dataclass(frozen=True)
class Injection:
    """Size of the memory text of one episode, by the bundled tokenizer."""

    lines: int
    tokens: int
    """Each text once: the system message's part, tools' replies, notes."""
    tokens_calls: int
    """Summed over the acting calls, each of which repeats what was shown before (EvoWeave, appendix F)."""


def injection(text: str, steps: Sequence[Step]) -> Injection:
    """Size of the memory text in an episode. A note precedes the call of its round; a tool's reply is
    first read by the next."""
    shown, lines, calls = tokens.count(text), _lines(text), 0
    for step in steps:
        if step.kind == "note":
            shown, lines = shown + tokens.count(step.observation), lines + _lines(step.observation)
            continue
        calls += shown
        if step.kind in ("tool", "objection"):
            shown, lines = shown + tokens.count(step.observation), lines + _lines(step.observation)
    return Injection(lines, shown, calls)


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def cap(recall: Recall, budget_tokens: int | None) -> None:
    """Cut the recall's text to whole lines within `budget_tokens` (`memory.budget_tokens`; None: no cap)."""
    if budget_tokens is None or tokens.count(recall.text) <= budget_tokens:
        return
    kept: list[str] = []
    left = budget_tokens
    for line in recall.text.splitlines():
        left -= tokens.count(line)
        if left < 0:
            break
        kept.append(line)
    recall.text = "\n".join(kept)
