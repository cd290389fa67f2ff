"""A client whose replies are written beforehand: for tests and examples, and for trying a prompt by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from agents import tokens
from agents.base import BackboneFailed
from agents.client import RawReply, Request
from agents.structured import clean

Answer = str | RawReply | Exception
Script = Iterable[Answer] | Callable[[Request], Answer]


class ScriptedClient:
    """Answers each request with the next of the given replies, or with what the given function says.

    An exception among the replies is raised. `requests` holds what was asked, in order.
    """

    def __init__(self, script: Script, *, model: str = "scripted", paid: bool = False) -> None:
        self.model = model
        self.paid = paid
        self.requests: list[Request] = []
        self._answer = script if callable(script) else _in_turn(iter(script))

    def send(self, request: Request) -> RawReply:
        """The next reply. Raises BackboneFailed when a list of replies is used up."""
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, RawReply):
            return answer if answer.model else replace(answer, model=self.model)
        answer = clean(answer)
        read = sum(tokens.count(message["content"]) for message in request.messages)
        return RawReply(answer, read, tokens.count(answer), estimated=True, model=self.model)


def _in_turn(answers: Iterator[Answer]) -> Callable[[Request], Answer]:
    def answer(request: Request) -> Answer:
        for reply in answers:
            return reply
        asked = request.messages[-1]["content"] if request.messages else ""
        raise BackboneFailed(
            f"the script has no reply left for a call of role {request.role!r}: {asked[:200]!r}"
        )

    return answer
