"""What EvoWeave asks of a backbone: a plan, a reflection, and whether proposals are known already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agents.base import Message
from agents.prompts import block, system, user
from memories.evoweave.contracts import TYPES
from memories.evoweave.plan import topological
from memories.prompting import DATA

_STYLE = f"""\
Descriptions are abstract and short. They start with a plain verb, name what the verb acts on as a
{{placeholder}} in braces, and hold no value of this task (no names, numbers, objects, places or ids):
`find contact information of {{person}}`, `go to {{place}}`, `move {{object}} to {{container}}`.
Use the environment's own verb where it has one (`focus on {{object}}`, `pick up {{object}}`).
A placeholder has a name (its role) and a type. Use these types where one fits:
{", ".join(TYPES[:12])},
{", ".join(TYPES[12:])}.
A predicate is a fact in the form name(argument, ...): `at(agent, {{place}})`, `has(agent, {{object}})`,
`logged_in(agent)`, `not open({{container}})`; its arguments are placeholders, or `agent`."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class GivenValue(_Reply):
    name: str = Field(description="placeholder, e.g. recipient")
    type: str = Field(description="its type, e.g. person")
    value: str = Field(description="its value in this task")


class PlannedStep(_Reply):
    id: str = Field(
        description="s1, s2, ...; a step of an earlier plan keeps its id", min_length=1, max_length=20
    )
    description: str = Field(description="abstract, verb first, placeholders in braces", min_length=3)
    after: list[str] = Field(
        default_factory=list, description="ids of the steps whose result it needs directly"
    )


class PlanReply(_Reply):
    """The remaining steps of a task."""

    given: list[GivenValue] = Field(
        default_factory=list, description="values that the task or its history supplies"
    )
    facts: list[str] = Field(default_factory=list, description="predicates known to hold now")
    steps: list[PlannedStep] = Field(description="1 to 12 steps", min_length=1, max_length=12)

    @model_validator(mode="after")
    def _is_a_dag(self) -> PlanReply:
        topological([(step.id, step.after) for step in self.steps])
        return self


def plan_messages(
    instruction: str, history: str, earlier: str = "", reason: str = "", wrong: str = ""
) -> list[Message]:
    """Ask for the remaining steps. `earlier`: the plan so far and its step ids, when re-planning."""
    rules = f"""\
You plan one task of an interactive agent. Break what remains to be done into steps; a step is one
operation, such as a call of the environment or a few actions with one purpose. Do not guess values.

{_STYLE}

Give each step an id and, in `after`, the ids of the steps whose result it needs directly. A step that
needs two results names both. No cycles. List in `given` every value that the task names, and in
`facts` what is known to hold.
{DATA}"""
    parts = [block("task", instruction), block("observation", history)]
    if earlier:
        parts.append(block("earlier_plan", earlier))
        parts.append(
            "Re-plan: a step that stays keeps its id and its description exactly; new steps get new ids."
        )
    if reason:
        parts.append(block("reason", reason))
    if wrong:
        parts.append(block("wrong", wrong) + "\nThat was wrong in the last reply. Give the whole plan again.")
    return [system(rules), user("\n\n".join(parts))]


class HistoryLine(_Reply):
    steps: list[int] = Field(description="numbers of the rounds concerned, as in the episode")
    what: str = Field(description="what really happened: real inputs, outputs, errors")


class ProposedOperation(_Reply):
    steps: list[int] = Field(description="numbers of the rounds that carried it out", min_length=1)
    description: str = Field(description="abstract, verb first, placeholders in braces", min_length=3)
    source: list[str] = Field(
        description='state before: one state id in use, ["st0001"], or 0 to 3 predicates'
    )
    target: list[str] = Field(description="state after: likewise")
    inputs: list[str] = Field(default_factory=list, description="`name: type` of each required input")
    outputs: list[str] = Field(default_factory=list, description="`name: type` of what it yields")
    conditions: list[str] = Field(default_factory=list, description="predicates that must hold before")
    effects: list[str] = Field(
        default_factory=list, description="predicates that it makes true; [] if it only reads"
    )
    api: str = Field(
        default="", description="id of the one capability that mainly does it, from <capabilities>"
    )
    bindings: dict[str, str] = Field(
        default_factory=dict, description="placeholder -> its value in this episode"
    )
    worked: bool = Field(description="whether the observations show that it worked")
    error: str = Field(default="", description="if not: the error, copied from the observation")
    recovery: str = Field(default="", description="what then mended it, abstractly; empty if nothing did")
    recovery_steps: list[int] = Field(
        default_factory=list, description="numbers of the later rounds that mended it"
    )
    code: list[str] = Field(
        default_factory=list, description="names of code, of this reply or stored, that carry it out"
    )
    role: str = Field(default="", description="domain from `roles` that it belongs to, if any")


class ProposedCode(_Reply):
    name: str = Field(description="a new name, words joined by _", min_length=3, max_length=60)
    kind: Literal["macro", "function"] = Field(
        description="macro: lines of actions; function: one python def"
    )
    summary: str = Field(description="one line, abstract: what it does")
    body: str = Field(description="macro: one action a line with {placeholders}; function: the whole def")
    bindings: dict[str, str] = Field(
        default_factory=dict, description="parameter -> its value in this episode"
    )
    steps: list[int] = Field(
        description="macro: the round of each line, in order; function: the rounds it replaces"
    )
    test: str = Field(
        default="", description="for a function that calls no api: assert lines with made-up values"
    )


