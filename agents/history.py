"""The conversation of an episode, and the one rule by which it is cut before it overflows.

The rule: when the conversation would exceed its limit, what the world showed in the oldest messages is
replaced by a one-line mark, oldest first, until the conversation is within three quarters of the limit.
If it is still above the limit when nothing is left to replace, the oldest rounds (a reply and the mark
after it) go as a whole. The system message, the task, and the latest message stay. Cutting below the
limit at once keeps the beginning of the prompt the same for many rounds, so that providers' prompt
caches still match.
"""

from __future__ import annotations

from agents import tokens
from agents.base import Message
from agents.prompts import assistant, system, user

MARK = "[An earlier message was left out here to fit the context.]"
KEEP = 0.75
"""Share of the limit that a cut goes down to [ours]."""


class History:
    """Messages of one episode within `limit` tokens of the bundled tokenizer."""

    def __init__(self, system_text: str, limit: int) -> None:
        self.limit = limit
        self._messages: list[Message] = [system(system_text)]
        self._characters = len(system_text)
        self._menu = ""
        self._cut = 3
        """First message that may be cut: past the system message, the task and the first reply."""

    def user(self, text: str, menu: str = "") -> None:
        """Add what the agent reads next. `menu` is shown only while this message is the latest."""
        self._messages.append(user(text))
        self._characters += len(text)
        self._menu = menu

    def assistant(self, text: str) -> None:
        """Add what the agent replied."""
        self._messages.append(assistant(text))
        self._characters += len(text)

    def messages(self) -> list[Message]:
        """The conversation as it is sent now."""
        self._fit()
        if not self._menu:
            return list(self._messages)
        latest = self._messages[-1]["content"]
        return [*self._messages[:-1], user(f"{latest}\n{self._menu}")]

    def _fit(self) -> None:
        # A token has at least one character, so a short conversation needs no counting.
        if self._characters + len(self._menu) <= self.limit:
            return
        sizes = [tokens.count(message["content"]) for message in self._messages]
        total = sum(sizes) + tokens.count(self._menu)
        if total <= self.limit:
            return
        mark = tokens.count(MARK)
        while total > self.limit * KEEP and self._cut < len(self._messages) - 1:
            if self._messages[self._cut]["role"] == "user" and sizes[self._cut] > mark:
                total += mark - sizes[self._cut]
                sizes[self._cut] = mark
                self._messages[self._cut] = user(MARK)
            self._cut += 1
        if total > self.limit:
            self._drop_rounds(sizes, total - int(self.limit * KEEP))
        self._characters = sum(len(message["content"]) for message in self._messages)

    def _drop_rounds(self, sizes: list[int], excess: int) -> None:
        """Drop the oldest rounds until `excess` tokens are gone or only the latest is left."""
        end, dropped = 2, 0
        while dropped < excess and end + 2 < len(self._messages):
            dropped += sizes[end] + sizes[end + 1]
            end += 2
        del self._messages[2:end]
        self._cut -= end - 2
