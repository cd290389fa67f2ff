"""From a proposal to a draft that may be published: nothing of the episode's values is left in it.

Section 3.4: every update abstracts; validation checks placeholders against concrete values, and
references and versions against what exists. A draft is made from plain values and refers to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.base import Step
from memories.evoweave.contracts import (
    PLACEHOLDER,
    ContractError,
    Parameter,
    Predicates,
    normal_form,
    predicates,
    word,
)
from memories.evoweave.invoked import Reading
from memories.evoweave.prompts import ProposedOperation


class Rejected(ValueError):
    """A proposal that cannot be published: says which and why, for the reflector to mend."""


@dataclass(frozen=True)
class Draft:
    """A validated proposal, not yet in the graph."""

    steps: tuple[int, ...]
    description: str
    source: Predicates
    target: Predicates
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    conditions: Predicates
    effects: Predicates
    api: str
    worked: bool
    error: str = ""
    recovery: str = ""
    code: tuple[str, ...] = ()
    """As the reply names it; ids once it is linked."""
    role: str = ""


def plain(text: str) -> str:
    """Lower case, `_` as blanks, single blanks: how values and texts are compared."""
    return " ".join(text.replace("_", " ").lower().split())


def leaked(text: str, values: Iterable[str]) -> list[str]:
    """Which of `values` stand in `text` as whole words, outside of `{placeholders}`. Sorted."""
    bare = plain(PLACEHOLDER.sub(" ", text))
    return sorted(value for value in values if _stands_in(value, bare))


def _stands_in(value: str, bare: str) -> bool:
    return value in bare and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", bare) is not None


def abstract(text: str, bindings: Mapping[str, str]) -> str:
    """`text` with every bound value replaced by its `{placeholder}`, the longest values first."""
    for name, value in sorted(bindings.items(), key=lambda item: (-len(item[1]), item[0])):
        if value.strip():
            spaced = r"[\s_]+".join(re.escape(part) for part in value.replace("_", " ").split())
            pattern = re.compile(rf"(?<![\w{{]){spaced}(?![\w}}])", re.IGNORECASE)
            # A name may hold anything (it is a reply's): as it stands, never as a template of `re`.
            text = pattern.sub(lambda _, placeholder=f"{{{name}}}": placeholder, text)  # type: ignore[misc]
    return text


def description_form(text: str) -> str:
    """One line, no full stop, the first word in lower case."""
    line = " ".join(text.split()).rstrip(". ")
    return line[:1].lower() + line[1:]


@dataclass(frozen=True)
class Ground:
    """What an episode offers to check proposals against."""

    steps: Sequence[Step]
    """The rounds as the reflector saw them, numbered from 1."""
    values: Collection[str]
    """Concrete values (plain form)."""
    reading: Reading
    state: Callable[[str], Predicates | None]
    """Predicates of a state by id, None if there is none."""
    succeeded: bool
    """The verdict: a failed episode contributes observed outputs only."""


def draft(proposal: ProposedOperation, ground: Ground) -> Draft:
    """The proposal in normal form. Raises Rejected with all that is wrong in one part of it."""
    name = f"operation {proposal.description!r}"
    wrong_steps = [n for n in proposal.steps if not 1 <= n <= len(ground.steps)]
    if wrong_steps:
        raise Rejected(f"{name}: there is no round {wrong_steps[0]}; the episode has {len(ground.steps)}")
    own = [ground.steps[n - 1] for n in proposal.steps]
    try:
        return _draft(proposal, ground, own)
    except ContractError as error:
        raise Rejected(f"{name}: {error}") from error
    except Rejected as error:
        raise Rejected(f"{name}: {error}") from error


def _draft(proposal: ProposedOperation, ground: Ground, own: Sequence[Step]) -> Draft:
    inputs, outputs = _parameters(proposal.inputs), _parameters(proposal.outputs)
    renamed = _new_names([*inputs, *outputs], ground.values)
    bindings = {renamed.get(_name(key), _name(key)): value for key, value in proposal.bindings.items()}
    values = {*ground.values, *(plain(value) for value in bindings.values())} - {"", "agent"}

    def clean(text: str) -> str:
        for old, new in renamed.items():
            text = re.sub(rf"\{{{re.escape(old)}(?=[:}}])", lambda _, name=new: f"{{{name}", text)  # type: ignore[misc]
        return abstract(text, bindings)

    inputs = [Parameter(renamed.get(p.name, p.name), p.type) for p in inputs]
    observed = "\n".join(plain(step.observation) for step in own)
    outputs = [
        Parameter(name, p.type, proposal.worked and _shown(bindings.get(name, ""), observed))
        for p in outputs
        for name in [renamed.get(p.name, p.name)]
    ]
    types = {p.name: p.type for p in [*inputs, *outputs]}
    if not ground.succeeded:
        outputs = [output for output in outputs if output.observed]
    description = description_form(clean(proposal.description))
    unknown = sorted(set(map(word, PLACEHOLDER.findall(description))) - set(types))
    if unknown:
        inputs += [Parameter(name, "item") for name in unknown]
        types |= dict.fromkeys(unknown, "item")
    source = _state(proposal.source, types, clean, ground)
    worked = proposal.worked
    target = _state(proposal.target, types, clean, ground) if worked else source
    result = Draft(
        steps=tuple(proposal.steps),
        description=description,
        source=source,
        target=target,
        inputs=tuple(sorted(inputs, key=lambda p: p.name)),
        outputs=tuple(sorted(outputs, key=lambda p: p.name)) if worked else (),
        conditions=predicates(map(clean, proposal.conditions), types),
        effects=predicates(map(clean, proposal.effects), types) if worked else (),
        api=_api(proposal.api.strip(), ground.reading, own),
        worked=worked,
        error="" if worked else _error(proposal.error, own, bindings, values),
        recovery="" if worked else _recovery(proposal, ground, clean, values),
        code=tuple(proposal.code),
        role=proposal.role.strip(),
    )
    _check_values(result, values)
    return result


def _name(text: str) -> str:
    return word(text)


def _parameters(texts: Sequence[str]) -> list[Parameter]:
    found: dict[str, Parameter] = {}
    for text in texts:
        name, _, kind = text.partition(":")
        found[word(name)] = Parameter(word(name), word(kind) if kind.strip() else "item")
    return list(found.values())


def _new_names(parameters: Sequence[Parameter], values: Collection[str]) -> dict[str, str]:
    """A placeholder named like a value of the episode is named by its type instead."""
    taken = {p.name for p in parameters}
    renamed: dict[str, str] = {}
    for p in parameters:
        if plain(p.name) in values:
            new = next(n for n in (p.type, *(f"{p.type}{k}" for k in range(2, 99))) if n not in taken)
            taken.add(new)
            renamed[p.name] = new
    return renamed


def _shown(value: str, observed: str) -> bool:
    return bool(value.strip()) and plain(value) in observed


def _state(
    texts: Sequence[str], types: Mapping[str, str], clean: Callable[[str], str], ground: Ground
) -> Predicates:
    named = [text.strip() for text in texts if text.strip()]
    if len(named) > 1 and any(re.fullmatch(r"st\d+", text) for text in named):
        raise Rejected(f"a state is either one id in use or predicates, not {', '.join(named)}")
    if len(named) == 1 and re.fullmatch(r"st\d+", named[0]):
        known = ground.state(named[0])
        if known is None:
            raise Rejected(f"there is no state {named[0]}: name one in use, or give predicates")
        return known
    return normal_form([clean(text) for text in named if text != "start"], types)


def _api(api: str, reading: Reading, own: Sequence[Step]) -> str:
    used = list(dict.fromkeys(call.name for step in own for call in reading.calls(step.action)))
    if not api:
        return used[0] if len(used) == 1 else ""
    if api not in reading.definitions:
        raise Rejected(f"there is no capability {api!r}: take an id from the list, or leave it empty")
    if api not in used:
        raise Rejected(f"its rounds do not use {api!r}; they use {', '.join(used) or 'no capability'}")
    return api


def _error(error: str, own: Sequence[Step], bindings: Mapping[str, str], values: Collection[str]) -> str:
    """The observed error without its values; empty if no observation of the rounds holds it."""
    wanted = plain(error)
    if not wanted or not any(wanted in plain(step.observation) for step in own):
        return ""
    text = abstract(" ".join(error.split()), bindings)
    return abstract(text, {f"value{n}": value for n, value in enumerate(leaked(text, values), 1)})


def _recovery(
    proposal: ProposedOperation, ground: Ground, clean: Callable[[str], str], values: Collection[str]
) -> str:
    """The recovery if later rounds are named as its evidence, else empty."""
    later = [n for n in proposal.recovery_steps if max(proposal.steps) < n <= len(ground.steps)]
    text = description_form(clean(proposal.recovery))
    return text if later and not leaked(text, values) else ""


def _check_values(result: Draft, values: Collection[str]) -> None:
    texts = {
        "its description": result.description,
        "its source state": " ".join(result.source),
        "its target state": " ".join(result.target),
        "its conditions": _typed(result.conditions),
        "its effects": _typed(result.effects),
        "its types": " ".join(p.type for p in (*result.inputs, *result.outputs)),
        "its recovery": result.recovery,
    }
    for where, text in texts.items():
        found = leaked(text, values) or _NUMBER.findall(PLACEHOLDER.sub(" ", text))
        if found:
            raise Rejected(
                f"{where} hold(s) {found[0]!r}, a value of this episode: "
                "put a {placeholder} with a wider type there"
            )


_NUMBER = re.compile(r"(?<![\w#])\d+(?![\w])")


def _typed(facts: Predicates) -> str:
    """Conditions and effects with their types outside of the braces, so that these are checked too."""
    return re.sub(r"\{(\w+):(\w+)\}", r"{\1} \2", " ".join(facts))
