"""Text-world commands in the one verb style of descriptions, for the offline reader's rules."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TWO_WORDS = "focus on|pick up|put down|look at|look in|look around|go to|turn on|turn off|use up"
_PHRASE = re.compile(
    rf"(?P<verb>{_TWO_WORDS}|[a-z]+)(?:\s+(?P<first>.+?))?(?:\s+(?P<link>into|in/on|in|onto|on|to|with|from)\s+(?P<second>.+))?",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"^(?:the|a|an|a\(n\)|some|your)\s+", re.IGNORECASE)
_INTO = ("put", "move", "pour", "dunk", "place")
STILL = (
    "look around",
    "look at",
    "look in",
    "look",
    "inventory",
    "task",
    "wait",
    "wait1",
    "examine",
    "read",
    "help",
)
"""Verbs that change nothing that another operation builds on."""
_STATE = {
    "go to": "at(agent, {place})",
    "pick up": "has(agent, {object})",
    "take": "has(agent, {object})",
    "put down": "not has(agent, {object})",
    "focus on": "focused(agent, {object})",
    "open": "open({object})",
    "close": "not open({object})",
    "activate": "active({object})",
    "turn on": "active({object})",
    "deactivate": "not active({object})",
    "turn off": "not active({object})",
    "move": "in({object}, {container})",
    "put": "in({object}, {container})",
    "pour": "in({object}, {container})",
    "dunk": "in({object}, {container})",
    "connect": "connected({object}, {target})",
    "disconnect": "not connected({object})",
    "use": "used({object}, {target})",
}


@dataclass(frozen=True)
class Phrase:
    """A command taken apart."""

    verb: str
    description: str
    slots: tuple[tuple[str, str, str], ...]
    """(placeholder, type, value)"""

    @property
    def state(self) -> str:
        """The predicate that the command makes true, with the placeholders it has."""
        names = {name for name, _, _ in self.slots}
        known = _STATE.get(self.verb, "")
        if known and set(re.findall(r"\{(\w+)\}", known)) <= names:
            return known
        arguments = ", ".join(f"{{{name}}}" for name, _, _ in self.slots) or "agent"
        return f"{re.sub(r'[^a-z]+', '_', self.verb)}_done({arguments})"


def phrase(command: str) -> Phrase | None:
    """`move cup to table` -> move {object} to {container}; None for what is no command in words."""
    line = " ".join(command.split()).strip(" .")
    match = _PHRASE.fullmatch(line)
    if not match or "(" in line.replace("a(n)", ""):
        return None
    verb = match["verb"].lower()
    if verb == "go" and match["link"] == "to" and not match["first"]:
        verb = "go to"
        slots = [("place", "place", match["second"])]
        return _phrase(verb, "go to {place}", slots)
    if verb == "go to":
        return _phrase(verb, "go to {place}", [("place", "place", match["first"] or "")])
    description, slots = verb, []
    if match["first"]:
        description += " {object}"
        slots.append(("object", "object", match["first"]))
    if match["second"]:
        name = "container" if verb in _INTO else "target"
        description += f" {match['link'].lower()} {{{name}}}"
        slots.append((name, "container" if name == "container" else "object", match["second"]))
    return _phrase(verb, description, slots)


def _phrase(verb: str, description: str, slots: list[tuple[str, str, str]]) -> Phrase | None:
    if len(description) < 3:  # `n` and `go` say too little for an operation
        return None
    cleaned = tuple((name, kind, _DETERMINER.sub("", value.strip())) for name, kind, value in slots)
    return Phrase(verb, description, cleaned)
