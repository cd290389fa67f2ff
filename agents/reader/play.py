"""The act role in text worlds: goal, memory, observation, and exploring where they say nothing.

Order of preference: answer a question of the world's parser; pursue what the task asks for; follow what
worked in an earlier task of this kind; see what has not been seen; try what has not been tried. Warnings
of the memory, and what failed here, are kept from at every point.
"""

from __future__ import annotations

import random
import re

from agents.reader.lessons import adapted, lessons_in
from agents.reader.play_goals import pursue
from agents.reader.play_menu import choose
from agents.reader.player import Choice, Player, Stuck
from agents.reader.view import View
from agents.reader.words import is_portable, words

_OPTION = re.compile(r"^(\d+):\s*(.*)$", re.MULTILINE)
_SAFE = ("look at {}", "open {}", "pick up {}", "activate {}", "look in {}", "read {}", "use {}")


def play(view: View, rng: random.Random) -> Choice:
    """The next action for what the conversation shows."""
    lessons = lessons_in(view.memory)
    if view.menu:
        return choose(view, lessons, rng)
    player = Player(view, lessons, rng)
    if "mbiguous request" in view.latest and _OPTION.search(view.latest):
        return disambiguate(view)
    if _wanders(view):
        return repeat_procedure(player) or try_something(player)
    choice = pursue(player)
    if choice and not (view.failed(choice.action, 2) or _repeats(view, choice.action)):
        return choice
    return repeat_procedure(player) or look_about(player) or try_something(player)


def disambiguate(view: View) -> Choice:
    """The number of the option that fits the task and what is carried best; the first if none does."""
    wanted = set(words(view.task))
    options = _OPTION.findall(view.latest)
    best = max(options, key=lambda option: (len(wanted & set(words(option[1]))), -int(option[0])))
    return Choice(best[0], f"I mean: {best[1].strip()}.")


def repeat_procedure(p: Player) -> Choice | None:
    """The next action, not done yet, of what worked in an earlier task of this kind."""
    for procedure in p.lessons.fitting(p.view.task)[:2]:
        for action in procedure.actions:
            action = adapted(action, procedure.goal, p.view.task)
            known = any(set(words(item.name)) <= set(words(action)) for item in p.view.here)
            if action.startswith(("look", "inventory", "go ", "open door", "check")) or action.isdigit():
                continue
            if known and p.allowed(action) and not p.view.tried(action):
                return Choice(action, "This was done in an earlier task of this kind.")
    return None


def look_about(p: Player) -> Choice | None:
    """See a place or container not seen yet."""
    try:
        return p.explore("I do not know yet how to go on.")
    except Stuck:
        return None


def try_something(p: Player) -> Choice:
    """An action not tried yet, on things in reach; never one that commits to an answer."""
    things = [item for item in p.view.here if item.name != "air"]
    templates = [t for t in _SAFE if not p.view.help or t.split(" {")[0] in p.view.help]
    fresh = [
        action
        for item in things
        for action in (template.format(item.name) for template in templates)
        if p.allowed(action)
        and not p.view.tried(action)
        and (is_portable(item.name) or "pick up" not in action)
    ]
    if fresh:
        return Choice(min(fresh, key=p.tie), "I try something that I have not tried yet.")
    doors = [f"go to {door}" for door, is_open in p.view.room.doors.items() if is_open]
    turn = len(p.view.turns)
    choice = min([*doors, "wait", "look around"], key=lambda action: p.tie(f"{action} {turn}"))
    return Choice(choice, "Nothing is left to try here.")


def _repeats(view: View, action: str) -> bool:
    """Whether an action was just sent so often that sending it again will not help (waiting may)."""
    recent = [turn.action for turn in view.turns[-4:]]
    return not action.startswith("wait") and recent.count(action) >= 3


def _wanders(view: View) -> bool:
    """Whether the last turns only went to and fro between two places."""
    recent = [turn.action for turn in view.turns[-6:] if turn.action != "look around"]
    return len(recent) > 4 and len(set(recent)) <= 2 and all(action.startswith("go ") for action in recent)
