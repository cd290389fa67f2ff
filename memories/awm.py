"""Agent Workflow Memory, online: one file of workflows, induced again after each success.

Paper: Wang et al. 2024, "Agent Workflow Memory". Official repository: zorazrw/agent-workflow-memory
(Apache-2.0). Prompts are ours; no code is copied.

Deviations, and why:
- One file a run. Theirs is one a website, chosen by the benchmark's own metadata, which no memory may use.
- Success is the run's one judge's verdict.
- All successes so far go into the call, the newest within a cap of input tokens; without one the call
  would outgrow every context.
- Workflows come as structured replies. Two that have the same steps are one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveInt

from agents import tokens
from agents.base import Message
from agents.prompts import block, render_episode, system, user
from agents.reader.answers import Prompt, answers
from envs.base import Task
from memories.base import Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, read_records, refuse_unknown, write_records
from memories.extraction import episode_steps, overlap, sentence, worked
from memories.prompting import DATA, Filled, ask
from memories.store import STATE, Store, take_numbers, write_numbers

WORKFLOWS = "workflows.txt"


class Move(BaseModel):
    """One step of a workflow."""

    reason: str = Field("", description="when or why to do it, in a few words")
    action: Filled = Field(description="the action as the world accepts it, {placeholders} for what varies")


class Workflow(BaseModel):
    """A sub-routine that occurs in several tasks."""

    name: Filled = Field(description="what it achieves, with {placeholders}, in a few words")
    description: str = Field(
        "", description="when to use it, and what the records showed that helps to do it"
    )
    steps: list[Move] = Field(min_length=2)


class Workflows(BaseModel):
    """The whole file."""

    workflows: list[Workflow] = Field(description="no two overlap; may be empty")


@dataclass(frozen=True)
class Success:
    """One judged success."""

    task: int
    instruction: str
    text: str

    @property
    def shown(self) -> str:
        """As the prompt shows it."""
        return f"Task: {self.instruction}\n{self.text}"


class AWM:
    """Recalls the whole file, whatever the task."""

    def __init__(
        self,
        resources: Resources,
        temperature: NonNegativeFloat | None = 1.0,
        input_tokens: PositiveInt = 16000,
        episode_tokens: PositiveInt = 2000,
    ) -> None:
        self.temperature = temperature
        self.input_tokens = input_tokens
        self.episode_tokens = episode_tokens
        self._backbone = resources.backbone
        self._successes: Store[Success] = Store("successes", resources.embedder, None, _write, _read)
        self._workflows: tuple[Workflow, ...] = ()
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """The whole file."""
        if not self._workflows:
            return Recall()
        parts = ["Workflows that completed parts of earlier tasks. Fill in the {placeholders}."]
        parts += [_shown(workflow) for workflow in self._workflows]
        items = [Item(workflow.name, "workflow") for workflow in self._workflows]
        return Recall("\n\n".join(parts), items)

    def write(self, experience: Experience) -> None:
        """After a judged success, induce the whole file again; after anything else, nothing."""
        if experience.verdict.outcome != "success":
            return
        task = experience.episode.task
        text = render_episode(experience.episode, self.episode_tokens)
        self._successes.add(Success(task.number, task.instruction, text))
        messages = induction_prompt(self._newest())
        answer = ask(self._backbone, messages, role="write", schema=Workflows, temperature=self.temperature)
        if answer is None:
            self._numbers["malformed"] += 1
            return
        self._numbers["inductions"] += 1
        distinct = {
            tuple(_key(move.action) for move in flow.steps): flow for flow in reversed(answer.workflows)
        }
        self._numbers["duplicates"] += len(answer.workflows) - len(distinct)
        self._workflows = tuple(reversed(distinct.values()))

    def _newest(self) -> list[str]:
        """The newest successes within the cap, oldest first; always the very newest."""
        chosen: list[str] = []
        left = self.input_tokens
        for entry in reversed(self._successes.last(len(self._successes))):
            left -= tokens.count(entry.shown)
            if left < 0 and chosen:
                break
            chosen.append(entry.shown)
        return chosen[::-1]

    def documents(self) -> Mapping[str, str]:
        """The file, and one document a success."""
        numbers = {"successes": self._successes.made, **dict(sorted(self._numbers.items()))}
        return {
            STATE: write_numbers(numbers),
            WORKFLOWS: write_records(map(_fields, self._workflows), remark="the whole file, as it is shown"),
            **self._successes.documents(),
        }

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        workflows = tuple(map(_workflow, read_records(WORKFLOWS, left.pop(WORKFLOWS, ""))))
        self._successes.load(left, numbers.pop("successes", 0))
        refuse_unknown(left, "awm")
        self._workflows, self._numbers = workflows, numbers

    def counters(self) -> Mapping[str, float]:
        """workflows, successes, inductions (calls that gave a file), duplicates (dropped), malformed (replies)."""
        names = ("inductions", "duplicates", "malformed")
        sizes = {"workflows": len(self._workflows), "successes": len(self._successes)}
        return {**sizes, **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


INDUCTION = f"""\
You induce workflows from an agent's records of tasks that it completed: sub-routines of two steps or
more that occur in several of them, or, with few records, that later, similar tasks will need. Write the
whole file of workflows from these records alone; an earlier one is replaced. No run of two or more steps
stands in two workflows: rather several short ones than one for a whole task. In names and actions put a
{{placeholder}} with a telling name for whatever varies from task to task; keep the rest of each action
exactly as the world accepted it. Leave out steps that failed or led nowhere. Of a step that is repeated, or
that only some tasks need, say so in its reason ("once for each room on the way", "only if it is closed").
Where another workflow fits in between, a reason may name it. What was found where belongs into
descriptions, as seen in one task: later ones may find it elsewhere. {DATA}"""


def induction_prompt(successes: Sequence[str]) -> list[Message]:
    """All the successes that fit."""
    return [system(INDUCTION), user("\n".join(block("success", text) for text in successes))]


@answers(Workflows)
def induce(prompt: Prompt, rng: random.Random) -> Workflows:
    """One workflow for each kind of task, from its newest success: the actions that the world took."""
    flows: list[tuple[str, Workflow]] = []
    for text in reversed(prompt.blocks.get("success", [])):
        task = text.partition("\n")[0].removeprefix("Task: ")
        actions = [" ".join(action.split()) for action in worked(episode_steps(text))]
        if len(actions) < 2 or any(overlap(task, other) >= 0.8 for other, _ in flows) or len(flows) == 8:
            continue
        steps = [Move(reason="", action=action) for action in actions[-12:] if action]
        if len(steps) > 1:
            name = sentence(task, 20) or "a task"
            flows.append((task, Workflow(name=name, description=f"For a task like '{name}'.", steps=steps)))
    return Workflows(workflows=[flow for _, flow in flows])


def _shown(workflow: Workflow) -> str:
    lines = [f"## Workflow: {workflow.name}", workflow.description]
    for number, move in enumerate(workflow.steps, 1):
        lines += [f"{number}. {move.action}" + (f"   ({move.reason})" if move.reason else "")]
    return "\n".join(line for line in lines if line)


def _key(action: str) -> str:
    return " ".join(action.casefold().split())


def _fields(workflow: Workflow) -> Mapping[str, Value]:
    return {
        "name": workflow.name,
        "description": workflow.description,
        "actions": [move.action for move in workflow.steps],
        "reasons": [move.reason for move in workflow.steps],
    }


def _workflow(record: Record) -> Workflow:
    actions, reasons = record.texts("actions"), record.texts("reasons")
    if len(actions) != len(reasons):
        raise record.error(
            f"{len(actions)} actions but {len(reasons)} reasons: one for each is needed", "reasons"
        )
    if not actions:
        raise record.error("a workflow has at least one action", "actions")
    steps = [Move.model_construct(reason=r, action=a) for a, r in zip(actions, reasons, strict=True)]
    return Workflow.model_construct(
        name=record.filled("name"), description=record.text("description"), steps=steps
    )


def _write(entry: Success) -> Mapping[str, Value]:
    return {"task": entry.task, "instruction": entry.instruction, "trajectory": entry.text}


def _read(record: Record) -> Success:
    return Success(record.whole("task"), record.text("instruction"), record.text("trajectory"))
