"""What the agent reads: plan, cards, fragments, and what retrieval could not connect or supply."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from agents.tokens import count, head
from memories.evoweave.capabilities import Card
from memories.evoweave.contracts import PLACEHOLDER, Operation, Predicates, State
from memories.evoweave.plan import Plan
from memories.evoweave.retrieval import Retrieval

INTRODUCTION = """\
A plan for this task, and operations that earlier tasks taught. An operation is a suggestion, not a fact
about this task: check its inputs and conditions against what you observe, put real values in for the
{placeholders}, and leave out what does not fit. When you use one, name its id (op00001) in your thought."""

NOTHING_KNOWN = "A plan for this task. Earlier tasks taught no operation that fits its steps."


def facts(predicates: Predicates) -> str:
    """Predicates as they are shown, placeholders by their role."""
    return ", ".join(re.sub(r"\{(\w+):\w+\}", r"{\1}", text) for text in predicates)


def plan_text(plan: Plan, bindings: Mapping[str, str] | None = None) -> str:
    """The plan with the ids of its steps."""
    lines = [
        f"{step.id}. {step.description}" + (f" (after {', '.join(step.after)})" if step.after else "")
        for step in plan.steps
    ]
    if bindings:
        lines.append("Given here " + ", ".join(f"{{{name}}} = {value}" for name, value in bindings.items()))
    return "\n".join(lines)


def card(operation: Operation, states: Mapping[str, State], end_states: bool) -> str:
    """One operation's card: contract, provenance, version; capabilities by id, never their bodies."""
    lines = [f"{operation.id}: {operation.description} (version {operation.version})"]
    if not any(source.worked for source in operation.provenance) and operation.failures:
        lines[0] += " (it has only ever failed)"
    if end_states:
        lines.append(
            f"  from {operation.source}: {states[operation.source].text} -> "
            f"{operation.target}: {states[operation.target].text}"
        )
    contract = {
        "needs all of": ", ".join(map(str, operation.inputs)),
        "gives": ", ".join(map(str, operation.outputs)),
        "if": facts(operation.conditions),
        "effects": facts(operation.effects),
        "uses": ", ".join(part for part in (operation.api, *operation.code, *operation.roles) if part),
    }
    lines += [f"  {name}: {text}" for name, text in contract.items() if text]
    lines += [f"  failed once: {_failure(f.error, f.recovery)}" for f in operation.failures[-2:]]
    return "\n".join([*lines, f"  {_provenance(operation)}"])


def _failure(error: str, recovery: str) -> str:
    return f"{error}; mended by: {recovery}" if recovery else error


def _provenance(operation: Operation) -> str:
    worked = sorted({s.task for s in operation.provenance if s.worked})
    failed = sorted({s.task for s in operation.provenance if not s.worked})
    parts = [f"worked in task {_numbers(worked)}"] if worked else []
    parts += [f"failed in task {_numbers(failed)}"] if failed else []
    variant = f"; a variant of {operation.variant_of}" if operation.variant_of else ""
    return ("; ".join(parts) or "written by hand") + variant


def _numbers(tasks: Sequence[int]) -> str:
    shown = ", ".join(map(str, tasks[-5:]))
    return shown if len(tasks) <= 5 else f"{shown} and {len(tasks) - 5} earlier"


def details(operation: Operation, states: Mapping[str, State], end_states: bool) -> str:
    """The whole contract of an operation, as `open` shows it."""
    text = card(operation, states, end_states)
    more = [
        f"  version {s.version}: task {s.task}, {'worked' if s.worked else 'failed'}"
        for s in operation.provenance
    ]
    more += [f"  failure in task {f.task}: {_failure(f.error, f.recovery)}" for f in operation.failures]
    expected = [p.name for p in operation.outputs if not p.observed]
    if expected:
        more.append(f"  expected, never observed: {', '.join(expected)}")
    return "\n".join([text, *more])


def retrieval_text(
    found: Retrieval,
    operations: Mapping[str, Operation],
    states: Mapping[str, State],
    bindings: Mapping[str, str],
    end_states: bool,
    cards: Sequence[str] | None = None,
) -> str:
    """The text that is injected. `cards`: show these instead of the visible ones (token-matched C)."""
    shown = found.visible.cards if cards is None else cards
    parts = ["Plan:\n" + plan_text(found.plan, bindings)]
    if shown:
        parts.append("Operations:\n" + "\n".join(card(operations[id], states, end_states) for id in shown))
    parts.append(_matches(found, set(shown), bindings))
    if found.connections:
        parts.append(relations(found))
    if not shown:
        return f"{NOTHING_KNOWN}\n\n{parts[0]}"
    return "\n\n".join([INTRODUCTION, *(part for part in parts if part)])


