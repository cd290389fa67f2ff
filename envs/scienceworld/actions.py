"""What an agent can do in ScienceWorld: the public action templates, and how prompts tell of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from envs.base import Capability

TEMPLATES: Mapping[str, str] = {
    "activate OBJ": "Turn a device on (stove, sink, stopwatch, switch).",
    "close OBJ": "Close a door or a container.",
    "connect OBJ to OBJ": "Join two electrical terminals, e.g. a battery's anode to a wire's terminal 1.",
    "deactivate OBJ": "Turn a device off.",
    "disconnect OBJ": "Take an electrical connection apart.",
    "dunk OBJ in OBJ": "Dip a container into a liquid to fill it.",
    "eat OBJ": "Eat something. It is gone.",
    "flush OBJ": "Flush a toilet.",
    "focus on OBJ": "Name the object that the task asks for.",
    "go OBJ": "Walk through an open door to an adjoining place, e.g. go to hallway. `look around` then describes it.",
    "inventory": "List what you carry.",
    "look around": "Describe the place you are in.",
    "look at OBJ": "Describe one object closely.",
    "look in OBJ": "Describe what is inside a container or behind a door.",
    "mix OBJ": "Mix or react the contents of one container.",
    "move OBJ to OBJ": "Put an object into, onto or before another.",
    "open OBJ": "Open a door or a container.",
    "pick up OBJ": "Take an object into the inventory.",
    "pour OBJ in OBJ": "Pour a liquid, or what a container holds, into another: pour red paint in cup.",
    "put down OBJ": "Lay an object from the inventory down here.",
    "read OBJ": "Read a note, a book or a recipe.",
    "task": "Repeat what the task asks for.",
    "use OBJ on OBJ": "Apply a tool or an instrument: use thermometer on water.",
    "wait": "Let 10 time steps pass.",
    "wait1": "Let 1 time step pass.",
}
"""Every template of scienceworld 1.2.3 except `reset task`, which would undo a failure; what each does."""

CHECK = "check valid actions"
LISTED = 100
"""Actions that one look-up lists at most [ours]."""
_ANY_OBJECT = ("look at OBJ", "focus on OBJ", "mix OBJ", "disconnect OBJ")
_SYNONYMS = {"examine": "look at", "drop": "put down", "wait1": "wait"}
"""Words that the simulator and its gold paths also use for a template."""

HELP = f"""\
Write one command a step, in plain words, in one of these forms. OBJ stands for the name of an object in reach:
{chr(10).join(f"- {template}: {summary}" for template, summary in TEMPLATES.items())}
Name objects as the observations do. If a name fits several, say where the object is: `pick up cup in cupboard`.
You reach only what is in this place, in open containers and in your inventory. Doors and containers must be
opened first, and you can only walk to a place that adjoins this one.
If the reply is "Ambiguous request" with numbered choices, answer with the bare number, e.g. `0`: any other
command is lost.
`focus on` is how you commit to an answer or mark what the task names: use it only where the task tells you to
focus, and only on an object you are sure of. A wrong focus ends the task as failed.
The world goes on with time: things heat, cool, grow and move as you act or wait.
`{CHECK}`, sent as an action, is free, it costs no step: it lists the commands with no or one
object that are valid now, and the objects in reach. Use it when a command is not understood or a name is
not clear."""


def capabilities() -> tuple[Capability, ...]:
    """The public action templates. An id is the template without its objects, joined by underscores."""
    return tuple(
        Capability(
            id=verb(template).replace(" ", "_") if template != "wait1" else "wait1",
            summary=summary,
            definition=f"{template}\n{summary}",
        )
        for template, summary in TEMPLATES.items()
    )


def verb(action: str) -> str:
    """The action's verb as its template has it, e.g. `pick up`; empty for a bare number."""
    words = action.lower().split()
    for length in (2, 1):
        phrase = " ".join(words[:length])
        if phrase in _SYNONYMS:
            return _SYNONYMS[phrase]
        if phrase in _VERBS:
            return phrase
    return words[0] if words and not words[0].isdigit() else ""


def operations(actions: Iterable[str]) -> tuple[str, ...]:
    """The operation proxy of a gold path: its distinct action verbs, sorted (EvoWeave, appendix G)."""
    return tuple(sorted({verb(action) for action in actions} - {""}))


def is_reset(action: str) -> bool:
    """Whether the simulator might read `action` as `reset task` (it ignores case, spaces and articles)."""
    return {"reset", "task"} <= set(re.findall(r"[a-z]+", action.lower()))


def valid_actions_text(combinations: Iterable[Mapping[str, Any]]) -> str:
    """The reply to `check valid actions`, from the simulator's list of valid combinations.

    Actions that every object allows are not spelled out: the objects are listed once. Of the rest at most
    LISTED are listed, taken from each verb in turn, so that no verb is missing. The order is alphabetical.
    """
    by_verb: dict[str, set[str]] = {}
    objects: set[str] = set()
    prefixes = tuple(template.removesuffix("OBJ") for template in _ANY_OBJECT)
    for combination in combinations:
        action = str(combination["action"])
        if len(combination["obj_ids"]) > 1 or is_reset(action):
            continue
        prefix = next((prefix for prefix in prefixes if action.startswith(prefix)), None)
        if prefix is None:
            by_verb.setdefault(verb(action), set()).add(action)
        else:
            objects.add(action.removeprefix(prefix))
    queues = [sorted(found) for _, found in sorted(by_verb.items())]
    listed = [
        queue[turn]
        for turn in range(max(map(len, queues), default=0))
        for queue in queues
        if turn < len(queue)
    ]
    left_out = len(listed) - LISTED
    lines = ["Valid commands with no or one object:", *sorted(listed[:LISTED])]
    if left_out > 0:
        lines.append(f"({left_out} more of the same verbs are not listed)")
    named = sorted(objects)
    more = f"; and {len(named) - LISTED} more" if len(named) > LISTED else ""
    lines.append(f"Valid with each object in reach: {', '.join(_ANY_OBJECT)}")
    lines.append(f"Objects in reach: {'; '.join(named[:LISTED])}{more}")
    return "\n".join(lines)


_VERBS = frozenset(re.sub(r" ?\bOBJ\b.*", "", template) for template in TEMPLATES)
