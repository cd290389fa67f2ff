"""The contracts of those who act: backbone, tools, the guide of an episode, and what an episode is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypedDict

from pydantic import BaseModel

from envs.base import Task

Role = Literal["act", "plan", "retrieve", "judge", "write"]
"""Why a call is made: labels its tokens and cost, and may be mapped to a backbone of its own."""
ROLES: tuple[Role, ...] = ("act", "plan", "retrieve", "judge", "write")


class Message(TypedDict):
    """One chat message, in the OpenAI protocol's words."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Usage:
    """What one call used. Tokens are the provider's where given."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """Share of input_tokens that the provider read from its prompt cache."""
    cost: float | None = 0.0
    """US dollars by the price table, None if the model's price is unknown."""
    estimated: bool = False
    """True if the provider gave no usage and the bundled tokenizer counted."""
    seconds: float = 0.0
    """Wall time of the call; not part of what is compared between runs."""


class BackboneFailed(Exception):
    """No usable reply after all retries; says what the provider answered."""

    billed: Usage | None = None
    """What answers that came and could not be used have cost; None if none came."""


class ContextOverflow(BackboneFailed):
    """The request does not fit the model's context. Final: never retried."""


class Refusal(BackboneFailed):
    """The provider or model declined to answer. Final: never retried."""


class MalformedReply(Exception):
    """A structured reply did not fit its schema, twice. Carries the last text as `text`."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class BudgetExhausted(Exception):
    """A cap on money or tokens is reached: the run stops cleanly and can be resumed with a higher cap."""


@dataclass(frozen=True)
class Reply:
    """An answer of a backbone."""

    text: str
    data: Any = None
    """An instance of the schema asked for, else None."""
    usage: Usage = Usage(0, 0)


class Backbone(Protocol):
    """The language model, or whoever answers in its place."""

    name: str

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """Answer `messages`.

        With a `schema` the form is described to the model, its reply validated and, if it does not
        fit, asked for once more; `Reply.data` is then an instance of the schema. A temperature of
        None is the backbone's configured one.

        Raises MalformedReply, ContextOverflow, Refusal, BackboneFailed, BudgetExhausted.
        """


StepKind = Literal["act", "tool", "look_up", "malformed", "objection", "note"]
"""act: reached the world. tool: a memory tool. look_up: a free question to the world. malformed: the
reply could not be read. objection: the guide held an action back. note: text of `before_step`."""


@dataclass(frozen=True)
class Step:
    """One round of an episode. Only kind `act` reached the world and counts as a step."""

    kind: StepKind
    thought: str
    action: str
    observation: str
    """What came back: the world's text, a tool's reply, a look-up, or what was wrong with the reply."""


EpisodeEnd = Literal["finished", "step_limit", "stopped"]


@dataclass(frozen=True)
class Episode:
    """What the agent saw and did on one task; holds no official score, no time and no cost."""

    task: Task
    opening: str
    """The first observation."""
    steps: tuple[Step, ...]
    end: EpisodeEnd
    """finished: the world said done; step_limit; stopped: the agent gave up or could not be read."""

    @property
    def acts(self) -> tuple[Step, ...]:
        """The rounds that reached the world, in order."""
        return tuple(step for step in self.steps if step.kind == "act")


@dataclass(frozen=True)
class Verdict:
    """The judge's reading of an episode. `unreadable` is a state of its own, never success or failure."""

    outcome: Literal["success", "failure", "unreadable"]
    reason: str = ""


@dataclass(frozen=True)
class Tool:
    """Something the agent may call during an episode, by the line `Tool: name(argument)`."""

    name: str
    """One word, [a-z_]."""
    usage: str
    """One line for the prompt: the call with its argument, and what it gives."""
    call: Callable[[str], str]
    """Takes the text between the brackets, gives text. Never raises for a bad argument: it explains."""


class Guide(Protocol):
    """What accompanies an agent through one episode. The loop knows no memory, only this."""

    text: str
    """Put into the system message; empty for nothing."""
    tools: Sequence[Tool]

    def before_step(self, history: Sequence[Step]) -> str | None:
        """Called before each round; text for the agent to read now, or None."""

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        """An objection that is shown instead of executing `action`, or None. A loop allows at most
        one objection in a row: the same action sent again is executed."""