def _matches(found: Retrieval, shown: set[str], bindings: Mapping[str, str]) -> str:
    """The operation of each step, the step in the words of this task."""
    lines = []
    for step in found.plan.steps:
        best = found.assignment.chosen.get(step.id)
        others = [id for id, _ in found.candidates.get(step.id, ()) if id != best and id in shown]
        if best in shown:
            words = PLACEHOLDER.sub(lambda m: bindings.get(m[1]) or m[0], step.description)
            lines.append(f"{best}: {step.id}, {words}" + (f" (or {', '.join(others)})" if others else ""))
    return "Matches of plan steps:\n" + "\n".join(lines) if lines else ""


def relations(found: Retrieval) -> str:
    """Fragments, unconnected dependencies, conflicts, truncations and missing conditions."""
    return "\n\n".join(part for part in (_fragments(found), _unconnected(found), _missing(found)) if part)


def _fragments(found: Retrieval) -> str:
    visible, lines = set(found.visible.cards), []
    for fragment in found.assignment.fragments:
        operations = fragment.pair.operations
        path = " => ".join(id if id in visible else f"{id} (no card)" for id in operations)
        notes = [] if fragment.consistent else ["stands apart: candidate conflict"]
        if (fragment.before, fragment.after) in found.visible.cut:
            kept = sum(id in visible for id in operations)
            notes.append(f"truncated: {kept} of {len(operations)} cards shown")
        lines.append(
            f"{fragment.before} -> {fragment.after}: {path}" + (f" ({'; '.join(notes)})" if notes else "")
        )
    if not lines:
        return ""
    return "Fragments that earlier tasks connect (a path says nothing of this task's values):\n" + "\n".join(
        lines
    )


STATUS = {
    "no_candidate": "a step has no known operation",
    "gap": "no path in earlier experience",
    "truncated": "search stopped before all was seen",
}


def _unconnected(found: Retrieval) -> str:
    lines = [
        f"{c.before} -> {c.after}: {c.status} ({STATUS[c.status]})"
        for c in found.connections
        if c.status != "connected"
    ]
    lines += [
        f"{c.before} -> {c.after}: candidate conflict: holds {', '.join(c.fixed)}, "
        f"best connection {' => '.join(c.wanted)}"
        for c in found.assignment.conflicts
    ]
    if found.visible.left_out:
        lines.append(f"truncated: {found.visible.left_out} more operation(s) have no card here")
    return "Not connected:\n" + "\n".join(lines) if lines else ""


def _missing(found: Retrieval) -> str:
    lines = []
    for gap in found.missing:
        parts = [", ".join(map(str, gap.inputs))] if gap.inputs else []
        parts += [facts(gap.conditions)] if gap.conditions else []
        lines.append(f"{gap.step} {gap.operation}: {'; '.join(parts)}")
    return "Needed, and not known to be supplied:\n" + "\n".join(lines) if lines else ""


def capability_cards(cards: Iterable[Card]) -> str:
    """Cards of a capability search."""
    return "\n".join(f"{card.id} ({card.kind}): {card.summary}" for card in cards)


def log(found: Retrieval, note: Callable[[str, str, str], None]) -> None:
    """Tell every part of a retrieval as (kind, item, detail), for the record of the episode."""
    note("plan", "", plan_text(found.plan))
    for step in found.plan.steps:
        for id, similarity in found.candidates.get(step.id, ()):
            chosen = " (chosen)" if found.assignment.chosen.get(step.id) == id else ""
            note("candidate", id, f"{step.id} {similarity:.3f}{chosen}")
    for fragment in found.assignment.fragments:
        apart = "" if fragment.consistent else " (apart)"
        path = " => ".join(fragment.pair.operations)
        note("fragment", "", f"{fragment.before} -> {fragment.after}: {path}{apart}")
    for connection in found.connections:
        if connection.status != "connected":
            note(connection.status, "", f"{connection.before} -> {connection.after}")
    for conflict in found.assignment.conflicts:
        wanted = " => ".join(conflict.wanted)
        note(
            "conflict",
            "",
            f"{conflict.before} -> {conflict.after}: holds {', '.join(conflict.fixed)}, wants {wanted}",
        )
    for before, after in found.visible.cut:
        note("truncated", "", f"{before} -> {after}: cards")
    if found.visible.left_out:
        note("truncated", "", f"{found.visible.left_out} operation(s) without a card")
    for gap in found.missing:
        needs = [*map(str, gap.inputs), *gap.conditions]
        note("missing", gap.operation, f"{gap.step}: {', '.join(needs)}")


FILLER = "The same operations again, by what they do:"


def padded(text: str, limit: int, descriptions: Sequence[str]) -> str:
    """`text` brought to `limit` tokens by repeating `descriptions`, which it holds already (appendix H).

    A comparison of C and D with the same operation text and the same visible tokens: the repetition
    adds no information.
    """
    room = limit - count(text) - 1
    if room <= 0 or not descriptions:
        return text
    repeated = "\n".join([FILLER, *descriptions])
    while count(repeated) < room:
        repeated += "\n" + "\n".join(descriptions)
    return f"{text}\n\n{head(repeated, room + 1)}"