class ProposedRole(_Reply):
    domain: str = Field(description="one word that the agent sees, e.g. an app", min_length=2, max_length=40)
    advice: list[str] = Field(description="1 to 3 abstract lines for a specialist of that domain")


class UsageNote(_Reply):
    api: str = Field(description="id from <capabilities>")
    note: str = Field(description="what its definition does not say, abstractly")


class Reflection(_Reply):
    """Concrete history and abstract experience of one episode."""

    history: list[HistoryLine] = Field(description="the concrete account, 1 to 12 lines")
    operations: list[ProposedOperation] = Field(
        default_factory=list, description="in the order done, 0 to 12"
    )
    code: list[ProposedCode] = Field(
        default_factory=list, description="only what will be of use again, 0 to 3"
    )
    roles: list[ProposedRole] = Field(default_factory=list, description="0 to 2")
    usage: list[UsageNote] = Field(default_factory=list, description="0 to 5")
    cited: list[str] = Field(
        default_factory=list, description="operation ids (op00001) named in its thoughts"
    )


EXAMPLE = """\
{"steps": [4], "description": "unlock {container} with {tool}", "source": ["has(agent, {tool})"],
 "target": ["unlocked({container})"], "inputs": ["container: container", "tool: item"], "outputs": [],
 "conditions": ["near(agent, {container})"], "effects": ["unlocked({container})"], "api": "unlock",
 "bindings": {"container": "old chest", "tool": "brass key"}, "worked": true}"""


def reflection_messages(
    instruction: str,
    episode: str,
    verdict: str,
    end: str,
    vocabulary: str,
    capabilities: str,
    code_form: bool,
    wrong: Sequence[str] = (),
) -> list[Message]:
    """Ask for both artefacts in one reply. `wrong`: objections to the last reply's proposals."""
    code_rule = (
        "`code`: a python function with parameters for the values. One that calls apis must repeat the api\n"
        "calls of its rounds, with parameters for their values; one that calls none must be pure (imports only of\n"
        "math, re, datetime, json, collections, itertools, statistics, string) and comes with a test."
        if code_form
        else "`code`: a macro, the very actions of its rounds (some may be skipped), one a line, with\n"
        "{placeholders} for the values, one value each: with the bindings put in, each line must equal the "
        "action of its round."
    )
    rules = f"""\
You record what one episode of an interactive agent teaches. Write two things, apart:
`history`, the concrete account with real values; and `operations`, the reusable experience, in which
every value of this episode is replaced by a placeholder (its value goes into `bindings`).

{_STYLE}

An operation is a transition between two abstract states. A state is the one or two facts that the next
operation builds on, not all that is true. What the first observation shows may be a state too
(`found({{object}})`), though no operation led to it; [] is where nothing is known, or nothing matters.
Reuse a state in use by its id wherever it fits, and let an operation start from the state that an earlier
one ended in, so that operations connect. Leave out detours that changed nothing.
Inputs are all required. Outputs and effects are only what the observations show. An operation that asks for
something (request a payment) and one that does it (send money) are two operations.
If one did not work, say so, copy the error if the world gave one, and name the recovery only if later
rounds show it.
One operation looks like this:
{EXAMPLE}
{code_rule}
Everything empty is allowed where there is nothing to say.
{DATA}"""
    parts = [
        block("task", instruction),
        block("verdict", verdict),
        block("end", end),
        block("capabilities", capabilities),
        block("vocabulary", vocabulary),
        block("episode", episode),
    ]
    if wrong:
        parts.append(block("wrong", "\n".join(f"- {line}" for line in wrong)))
        parts.append(
            "These proposals of your last reply cannot be published. Give the whole reply again, mended."
        )
    return [system(rules), user("\n\n".join(parts))]


class Decision(_Reply):
    proposal: int = Field(description="number of the proposal")
    decision: Literal["evidence", "variant", "new"]
    target: str = Field(
        default="", description="id@version of the stored operation, for evidence and variant"
    )


class Decisions(_Reply):
    """What becomes of each proposal."""

    decisions: list[Decision] = Field(description="one for each proposal")


MERGE_RULES = f"""\
Operations proposed after an episode resemble stored ones. Decide for each proposal, by its contract and not by
likeness of words:
evidence: the same operation again (same end states, conditions, effects, inputs, output types and capability);
variant: the same effects, but other inputs, conditions or end states;
new: another operation (to request a payment is not to send money).
Name the stored operation as id@version, e.g. op00003@2 for `op00003: ... (version 2)`. {DATA}"""


def merge_messages(proposals: Sequence[tuple[int, str, Sequence[str]]]) -> list[Message]:
    """Ask what each proposal is. `proposals`: number, its card, the cards of its candidates."""
    texts = [
        f"Proposal {number}:\n{card}\nCandidates:\n" + "\n".join(candidates)
        for number, card, candidates in proposals
    ]
    return [system(MERGE_RULES), user(block("proposals", "\n\n".join(texts)))]
