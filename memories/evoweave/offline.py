"""The offline reader's answers to EvoWeave's prompts, drawn from the prompt's text alone.

A plan is read off the instruction's clauses; an operation is one command that worked, between what it
and the command before it brought about; a proposal is evidence if it says the same as a stored one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from agents.reader.answers import Prompt, answers
from memories.evoweave.phrases import STILL, Phrase, phrase
from memories.evoweave.prompts import (
    Decision,
    Decisions,
    GivenValue,
    HistoryLine,
    PlannedStep,
    PlanReply,
    ProposedCode,
    ProposedOperation,
    ProposedRole,
    Reflection,
)
from memories.evoweave.recall import OPERATION_ID
from memories.extraction import episode_steps, sentence, went_wrong

_CLAUSE = re.compile(r"[.;:,\n]|\b(?:then|and then|and|next|first|finally|after that)\b", re.IGNORECASE)
_VERBS_WORDS = """
    focus pick put go turn use move open close take heat cool clean pour mix connect find measure
    boil melt freeze grow examine activate determine place look read wait
"""
_VERBS = frozenset(_VERBS_WORDS.split())
_WHERE = re.compile(r"\b(?:located (?:around|in)|in) the ([a-z][a-z ]+?)(?=[.,;]|$| and\b)")
_TASK_IS = re.compile(r"^\W*(?:your task is to|task:)\s*", re.IGNORECASE)


@answers(PlanReply)
def plan(prompt: Prompt, rng: random.Random) -> PlanReply:
    """One step a clause of the instruction that starts with a verb, each after the one before."""
    task = prompt.block("task")
    found: list[Phrase] = []
    where = _WHERE.search(task)
    if where or re.search(r"\bfind\b", task):
        found.append(Phrase("go to", "go to {place}", (("place", "place", where[1] if where else ""),)))
    for clause in _CLAUSE.split(_TASK_IS.sub("", task)):
        words = _TASK_IS.sub("", clause.strip()).split()
        if words[:2] != ["take", "actions"] and words and words[0].lower() in _VERBS and len(words) <= 14:
            each = phrase(" ".join(words))
            if each and each.description not in {known.description for known in found}:
                found.append(each)
    # To find something is a goal; its operations are going there and what comes after.
    found = [each for each in found if each.verb != "find"] if len(found) > 1 else found
    steps = [
        PlannedStep(id=f"s{n}", description=each.description, after=[f"s{n - 1}"] if n > 1 else [])
        for n, each in enumerate(found[:12], 1)
    ]
    given = [
        GivenValue(name=name, type=kind, value=value)
        for name, (kind, value) in {
            name: (kind, value) for each in reversed(found) for name, kind, value in each.slots if value
        }.items()
    ]
    return PlanReply(given=given, steps=steps or [PlannedStep(id="s1", description="look around")])


@answers(Reflection)
def reflect(prompt: Prompt, rng: random.Random) -> Reflection:
    """Every command that worked, once a wording, and what was refused and then mended."""
    rounds = episode_steps(prompt.block("episode"))
    numbers = [int(n) for n in re.findall(r"^\[(\d+)\]$", prompt.block("episode"), re.MULTILINE)]
    numbered = list(zip(numbers[-len(rounds) :] if rounds else [], rounds, strict=True))
    done = [
        (n, each, seen) for n, (action, seen) in numbered if not went_wrong(seen) for each in [phrase(action)]
    ]
    useful = [(n, each) for n, each, _ in done if each and each.verb not in STILL]
    succeeded = prompt.block("verdict").startswith("success")
    macros = _macro(numbered, useful) if succeeded else []
    roles = _roles(prompt.block("task"), useful) if succeeded else []
    return Reflection(
        history=[
            HistoryLine(steps=[n], what=f"`{sentence(action)}`: {sentence(seen, 20)}")
            for n, (action, seen) in numbered[-12:]
        ]
        or [HistoryLine(steps=[], what="nothing was done")],
        operations=[
            *_operations(useful, macros, roles),
            *_failures(numbered, prompt.block("capabilities")),
            *_calls(numbered, prompt.block("capabilities")),
        ],
        code=macros,
        roles=roles,
        cited=list(dict.fromkeys(OPERATION_ID.findall(prompt.block("episode")))),
    )


def _operations(
    useful: Sequence[tuple[int, Phrase]], macros: Sequence[ProposedCode], roles: Sequence[ProposedRole]
) -> list[ProposedOperation]:
    found: dict[tuple[str, str], ProposedOperation] = {}
    before: list[str] = []
    names = dict.fromkeys(macros[0].steps, macros[0].name) if macros else {}
    for n, each in useful:
        key = (" ".join(before), each.description)
        slots = {name: kind for name, kind, _ in each.slots}
        found.pop(key, None)
        found[key] = ProposedOperation(
            steps=[n],
            description=each.description,
            source=before,
            target=[each.state],
            inputs=[f"{name}: {kind}" for name, kind in slots.items()],
            effects=[each.state],
            bindings={name: value for name, _, value in each.slots},
            worked=True,
            code=[names[n]] if n in names else [],
            role=roles[0].domain if roles else "",
        )
        # The next one starts from this state; its placeholders are typed, as another operation sees them.
        before = [re.sub(r"\{(\w+)\}", lambda m: f"{{{m[1]}:{slots[m[1]]}}}", each.state)]  # noqa: B023
    return list(found.values())[-10:]


def _failures(numbered: Sequence[tuple[int, tuple[str, str]]], capabilities: str) -> list[ProposedOperation]:
    found: dict[str, ProposedOperation] = {}
    for n, (action, seen) in numbered:
        each = phrase(action)
        known = each is not None and f"{each.verb.replace(' ', '_')}:" in capabilities
        if not each or not known or not went_wrong(seen) or each.verb in STILL or each.description in found:
            continue
        mended = next(
            (
                (m, later)
                for m, (other, reply) in numbered
                if m > n and not went_wrong(reply) and (later := phrase(other)) and later.verb == each.verb
            ),
            None,
        )
        found[each.description] = ProposedOperation(
            steps=[n],
            description=each.description,
            source=[],
            target=[],
            inputs=[f"{name}: {kind}" for name, kind, _ in each.slots],
            bindings={name: value for name, _, value in each.slots},
            worked=False,
            error=sentence(seen, 20),
            recovery=f"{mended[1].description} with another name" if mended else "",
            recovery_steps=[mended[0]] if mended else [],
        )
    return list(found.values())[:2]


def _calls(numbered: Sequence[tuple[int, tuple[str, str]]], capabilities: str) -> list[ProposedOperation]:
    """Calls of registered functions in code and page actions, described by their summaries."""
    listed = [line.partition(": ") for line in capabilities.splitlines()]
    found: dict[str, ProposedOperation] = {}
    before: list[str] = []
    for n, (action, seen) in numbered:
        called = [(action.find(f"{id}("), id, summary) for id, _, summary in listed if f"{id}(" in action]
        for _, id, summary in sorted(called):
            if id in found or went_wrong(seen) or len(summary) < 3:
                continue
            done = f"{re.sub(r'[^a-z0-9]+', '_', id.lower())}_done(agent)"
            description = sentence(summary, 12)
            found[id] = ProposedOperation(
                steps=[n],
                description=description,
                source=before,
                target=[done],
                effects=[done],
                api=id,
                worked=True,
            )
            before = [done]
    return list(found.values())[-10:]


def _macro(
    numbered: Sequence[tuple[int, tuple[str, str]]], useful: Sequence[tuple[int, Phrase]]
) -> list[ProposedCode]:
    """The last three commands that changed something, as a macro."""
    actions = {n: " ".join(action.split()) for n, (action, _) in numbered}
    last = list(useful)[-3:]
    if len(last) < 2:
        return []
    bindings: dict[str, str] = {}
    lines = []
    for n, each in last:
        line = actions[n]
        for name, _, value in sorted(each.slots, key=lambda slot: -len(slot[2])):
            known = next((key for key, bound in bindings.items() if bound == value), "")
            if value and not known:
                taken = sum(key.rstrip("0123456789") == name for key in bindings)
                known = name if not taken else f"{name}{taken + 1}"
                bindings[known] = value
            if value:
                line = line.replace(value, f"{{{known}}}", 1)
        lines.append(line)
    verbs = [re.sub(r"\W+", "_", each.verb) for _, each in last]
    return [
        ProposedCode(
            name="_then_".join(verbs),
            kind="macro",
            summary=", then ".join(each.description for _, each in last),
            body="\n".join(lines),
            bindings=bindings,
            steps=[n for n, _ in last],
        )
    ]


def _roles(task: str, useful: Sequence[tuple[int, Phrase]]) -> list[ProposedRole]:
    goal = _TASK_IS.sub("", task.strip()).split()
    verbs = list(dict.fromkeys(each.verb for _, each in useful))
    if not goal or not verbs or not re.fullmatch(r"[a-z]{2,20}", goal[0].lower()):
        return []
    return [ProposedRole(domain=goal[0].lower(), advice=[f"What served here: {', '.join(verbs[:8])}."])]


_PROPOSAL = re.compile(
    r"^Proposal (\d+):\n(.*)\n(?:.*\n)*?Candidates:\n((?:(?!Proposal ).*(?:\n|\Z))*)", re.MULTILINE
)
_CARD = re.compile(r"^(op\d+): (.*) \(version (\d+)\)", re.MULTILINE)


@answers(Decisions)
def decide(prompt: Prompt, rng: random.Random) -> Decisions:
    """Evidence for the first candidate with the same words, else new."""
    found = []
    for number, description, candidates in _PROPOSAL.findall(prompt.block("proposals")):
        same = [f"{id}@{version}" for id, text, version in _CARD.findall(candidates) if text == description]
        found.append(
            Decision(
                proposal=int(number), decision="evidence" if same else "new", target=same[0] if same else ""
            )
        )
    return Decisions(decisions=found)
