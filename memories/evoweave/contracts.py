"""What an operation is: a transition between abstract states with a contract (EvoWeave, section 3.1).

An operation is e = (u, v, d, I, O, C, R, pi): source and target state, description, typed inputs and
outputs, conditions and effects, capability references, provenance with versions. All of it is
abstract: entities of a task appear as `{placeholder}`, their values stay in the episode's history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PREDICATE = re.compile(r"(not\s+)?([A-Za-z][\w \-]*?)\s*(?:\(([^()]*)\))?", re.ASCII)
_WORD = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_TYPES_WORDS = """
    object container place substance device creature person account credential text number date
    list file message item page query answer
"""
TYPES = tuple(_TYPES_WORDS.split())
"""Types offered to planner and reflector, so that both use the same words [ours]; others are allowed."""
_RENAMINGS = 720
"""Most renamings tried for a normal form [ours]: more placeholders of one type than that keep their order."""

Predicates = tuple[str, ...]
"""A sorted set of predicates. In a state their placeholders are types, `has(agent, object)`; in an
operation's conditions and effects they keep their role, `has(agent, {item:object})`."""


class ContractError(ValueError):
    """A part of a contract that cannot be read: says which text and what is wanted."""


def word(text: str) -> str:
    """A name in its normal form: lower case, words joined by `_`. Raises ContractError."""
    name = re.sub(r"[\s\-]+", "_", text.strip().strip("{}").lower())
    if not _WORD.fullmatch(name):
        raise ContractError(f"{text!r} is no name: wanted are letters, digits and _, a letter first")
    return name


@dataclass(frozen=True)
class Parameter:
    """A typed input or output."""

    name: str
    """Placeholder: the role the value plays, e.g. `recipient`."""
    type: str
    """e.g. `person`."""
    observed: bool = True
    """Outputs: an episode has shown it; False where it is only expected."""

    def __str__(self) -> str:
        return f"{{{self.name}}}: {self.type}" + ("" if self.observed else " (expected)")


@dataclass(frozen=True)
class Source:
    """One line of provenance: which episode led to which version, and how it went."""

    version: int
    task: int
    steps: tuple[int, ...]
    """Numbers of the episode's rounds, from 1."""
    worked: bool


@dataclass(frozen=True)
class Failure:
    """An error that an episode showed, and what mended it (empty if nothing did)."""

    task: int
    error: str
    recovery: str = ""


@dataclass(frozen=True)
class Operation:
    """A directed edge of the experience graph; parallel edges and self-loops are edges like others."""

    id: str
    """Stable: `op00012`."""
    version: int
    """From 1; grows with every change."""
    source: str
    """Id of the state that it starts from."""
    target: str
    description: str
    """Abstract, verb first: `find contact information of {person}`."""
    inputs: tuple[Parameter, ...] = ()
    """All of them are required (AND)."""
    outputs: tuple[Parameter, ...] = ()
    conditions: Predicates = ()
    effects: Predicates = ()
    api: str = ""
    """The primary capability, an id of the environment's public definitions."""
    code: tuple[str, ...] = ()
    """Stored functions and action macros."""
    roles: tuple[str, ...] = ()
    provenance: tuple[Source, ...] = ()
    failures: tuple[Failure, ...] = ()
    variant_of: str = ""
    superseded_by: str = ""
    """Id of the operation that replaces this one; such an operation is never retrieved."""

    @property
    def reference(self) -> str:
        """Id and version, as replies cite them."""
        return f"{self.id}@{self.version}"


@dataclass(frozen=True)
class State:
    """A node of the experience graph: what holds, in types."""

    id: str
    """Stable: `st0003`."""
    predicates: Predicates

    @property
    def text(self) -> str:
        """As it is shown."""
        return " & ".join(self.predicates) or "start"


def predicate(text: str, types: Mapping[str, str]) -> str:
    """One predicate in normal form, its placeholders still named: `has(agent, {item:object})`.

    `types` gives the type of each placeholder of the operation. Raises ContractError.
    """
    match = _PREDICATE.fullmatch(text.strip().rstrip("."))
    if not match:
        raise ContractError(
            f"{text!r} is no predicate: wanted is e.g. has(agent, {{item}}) or not open({{door}})"
        )
    negated, name, arguments = match.groups()
    normal = [_argument(part, types) for part in (arguments or "").split(",") if part.strip()]
    return ("not " if negated else "") + word(name) + (f"({', '.join(normal)})" if normal else "")


def _argument(text: str, types: Mapping[str, str]) -> str:
    bare = text.strip()
    name = word(bare.split(":")[0].strip("{} "))
    if ":" in bare:
        return f"{{{name}:{word(bare.split(':')[1])}}}"
    if name in types:
        return f"{{{name}:{types[name]}}}"
    if bare.startswith("{") and name in TYPES:
        # A state may speak of something that is no input, e.g. at(agent, {place}): its name says its type.
        return f"{{{name}:{name}}}"
    if bare.startswith("{"):
        raise ContractError(f"placeholder {bare} is neither an input nor an output of the operation")
    return name


_TYPED = re.compile(r"\{([a-z0-9_]+):([a-z0-9_]+)\}")


def predicates(texts: Iterable[str], types: Mapping[str, str]) -> Predicates:
    """The set of predicates of a condition or effect, placeholders with role and type. Raises ContractError."""
    return tuple(sorted({predicate(text, types) for text in texts if text.strip()}))


def normal_form(texts: Iterable[str], types: Mapping[str, str]) -> Predicates:
    """The set of predicates with its placeholders replaced by their types.

    The first placeholder of a type becomes `type`, a second one `type#2`; of all ways to number them
    the first in order is taken, so that names do not matter: two sets are the same state exactly
    if their normal forms are equal. Raises ContractError.
    """
    named = predicates(texts, types)
    by_type: dict[str, list[str]] = {}
    for name, kind in dict.fromkeys(found for text in named for found in _TYPED.findall(text)):
        by_type.setdefault(kind, []).append(name)
    best: Predicates | None = None
    for naming in _namings(by_type):
        renamed = tuple(sorted(_TYPED.sub(lambda found: naming[found[1], found[2]], text) for text in named))  # noqa: B023
        best = renamed if best is None else min(best, renamed, key=_plain_first)
    return best or ()


def _plain_first(texts: Predicates) -> tuple[str, ...]:
    """Sorts `object` before `object#2`, wherever they stand."""
    return tuple(text.replace("#", "~") for text in texts)


def _namings(by_type: Mapping[str, list[str]]) -> list[dict[tuple[str, str], str]]:
    namings: list[dict[tuple[str, str], str]] = [{}]
    for kind, names in by_type.items():
        orders = list(permutations(names)) if len(names) <= 6 else [tuple(names)]
        if len(namings) * len(orders) > _RENAMINGS:
            orders = orders[:1]
        namings = [
            {
                **naming,
                **{(name, kind): kind if n == 1 else f"{kind}#{n}" for n, name in enumerate(order, 1)},
            }
            for naming in namings
            for order in orders
        ]
    return namings
