"""The offline reader as a client: answers every role from the prompt's text alone, with no model.

It has no weights, no network, and no access to a world's internals, gold actions or scores. The same seed
and the same prompt give the same reply; the seed breaks ties. It exists so that every part of a run works
and is tested anywhere. It is no evidence about language models.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable

from pydantic import BaseModel

from agents import forms, tokens
from agents.client import RawReply, Request
from agents.reader import judging  # noqa: F401  registers the judge's rule
from agents.reader.answers import Prompt, rule_for
from agents.reader.fallback import fill
from agents.reader.play import play
from agents.reader.play_code import code
from agents.reader.play_page import page
from agents.reader.play_tools import call_tool
from agents.reader.view import view_of
from envs.base import Form


class ReaderClient:
    """An `agents.client.Client` without a model."""

    model = "reader"
    paid = False

    def __init__(self, seed: int = 0, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seed = seed
        self._clock = clock

    def send(self, request: Request) -> RawReply:
        """Answer from the messages' text: by schema if one is asked for, else by acting."""
        start = self._clock()
        text = self.answer(Prompt(request.messages, request.role, request.schema))
        return RawReply(
            text,
            input_tokens=sum(tokens.count(message["content"]) for message in request.messages),
            output_tokens=tokens.count(text),
            estimated=True,
            seconds=self._clock() - start,
            model=self.model,
        )

    def answer(self, prompt: Prompt) -> str:
        if prompt.schema is not None:
            rng = random.Random(f"{self.seed}\n{prompt.text}")
            return json.dumps(_data(prompt, prompt.schema, rng), ensure_ascii=False)
        return act(prompt, self.seed)


def act(prompt: Prompt, seed: int) -> str:
    """A reply in the form that the system message asks for."""
    view = view_of(prompt.messages)
    # The task, not the whole prompt: ties are settled the same way all through an episode.
    rng = random.Random(f"{seed}\n{view.task}")
    form = form_of(prompt.messages[0]["content"])
    tool = call_tool(view)
    if tool:
        return f"Thought: {tool.thought}\nTool: {tool.action}"
    choice = {"text": play, "code": code, "page": page}[form](view, rng)
    return forms.write(form, forms.Move(choice.thought, choice.action))


def form_of(system: str) -> Form:
    """Which form of acting a system message asks for."""
    rules: list[Form] = [form for form, text in forms.RULES.items() if text in system]
    if rules:
        return rules[0]
    return "code" if re.search(r"^```python", system, re.MULTILINE) else "text"


def _data(prompt: Prompt, schema: type[BaseModel], rng: random.Random) -> object:
    rule = rule_for(schema)
    if rule is None:
        return fill(schema, prompt, rng)
    answer = rule(prompt, rng)
    return answer.model_dump(mode="json", by_alias=True) if isinstance(answer, BaseModel) else dict(answer)
