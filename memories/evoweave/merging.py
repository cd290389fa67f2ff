"""What a draft is to a stored operation: evidence, a variant, or new (section 3.4).

Similarity only nominates; contracts decide. The backbone proposes, the contract check can veto [ours].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from memories.evoweave.abstraction import Draft
from memories.evoweave.contracts import (
    Failure,
    Operation,
    Parameter,
    Predicates,
    Source,
    State,
    normal_form,
)

MERGE_THRESHOLD = 0.82
"""Cosine of descriptions from which an operation is a candidate (table 5)."""
MERGE_CANDIDATES = 3
"""Candidates at most (table 5)."""
KEPT = 50
"""Lines of provenance and failures kept, the latest [ours]."""

Relation = Literal["evidence", "variant", "new"]


@dataclass(frozen=True)
class Contract:
    """What is compared: placeholders by type only, since their names are a matter of wording."""

    source: Predicates
    target: Predicates
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    conditions: Predicates
    effects: Predicates
    api: str


def contract_of_draft(draft: Draft) -> Contract:
    """The contract of a draft."""
    return Contract(
        draft.source,
        draft.target,
        _types(draft.inputs),
        _types(draft.outputs),
        normal_form(draft.conditions, {}),
        normal_form(draft.effects, {}),
        draft.api,
    )


def contract_of(operation: Operation, states: Mapping[str, State]) -> Contract:
    """The contract of a stored operation."""
    return Contract(
        states[operation.source].predicates,
        states[operation.target].predicates,
        _types(operation.inputs),
        _types(operation.outputs),
        normal_form(operation.conditions, {}),
        normal_form(operation.effects, {}),
        operation.api,
    )


def _types(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    return tuple(sorted(p.type for p in parameters))


def relation(proposed: Contract, stored: Contract) -> Relation:
    """The strongest claim that two contracts allow.

    evidence: all of it is equal. variant: effects, output types and primary api are equal, but inputs,
    conditions or end states differ. Requesting a payment and sending money differ in their effects.
    """
    if proposed == stored:
        return "evidence"
    same = (proposed.effects, proposed.outputs, proposed.api) == (stored.effects, stored.outputs, stored.api)
    return "variant" if same else "new"


def attempted(draft: Draft, operation: Operation) -> bool:
    """Whether a failed draft tried what `operation` does, so that its failure is told there: same api and
    inputs [ours]."""
    return draft.api == operation.api and _types(draft.inputs) == _types(operation.inputs)


def allowed(proposed: Relation, checked: Relation) -> Relation:
    """The weaker of what the backbone proposes and the contracts allow."""
    order: list[Relation] = ["new", "variant", "evidence"]
    return order[min(order.index(proposed), order.index(checked))]


def with_evidence(
    operation: Operation, draft: Draft, task: int, code: tuple[str, ...], roles: tuple[str, ...]
) -> Operation:
    """The next version of `operation`, one episode the richer. Its contract stays; outputs seen become observed."""
    version = operation.version + 1
    seen = sorted(p.type for p in draft.outputs if p.observed)
    return replace(
        operation,
        version=version,
        outputs=tuple(replace(p, observed=p.observed or p.type in seen) for p in operation.outputs),
        code=tuple(dict.fromkeys((*operation.code, *code))),
        roles=tuple(dict.fromkeys((*operation.roles, *roles))),
        provenance=(*operation.provenance, Source(version, task, draft.steps, draft.worked))[-KEPT:],
        failures=_told_once((*operation.failures, *failures_of(draft, task)))[-KEPT:],
    )


def _told_once(failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
    """Failures without repetitions of the same error and recovery; the latest stays."""
    latest = {(failure.error, failure.recovery): failure for failure in failures}
    return tuple(latest.values())


def failures_of(draft: Draft, task: int) -> tuple[Failure, ...]:
    """What a failed draft observed; empty for one that worked."""
    return () if draft.worked else (Failure(task, draft.error or "it did not work", draft.recovery),)


def published(
    draft: Draft,
    id: str,
    source: str,
    target: str,
    task: int,
    code: tuple[str, ...],
    roles: tuple[str, ...],
    variant_of: str = "",
) -> Operation:
    """The first version of a new operation."""
    return Operation(
        id=id,
        version=1,
        source=source,
        target=target,
        description=draft.description,
        inputs=draft.inputs,
        outputs=draft.outputs,
        conditions=draft.conditions,
        effects=draft.effects,
        api=draft.api,
        code=code,
        roles=roles,
        provenance=(Source(1, task, draft.steps, draft.worked),),
        failures=failures_of(draft, task),
        variant_of=variant_of,
    )
