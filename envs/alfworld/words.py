"""How commands are spelled: the two wordings in which ALFWorld was released, and the help built from them.

Old (data before 0.4.0): `put mug 1 in/on desk 1`, arrivals at `loc 7`. New: `move mug 1 to desk 1`,
arrivals by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from envs.base import Capability

Wording = Literal["old", "new"]
WORDINGS: tuple[Wording, ...] = ("old", "new")


@dataclass(frozen=True)
class Template:
    """One kind of command."""

    id: str
    form: str
    """The command with its arguments in angle brackets."""
    summary: str
    definition: str
    """When it works and what it changes; facts of the engine's PDDL domain."""


def _templates(wording: Wording) -> tuple[Template, ...]:
    put = (
        Template(
            "put",
            "put <object> in/on <place>",
            "put down what you carry, in or on the place you are at",
            "Write `in/on` literally. You must carry the object and stand at the place, which must be open "
            "if it can be closed, and must be of a kind that takes such objects.",
        )
        if wording == "old"
        else Template(
            "move",
            "move <object> to <place>",
            "put down what you carry, in or on the place you are at",
            "You must carry the object and stand at the place, which must be open if it can be closed, "
            "and must be of a kind that takes such objects.",
        )
    )
    return (
        Template(
            "go_to",
            "go to <place>",
            "walk to a piece of furniture or an appliance; you then see what is on it",
            "Works from anywhere. A closed place shows nothing of what is in it until you open it.",
        ),
        Template(
            "open",
            "open <place>",
            "open the closed place you are at; you then see what is in it",
            "Works on places that can be closed, such as a cabinet, drawer, fridge, microwave or safe.",
        ),
        Template(
            "close",
            "close <place>",
            "close the open place you are at",
            "Never needed for taking, putting, heating or cooling.",
        ),
        Template(
            "take",
            "take <object> from <place>",
            "pick up an object that you see at the place you are at",
            "Your hands must be empty: you carry one object at a time. The place must be open.",
        ),
        put,
        Template(
            "heat",
            "heat <object> with <microwave>",
            "heat what you carry; you must be at the microwave",
            "The object stays in your hands and the microwave may stay closed. Heating undoes cooling.",
        ),
        Template(
            "cool",
            "cool <object> with <fridge>",
            "cool what you carry; you must be at the fridge",
            "The object stays in your hands and the fridge may stay closed. Cooling undoes heating.",
        ),
        Template(
            "clean",
            "clean <object> with <sinkbasin>",
            "clean what you carry; you must be at the sinkbasin",
            "The object stays in your hands.",
        ),
        Template(
            "use",
            "use <lamp>",
            "switch on a lamp that is at the place you are at",
            "What you carry is then looked at in its light: an object is examined under a lamp by holding it "
            "where the lamp is and using the lamp.",
        ),
        Template(
            "slice",
            "slice <object> with <knife>",
            "slice an object at the place you are at; you must carry the knife",
            "Works with a knife or a butterknife.",
        ),
        Template(
            "examine",
            "examine <object or place>",
            "look closely at what you carry or at the place you are at",
            "Tells whether an object is hot, cold or clean and whether a lamp is on; changes nothing.",
        ),
        Template("look", "look", "see where you are", "Changes nothing."),
        Template("inventory", "inventory", "see what you carry", "Changes nothing."),
    )


def capabilities(wording: Wording) -> tuple[Capability, ...]:
    """The command templates of a wording, as an agent may look them up."""
    return tuple(
        Capability(t.id, f"{t.form}: {t.summary}", f"`{t.form}`: {t.summary}. {t.definition}")
        for t in _templates(wording)
    )


def action_help(wording: Wording) -> str:
    """How to write an action, in a wording; part of the agent's prompt."""
    lines = [f"- {t.form}: {t.summary}" for t in _templates(wording)]
    notes = (
        "Objects and places are named with their numbers as you saw them, such as `drawer 2`. "
        "You carry one object at a time; a task that asks for two is done one after the other, both into "
        "the same place. An object that you have not seen yet may be in or on any place, also in closed ones. "
        "To look at an object under a lamp, carry it to the lamp and use the lamp. "
        "`Nothing happens.` means that the command was not possible: misspelled, or you are not at the place, "
        "or it is closed, or your hands are full or empty. "
        "The actions listed as possible now are all that work now. "
        "The episode ends by itself when the task is done."
    )
    return "An action is one command, spelled exactly like this:\n" + "\n".join(lines) + "\n" + notes
