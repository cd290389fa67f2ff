"""The episode: run -> round -> query -> execute. It knows a world, a guide and a backbone, and no memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from agents import forms
from agents.base import Backbone, Episode, EpisodeEnd, Guide, Step
from agents.history import History
from agents.prompts import block
from envs.base import Form, Task, World


@dataclass(frozen=True)
class LoopOptions:
    """The agent's configuration (configs/agent). The same for every memory."""

    context_tokens: PositiveInt = 100_000
    """The backbone's context, in tokens."""
    context_share: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Share of it that a conversation may fill, by the bundled tokenizer: the rest is for the reply and
    for the difference between tokenizers [ours]. Beyond it the rule of agents.history cuts."""
    repairs: NonNegativeInt = 3
    """Malformed replies that are repaired with no action between them; one more ends the episode as
    stopped [ours]."""
    look_ups: NonNegativeInt = 20
    """Free questions to the world (`check valid actions`) an episode [ours]."""
    tool_calls: NonNegativeInt = 20
    """Calls of a memory's tools an episode [ours]."""
    observation_characters: PositiveInt = 20_000
    """Where one observation is cut (AppWorld's own agents cut there)."""


@dataclass
class Timing:
    """Seconds of an episode by where they went; filled in as the episode runs."""

    world: float = 0.0
    backbone: float = 0.0
    guide: float = 0.0
    """In the memory's tools, notes and objections, including backbone calls of its own."""


