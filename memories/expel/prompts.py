"""ExpeL's two questions, and how the offline reader answers them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pydantic import BaseModel, Field

from agents.base import Message
from agents.prompts import block, system, user
from agents.reader.answers import Prompt, answers
from memories.expel.insights import Insight, Kind, Operation
from memories.extraction import episode_steps, in_order, overlap, refused, sentence, worked
from memories.prompting import DATA


class Change(BaseModel):
    """One operation."""

    operation: Kind
    insight: int | None = Field(None, description="the number of an insight in the list; null for ADD")
    text: str = Field("", description="the insight's text for ADD and EDIT; empty for AGREE and REMOVE")


class Changes(BaseModel):
    """What the episodes change about the insights."""

    operations: list[Change] = Field(description="each listed insight is named at most once; may be empty")

    def wishes(self) -> list[Operation]:
        """As plain values."""
        return [Operation(one.operation, one.insight, one.text) for one in self.operations]


RULES = """\
Insights are general: they help with other tasks of this kind, leave out what only these tasks' instructions
name (how this world works, its places and its forms of actions may be named), and can be followed. Change
the list by at most {most} operations in all, those that matter most, naming each listed insight at most once:
- ADD a new insight, if none of the list says it;
- EDIT an insight that can be made better or more general, or that these episodes confirm in part, by its
  number, with the whole new text;
- AGREE with an insight that these episodes confirm as it stands, by its number;
- REMOVE an insight that these episodes contradict, or that repeats another, by its number.
{data}"""

FULL = """
The list is full: prefer REMOVE for insights that are weak, narrow or repeat another, and EDIT to unite
several; ADD only what is more important than what is there."""

CONTRAST = """\
You keep a list of insights from an agent's earlier tasks. Two episodes on similar tasks are shown: one
succeeded, one failed. Find what made the difference: what the failed one left out, misread or did wrongly that
the other did right. One that was cut off at the limit of steps may have done nothing wrong: compare which
steps the other spared. Where only the start or luck made the difference, ask what would have brought the
failed one through all the same; if nothing in the records says it, change nothing. Change the list by what
that teaches.
"""

SUCCESSES = """\
You keep a list of insights from an agent's earlier tasks. Episodes that succeeded are shown. Find what
they have in common that made them succeed. Change the list by what that teaches.
"""


def _listed(insights: Sequence[Insight]) -> str:
    lines = [f"{one.id}. {' '.join(one.text.split())}" for one in insights]
    return block("insights", "\n".join(lines) or "(none yet)")


def contrast_prompt(
    insights: Sequence[Insight], success: str, failure: str, *, most: int, full: bool
) -> list[Message]:
    """One success and one failure, both as text with their tasks. `most`: operations that will be applied."""
    shown = [block("success", success), block("failure", failure), _listed(insights)]
    return [system(CONTRAST + _rules(most, full)), user("\n".join(shown))]


def successes_prompt(
    insights: Sequence[Insight], successes: Sequence[str], *, most: int, full: bool
) -> list[Message]:
    """Several successes, as texts with their tasks."""
    shown = [*(block("success", text) for text in successes), _listed(insights)]
    return [system(SUCCESSES + _rules(most, full)), user("\n".join(shown))]


def _rules(most: int, full: bool) -> str:
    return RULES.format(most=most, data=DATA) + (FULL if full else "")


@answers(Changes)
def change(prompt: Prompt, rng: random.Random) -> Changes:
    """From a pair, a step of the success that the failure lacks; of successes, the order of the last.

    Of a full list the least confirmed insight is given up for a new one.
    """
    listed = [line.partition(". ") for line in prompt.block("insights").splitlines() if line[:1].isdigit()]
    successes, failure = prompt.blocks.get("success", [""]), prompt.block("failure")
    right = worked(episode_steps(successes[-1]))
    task = sentence(successes[-1].partition("\n")[0].removeprefix("Task: "), 20)
    if failure:
        tried = {action for action, _ in episode_steps(failure)}
        missing = [action for action in right if action not in tried]
        text = f"For a task like '{task}' do not leave out: {in_order(missing, 4)}." if missing else ""
        if not text and (wrong := refused(episode_steps(failure))):
            action, answer = wrong[0]
            text = f"`{sentence(action)}` is refused where the answer is '{sentence(answer, 12)}'."
    else:
        text = f"For a task like '{task}' this order works: {in_order(right, 8)}." if right else ""
    if not text:
        return Changes(operations=[])
    for number, _, old in listed:
        if overlap(text, old) >= 0.9:
            return Changes(operations=[Change(operation="AGREE", insight=int(number), text="")])
    room = []
    if FULL.strip() in prompt.text and listed:
        room = [Change(operation="REMOVE", insight=int(listed[-1][0]), text="")]
    return Changes(operations=[*room, Change(operation="ADD", insight=None, text=text)])
