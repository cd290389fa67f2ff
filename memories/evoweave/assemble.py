"""From candidates and connections to one consistent set of fragments (section 3.2; appendix B.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memories.evoweave.connect import Connection, Pair, Scored
from memories.evoweave.contracts import Operation, Parameter, State
from memories.evoweave.plan import Plan

MAX_CARDS = 18
"""Operation cards that are visible at most (table 5)."""

Dependency = tuple[str, str]


@dataclass(frozen=True)
class Fragment:
    """A piece of historical experience that joins two steps of the plan."""

    before: str
    after: str
    pair: Pair
    consistent: bool
    """False: it uses another candidate for a shared step than the rest, and stands apart."""


@dataclass(frozen=True)
class Conflict:
    """A dependency whose connections disagree with the candidates already fixed."""

    before: str
    after: str
    fixed: tuple[str, ...]
    """The candidates that the steps hold."""
    wanted: tuple[str, ...]
    """Those of the best connection."""


@dataclass(frozen=True)
class Assignment:
    """One candidate a step, the fragments between them, and what could not be reconciled."""

    chosen: Mapping[str, str]
    """Step id -> operation id."""
    fragments: tuple[Fragment, ...]
    conflicts: tuple[Conflict, ...]


def assign(
    connections: Sequence[Connection],
    candidates: Mapping[str, Sequence[Scored]],
    fixed: Mapping[str, str] | None = None,
) -> Assignment:
    """Choose in topological order the best pair of each dependency that agrees with what is fixed.

    If no pair agrees, one re-assignment of one of the two steps is tried, provided every dependency
    of it already placed has a connection for it; otherwise the best pair stands apart and the conflict
    is reported. It is not a global optimum (section 3.2). The rule of re-assignment is ours [ours].
    `fixed` holds choices of an earlier plan, which stay. A step without a connection gets its best candidate.
    """
    pinned = dict(fixed or {})
    chosen = dict(pinned)
    placed: dict[Dependency, Pair] = {}
    apart: list[Fragment] = []
    conflicts: list[Conflict] = []
    connected = {(found.before, found.after): found.pairs for found in connections if found.pairs}
    for (before, after), pairs in connected.items():
        agreeing = next((pair for pair in pairs if _agrees(pair, before, after, chosen)), None)
        if agreeing is not None:
            placed[before, after] = agreeing
            chosen[before], chosen[after] = agreeing.first, agreeing.last
            continue
        moved = _reassigned((before, after), connected, chosen, placed, pinned)
        if moved is not None:
            chosen, placed = moved
            continue
        best = pairs[0]
        apart.append(Fragment(before, after, best, consistent=False))
        held = tuple(chosen[step] for step in (before, after) if step in chosen)
        conflicts.append(Conflict(before, after, held, (best.first, best.last)))
    for step, scored in candidates.items():
        if scored:
            chosen.setdefault(step, scored[0][0])
    whole = [Fragment(before, after, pair, consistent=True) for (before, after), pair in placed.items()]
    return Assignment(chosen, (*whole, *apart), tuple(conflicts))


def _agrees(pair: Pair, before: str, after: str, chosen: Mapping[str, str]) -> bool:
    return chosen.get(before, pair.first) == pair.first and chosen.get(after, pair.last) == pair.last


def _reassigned(
    dependency: Dependency,
    connected: Mapping[Dependency, Sequence[Pair]],
    chosen: Mapping[str, str],
    placed: Mapping[Dependency, Pair],
    pinned: Mapping[str, str],
) -> tuple[dict[str, str], dict[Dependency, Pair]] | None:
    """The choice after moving one step of `dependency` to another candidate, or None if no move fits."""
    for step in dependency:
        if step not in chosen or step in pinned:
            continue
        for pair in connected[dependency]:
            trial = {**chosen, step: pair.first if step == dependency[0] else pair.last}
            if not _agrees(pair, *dependency, trial):
                continue
            again = {**placed, dependency: pair}
            for other in placed:
                if step in other:
                    fitting = next((p for p in connected[other] if _agrees(p, *other, trial)), None)
                    if fitting is None:
                        break
                    again[other] = fitting
            else:
                return {**trial, dependency[0]: pair.first, dependency[1]: pair.last}, again
    return None


@dataclass(frozen=True)
class Missing:
    """What a placed operation needs and nothing before it is known to supply; unknown is never satisfied."""

    step: str
    """Step id, or the dependency `s1->s2` of a connector."""
    operation: str
    inputs: tuple[Parameter, ...]
    conditions: tuple[str, ...]


@dataclass
class _Supply:
    values: set[tuple[str, str]] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)

    def add(self, operation: Operation, target: Sequence[str]) -> None:
        self.values |= {(output.type, output.name) for output in operation.outputs}
        self.facts |= {*operation.effects, *target}


def missing(
    plan: Plan,
    assignment: Assignment,
    operations: Mapping[str, Operation],
    states: Mapping[str, State],
) -> list[Missing]:
    """Unsupplied inputs and conditions of every placed operation, steps and connectors, in plan order.

    An input is supplied if what is given, or an output of an operation placed before it (on a step it
    depends on, or on a connector that leads to one), has its type and its placeholder role. Every
    input counts: a path that supplies one of two leaves the other missing (appendix B.3). `states`
    are the predicates of each state. Only consistent fragments supply anything.
    """
    connectors = {(f.before, f.after): f.pair.connector for f in assignment.fragments if f.consistent}
    found: list[Missing] = []
    for step in plan.steps:
        for (before, after), path in connectors.items():
            if after == step.id:
                supply = _supplied(
                    plan, {before, *plan.ancestors(before)}, assignment, connectors, operations, states
                )
                for id in path:
                    _note(found, f"{before}->{after}", operations[id], supply)
                    supply.add(operations[id], states[operations[id].target].predicates)
        if step.id in assignment.chosen:
            id = assignment.chosen[step.id]
            arriving = {pair for pair in connectors if pair[1] == step.id}
            supply = _supplied(
                plan, plan.ancestors(step.id), assignment, connectors, operations, states, arriving
            )
            _note(found, step.id, operations[id], supply)
    return found


def _supplied(
    plan: Plan,
    steps: set[str],
    assignment: Assignment,
    connectors: Mapping[Dependency, tuple[str, ...]],
    operations: Mapping[str, Operation],
    states: Mapping[str, State],
    arriving: set[Dependency] | None = None,
) -> _Supply:
    supply = _Supply({(given.type, given.name) for given in plan.given}, set(plan.facts))
    before = [assignment.chosen[step] for step in sorted(steps) if step in assignment.chosen]
    between = [
        id for pair, path in connectors.items() if pair[1] in steps or pair in (arriving or ()) for id in path
    ]
    for id in (*before, *between):
        supply.add(operations[id], states[operations[id].target].predicates)
    return supply


def _note(found: list[Missing], step: str, operation: Operation, supply: _Supply) -> None:
    inputs = tuple(need for need in operation.inputs if (need.type, need.name) not in supply.values)
    conditions = tuple(fact for fact in operation.conditions if fact not in supply.facts)
    if inputs or conditions:
        found.append(Missing(step, operation.id, inputs, conditions))


@dataclass(frozen=True)
class Visible:
    """The operations whose cards are shown, within the budget."""

    cards: tuple[str, ...]
    """Distinct operation ids, in the order of showing."""
    cut: tuple[Dependency, ...]
    """Fragments of which some card did not fit."""
    left_out: int
    """Operations that did not fit, in all."""


def within_budget(
    plan: Plan,
    assignment: Assignment,
    candidates: Mapping[str, Sequence[Scored]],
    max_cards: int = MAX_CARDS,
) -> Visible:
    """At most `max_cards` cards: fragments in plan order, then each step's choice, then the other candidates."""
    order = {step.id: n for n, step in enumerate(plan.steps)}
    fragments = sorted(
        assignment.fragments, key=lambda f: (not f.consistent, order[f.after], order[f.before])
    )
    wanted = [id for fragment in fragments for id in fragment.pair.operations]
    wanted += [assignment.chosen[step.id] for step in plan.steps if step.id in assignment.chosen]
    wanted += [id for step in plan.steps for id, _ in candidates.get(step.id, ())]
    distinct = list(dict.fromkeys(wanted))
    cards = tuple(distinct[:max_cards])
    cut = tuple((f.before, f.after) for f in fragments if not set(f.pair.operations) <= set(cards))
    return Visible(cards, cut, len(distinct) - len(cards))
