"""The insights' arithmetic: operations on texts with importance counts, as plain values (ExpeL, section 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["ADD", "EDIT", "AGREE", "REMOVE"]
ORDER: tuple[Kind, ...] = ("REMOVE", "AGREE", "EDIT", "ADD")
"""In which operations are applied (utils.py, update_rules)."""

FIRST_COUNT = 2
SLACK = 5
"""Past max + SLACK insights, a REMOVE takes 3 instead of 1."""


@dataclass(frozen=True)
class Insight:
    """One lesson, and how often it was confirmed."""

    id: int
    text: str
    count: int


@dataclass(frozen=True)
class Operation:
    """One wish of the backbone. `insight` is the id of an existing one, None for ADD."""

    kind: Kind
    insight: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Applied:
    """What came of a list of operations."""

    insights: tuple[Insight, ...]
    """Sorted by count, highest first; equal counts keep their order."""
    made: int
    """Insights ever made: the highest id."""
    done: tuple[Operation, ...]
    """Those that were applied."""
    dropped: int
    """Those that were not: unknown ids, nothing new, a second one for an insight, beyond the most."""


def apply(
    insights: Sequence[Insight], operations: Sequence[Operation], made: int, max_insights: int, most: int = 4
) -> Applied:
    """Apply at most `most` operations, at most one to each existing insight; drop those with no count left."""
    valid = _valid(insights, operations, most)
    step = 3 if len(insights) >= max_insights + SLACK else 1
    kept = {insight.id: insight for insight in insights}
    for kind in ORDER:
        for operation in valid:
            if operation.kind != kind:
                continue
            if operation.insight is None:
                made += 1
                kept[made] = Insight(made, operation.text, FIRST_COUNT)
                continue
            old = kept[operation.insight]
            match kind:
                case "REMOVE":
                    kept[old.id] = replace(old, count=old.count - step)
                case "AGREE":
                    kept[old.id] = replace(old, count=old.count + 1)
                case "EDIT":
                    kept[old.id] = replace(old, text=operation.text, count=old.count + 1)
    left = sorted((one for one in kept.values() if one.count > 0), key=lambda one: -one.count)
    return Applied(tuple(left), made, tuple(valid), len(operations) - len(valid))


def _valid(insights: Sequence[Insight], operations: Sequence[Operation], most: int) -> list[Operation]:
    known = {insight.id: insight.text for insight in insights}
    touched: set[int] = set()
    added: list[str] = []
    valid: list[Operation] = []
    for operation in operations:
        text = operation.text.strip()
        wished = replace(operation, text=text)
        if wished.kind == "ADD":
            if not text or _holding(text, [*known.values(), *added]) is not None:
                continue
            wished = replace(wished, insight=None)
        elif wished.insight not in known or (wished.kind == "EDIT" and not text):
            continue
        elif wished.kind == "EDIT" and (same := _holding(text, known.values())) is not None:
            wished = Operation("AGREE", list(known)[same])
        if wished.insight in touched or len(valid) == most:
            continue
        if wished.insight is None:
            added.append(text)
        else:
            touched.add(wished.insight)
        valid.append(wished)
    return valid


def _holding(text: str, others: Iterable[str]) -> int | None:
    """Place of the first of `others` that contains `text`, letters' case and spacing aside."""
    wanted = _plain(text)
    return next((n for n, other in enumerate(others) if wanted in _plain(other)), None)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
