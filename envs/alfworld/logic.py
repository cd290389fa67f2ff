"""A game file's logic: what wording it speaks, its task sentence, and the same problem in the other wording.

A game is three texts: PDDL domain, TextWorld grammar, PDDL problem. Domain and grammar are the same in
every game of a release, but for the task sentence inside the grammar; the installed alfworld ships
those of the new wording. So a problem taken into the other wording stays exactly the same task.
"""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import TypedDict

from envs.alfworld.words import Wording
from envs.base import SetupError

INSTALL = "make alfworld"
_UNKNOWN = "UNKNOWN GOAL."
_SENTENCE = re.compile(r'"rhs":\s*("Your task is to: (?:[^"\\]|\\.)*")')
_PUT = re.compile(r'action PutObject \{\s*template :: "(\w+) ')

# The released grammars of the two wordings differ in these lines and in the new one's help.
_NEW_TO_OLD = (
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("move {o} to {r}", "put {o} in/on {r}"),
)


class Content(TypedDict):
    """What the engine needs of a game."""

    pddl_domain: str
    grammar: str
    pddl_problem: str


def installed() -> bool:
    """Whether the benchmark's package is there. Does not import it (that takes a second)."""
    return all(importlib.util.find_spec(name) for name in ("alfworld", "textworld", "fast_downward"))


def require_installed() -> None:
    """Raises SetupError, with the command that installs it, if the engine is not there."""
    if not installed():
        raise SetupError(f"The engine of ALFWorld is not installed. Install it with: {INSTALL}")


def wording_of(grammar: str, where: str = "the game") -> Wording:
    """The wording of a grammar, read from its command for putting an object down."""
    match = _PUT.search(grammar)
    verb = match.group(1) if match else None
    if verb == "put":
        return "old"
    if verb == "move":
        return "new"
    raise SetupError(
        f"{where} speaks neither of ALFWorld's known wordings (its verb for putting down is {verb!r}, not 'put' "
        "or 'move'). Use game files of a release up to 0.4.2: make alfworld-data"
    )


def sentence_of(grammar: str, where: str = "the game") -> str:
    """The task sentence of a grammar, without `Your task is to:`."""
    match = _SENTENCE.search(grammar)
    if match is None:
        raise SetupError(
            f"{where} has no task sentence in its grammar. Fetch the data again: make alfworld-data"
        )
    text: str = json.loads(match.group(1))
    return text.removeprefix("Your task is to: ").strip()


@cache
def shipped(wording: Wording) -> tuple[str, str]:
    """PDDL domain and grammar of the installed alfworld, in a wording; the sentence is still open."""
    spec = importlib.util.find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError(f"The engine of ALFWorld is not installed. Install it with: {INSTALL}")
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    domain = (data / "alfred.pddl").read_text(encoding="utf-8")
    grammar = (data / "alfred.twl2").read_text(encoding="utf-8")
    if wording_of(grammar, str(data)) != "new" or _UNKNOWN not in grammar:
        raise SetupError(f"{data} is not the logic of alfworld 0.4. Install that version with: {INSTALL}")
    if wording == "old":
        for new, old in _NEW_TO_OLD:
            grammar = grammar.replace(new, old)
        grammar = _without_help(grammar)
        domain = re.sub(r"\(:action help\b.*?\n\)\n", "", domain, flags=re.DOTALL)
    return domain, grammar


def _without_help(grammar: str) -> str:
    """A grammar without the command `help`, which the old wording did not have."""
    return re.sub(r"\n*action help \{.*?\n\}(?=\n|$)", "", grammar, flags=re.DOTALL)


def content(problem: str, sentence: str, wording: Wording) -> Content:
    """A game from its PDDL problem and task sentence, in a wording."""
    domain, grammar = shipped(wording)
    escaped = json.dumps(sentence)[1:-1]
    return Content(pddl_domain=domain, grammar=grammar.replace(_UNKNOWN, escaped), pddl_problem=problem)