def act(
    world: World,
    task: Task,
    guide: Guide,
    backbone: Backbone,
    options: LoopOptions,
    form: Form,
    step_limit: int,
    on_step: Callable[[Step], None] | None = None,
    timing: Timing | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Episode:
    """Act in `world` until it says done, `step_limit` actions reached it, or replies stay malformed.

    `on_step` sees every step as soon as it is complete, so that a caller holds the partial episode when an
    exception (EnvironmentFailed, BackboneFailed, BudgetExhausted, whatever the guide raises) passes through.
    """
    run = _Run(world, task, guide, backbone, options, form, step_limit, on_step, timing or Timing(), clock)
    return run.run()


def system_text(form: Form, action_help: str, guide: Guide) -> str:
    """The system message: role, rules of the reply, the world's actions, the memory, the tools."""
    parts = [forms.ROLES[form], forms.RULES[form], block("action_help", action_help)]
    if guide.text:
        parts.append(
            "What was kept from earlier tasks follows. It may be wrong or not fit this task: weigh it\n"
            "silently against what you see, adapt names and places, and name it in your thought only where\n"
            "you follow it.\n" + block("memory", guide.text)
        )
    if guide.tools:
        parts.append(
            "Instead of an action you may call one of these tools, by a single line after the thought:\n"
            "Tool: name(argument)\n"
            "A call changes nothing in the world and uses up no step.\n"
            + block("tools", "\n".join(tool.usage for tool in guide.tools))
        )
    return "\n\n".join(parts)


class _Run:
    def __init__(
        self,
        world: World,
        task: Task,
        guide: Guide,
        backbone: Backbone,
        options: LoopOptions,
        form: Form,
        step_limit: int,
        on_step: Callable[[Step], None] | None,
        timing: Timing,
        clock: Callable[[], float],
    ) -> None:
        self.world, self.task, self.guide, self.backbone = world, task, guide, backbone
        self.options, self.form, self.step_limit = options, form, step_limit
        self.on_step, self.timing, self.clock = on_step, timing, clock
        self.tools = {tool.name: tool for tool in guide.tools}
        self.steps: list[Step] = []
        self.acted = self.look_ups = self.tool_calls = self.malformed = 0
        self.objected = False
        with self.timed("world"):
            self.latest = world.observation
            help_text = world.action_help
        self.opening = self.cut(self.latest.text)
        limit = int(options.context_tokens * options.context_share)
        self.history = History(system_text(form, help_text, guide), limit)
        self.pending = block("task", task.instruction) + "\n" + block("observation", self.opening)

    def run(self) -> Episode:
        end = self.end()
        while end is None:
            self.round()
            end = self.end()
        return Episode(self.task, self.opening, tuple(self.steps), end)

    def end(self) -> EpisodeEnd | None:
        if self.latest.done:
            return "finished"
        if self.acted >= self.step_limit:
            return "step_limit"
        return "stopped" if self.malformed > self.options.repairs else None

    def round(self) -> None:
        reply = forms.read(self.form, self.query(), self.tools)
        if isinstance(reply, forms.Malformed):
            self.history.assistant(self.cut(reply.text) or "(empty)")
            self.reject("", self.cut(reply.text), reply.problem)
        else:
            self.history.assistant(forms.write(self.form, reply))
            self.execute(reply)

    def query(self) -> str:
        """Show the agent what it has to read now, and take its reply."""
        with self.timed("guide"):
            note = self.guide.before_step(self.steps)
        if note:
            self.pending += "\n" + block("note", note)
            self.record(Step("note", "", "", note))
        progress = f"Step {self.acted + 1} of {self.step_limit}."
        menu = self.latest.actions
        self.history.user(
            f"{self.pending}\n{progress}",
            "" if menu is None else "Actions possible now:\n" + block("actions", "\n".join(menu)),
        )
        messages = self.history.messages()
        with self.timed("backbone"):
            return self.backbone.complete(messages, role="act").text

    def execute(self, move: forms.Move) -> None:
        if move.tool:
            self.call_tool(move)
            return
        with self.timed("world"):
            answer = self.world.look_up(move.action)
        if answer is not None:
            self.look_up(move, self.cut(answer))
            return
        if not self.objected and (objection := self.objection(move)):
            self.objected = True
            self.pending = (
                "Your action was held back, nothing happened. The reason comes from earlier experience and\n"
                "may be wrong; send the same action again to do it all the same.\n"
                + block("objection", objection)
            )
            self.record(Step("objection", move.thought, move.action, objection))
            return
        self.objected = False
        with self.timed("world"):
            self.latest = self.world.step(move.action)
        self.acted += 1
        self.malformed = 0
        observation = self.cut(self.latest.text)
        self.pending = block("observation", observation)
        self.record(Step("act", move.thought, move.action, observation))

    def objection(self, move: forms.Move) -> str | None:
        with self.timed("guide"):
            return self.guide.check_action(move.action, self.steps)

    def call_tool(self, move: forms.Move) -> None:
        if self.tool_calls >= self.options.tool_calls:
            self.reject(move.thought, move.action, f"All {self.tool_calls} tool calls are used up: act.")
            return
        self.tool_calls += 1
        with self.timed("guide"):
            answer = self.cut(self.tools[move.tool].call(move.argument))
        self.pending = block("tool_reply", answer)
        self.record(Step("tool", move.thought, move.action, answer))

    def look_up(self, move: forms.Move, answer: str) -> None:
        if self.look_ups >= self.options.look_ups:
            self.reject(move.thought, move.action, f"All {self.look_ups} free look-ups are used up: act.")
            return
        self.look_ups += 1
        self.pending = block("observation", answer)
        self.record(Step("look_up", move.thought, move.action, answer))

    def reject(self, thought: str, action: str, problem: str) -> None:
        self.malformed += 1
        self.pending = f"Your reply could not be used, nothing happened. {problem}\n{forms.RULES[self.form]}"
        self.record(Step("malformed", thought, action, problem))

    def record(self, step: Step) -> None:
        self.steps.append(step)
        if self.on_step is not None:
            self.on_step(step)

    def cut(self, text: str) -> str:
        limit = self.options.observation_characters
        return text if len(text) <= limit else f"{text[:limit]}\n[cut at {limit} characters]"

    @contextmanager
    def timed(self, where: str) -> Iterator[None]:
        start = self.clock()
        try:
            yield
        finally:
            setattr(self.timing, where, getattr(self.timing, where) + self.clock() - start)
