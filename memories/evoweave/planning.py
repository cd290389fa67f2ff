"""From the planner's reply to a plan, and from a plan to the next one."""

from __future__ import annotations

from collections.abc import Sequence

from agents.base import Step
from agents.prompts import render_step, shown
from agents.tokens import head_and_tail
from memories.evoweave.abstraction import abstract, description_form
from memories.evoweave.contracts import ContractError, Parameter, predicate, word
from memories.evoweave.plan import Plan, PlanStep
from memories.evoweave.prompts import PlanReply

HISTORY_TOKENS = 4000
"""Of the rounds so far that a re-planning reads [ours]."""


def read_plan(reply: PlanReply) -> tuple[Plan, dict[str, str]]:
    """The plan in normal form, and the values of its placeholders.

    Descriptions are made abstract by what is given. A fact or a name that cannot be read is left out:
    it then counts as unknown, which is never satisfied.
    """
    given: dict[str, Parameter] = {}
    bindings: dict[str, str] = {}
    for value in reply.given:
        try:
            parameter = Parameter(word(value.name), word(value.type))
        except ContractError:
            continue
        given[parameter.name] = parameter
        bindings[parameter.name] = " ".join(value.value.split())
    types = {name: parameter.type for name, parameter in given.items()}
    facts = []
    for text in reply.facts:
        try:
            facts.append(predicate(abstract(text, bindings), types))
        except ContractError:
            continue
    steps = tuple(
        PlanStep(
            step.id, description_form(abstract(step.description, bindings)), tuple(dict.fromkeys(step.after))
        )
        for step in reply.steps
    )
    return Plan(steps, tuple(given.values()), tuple(sorted(set(facts)))), bindings


def changed_steps(old: Plan, new: Plan) -> str:
    """What a new plan does to the ids of the old one that it must not, or the empty text.

    An id that stays must stand for the same step, or candidates and assignments would be mixed up.
    """
    before = {step.id: step.description for step in old.steps}
    wrong = [step for step in new.steps if before.get(step.id, step.description) != step.description]
    if not wrong:
        return ""
    step = wrong[0]
    return (
        f"step {step.id} was {before[step.id]!r} and is now {step.description!r}: a new step needs a new id"
    )


def history_text(opening: str, history: Sequence[Step]) -> str:
    """What was seen and done so far, for the planner."""
    rounds = [render_step(step, number) for number, step in enumerate(shown(history), 1)]
    return head_and_tail("\n".join([opening, *rounds]), HISTORY_TOKENS)
