"""How much memory an agent was shown, and the caps on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents import tokens
from agents.base import Guide, Step, Tool


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


def within(text: str, limit: int) -> str:
    """The first lines of `text`, whole, that have at most `limit` tokens together."""
    # a token has at least one character
    if len(text) <= limit or tokens.count(text) <= limit:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        limit -= tokens.count(line)
        if limit < 0:
            break
        kept.append(line)
    return "\n".join(kept)


class Budgeted:
    """A guide whose texts have at most `budget` tokens together over an episode (`memory.budget_tokens`).

    What goes into the system message comes first; what is left is for notes, tools' replies and objections
    as they come. Each is cut to whole lines; one of which nothing is left is not given.
    """

    def __init__(self, guide: Guide, budget: int) -> None:
        self._guide, self._left = guide, budget
        self.text = self._taken(guide.text)
        self.tools: Sequence[Tool] = [replace(tool, call=self._capped(tool)) for tool in guide.tools]

    def before_step(self, history: Sequence[Step]) -> str | None:
        """The guide's note."""
        return self._taken(self._guide.before_step(history)) or None

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        """The guide's objection."""
        return self._taken(self._guide.check_action(action, history)) or None

    def _capped(self, tool: Tool) -> Callable[[str], str]:
        return lambda argument: self._taken(tool.call(argument)) or "(cut: memory.budget_tokens is used up)"

    def _taken(self, text: str | None) -> str:
        kept = within(text or "", self._left)
        self._left -= tokens.count(kept)
        return kept
