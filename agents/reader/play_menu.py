"""Worlds that offer their actions: choosing among them by the goal, the memory, and what is new."""

from __future__ import annotations

import random
import re

from agents.reader.lessons import Lessons, adapted
from agents.reader.player import Choice
from agents.reader.view import View
from agents.reader.words import content_words, words

_TAKES = ("take", "pick", "get")
_PUTS = ("put", "move", "place", "insert", "drop")
_TREATS = ("clean", "heat", "cool", "use", "toggle", "examine", "slice", "cook", "wash")
_IDLE = ("inventory", "look", "help", "wait", "examine")
_TREATMENT = {
    "hot": "heat",
    "warm": "heat",
    "cold": "cool",
    "chilled": "cool",
    "cool": "cool",
    "clean": "clean",
}
_LIGHT = ("light", "lamp", "desklamp")


def choose(view: View, lessons: Lessons, rng: random.Random) -> Choice:
    """The offered action that promises most; ties are broken by chance."""
    menu = list(view.menu or ())
    state = _Menu(view, lessons)
    scored = [(state.score(action), rng.random(), action) for action in menu]
    score, _, action = max(scored)
    return Choice(action, state.reason(action, score))


class _Menu:
    def __init__(self, view: View, lessons: Lessons) -> None:
        self.view = view
        self.goal = re.sub(r"^.*?\btask\b[^:]*:\s*", "", view.task, flags=re.IGNORECASE | re.DOTALL)
        self.target = content_words(self.goal)
        self.order = words(self.goal)
        self.past = [turn.action for turn in view.turns]
        self.held = self._held()
        self.treatments = {_TREATMENT.get(word, word) for word in self.order} & {"heat", "cool", "clean"}
        if set(_LIGHT) & set(self.order) or "examine" in self.order or "look" in self.order:
            self.treatments.add("use")
        self.treated = {action.split()[0] for action in self.past if action.strip()}
        self.hints: dict[str, int] = {}
        for procedure in lessons.fitting(view.task)[:2]:
            for action in procedure.actions:
                changed = adapted(action, procedure.goal, view.task)
                self.hints[changed] = self.hints.get(changed, 0) + 1
        self.lessons = lessons

    def _held(self) -> str:
        """What the last take brought and no put took away."""
        for turn in reversed(self.view.turns):
            verb, _, rest = turn.action.partition(" ")
            if turn.failed:
                continue
            if verb in _TAKES:
                return re.split(r" from ", rest)[0]
            if verb in _PUTS:
                return ""
        return ""

    def wanted(self, name: str) -> bool:
        """Whether a thing of that name is one that the goal names."""
        return bool(content_words(re.sub(r"\d+", "", name)) & self.target)

    def destination(self, name: str) -> bool:
        """Whether the goal names it after `in`, `on`, `to` or `under`."""
        kind = content_words(name)
        after = content_words(" ".join(re.split(r"\b(?:in|on|to|into|onto|under|with)\b", self.goal)[1:]))
        return bool(kind & after)

    def score(self, action: str) -> float:
        verb, _, rest = action.partition(" ")
        value = 0.0
        if self.lessons.warns_of(action):
            value -= 6
        value += 2.0 * (action in self.hints) - 1.5 * self.past.count(action)
        open_treatments = {t for t in self.treatments if t not in self.treated}
        if verb in _TAKES:
            thing = re.split(r" from ", rest)[0]
            source = rest.partition(" from ")[2]
            placed = any(p.startswith(_PUTS) and source and source in p for p in self.past)
            value += 8 if self.wanted(thing) and not self.destination(thing) and not placed else -4
        elif verb in _PUTS:
            value += 9 if self.destination(rest.partition(self.held or "\0")[2] or rest) else -5
            value -= 12 if open_treatments else 0
        elif verb in _TREATS:
            value += 10 if self._treats(verb, rest, open_treatments) else -3
        elif verb == "open":
            value += 4 - 8 * (action in self.past)
        elif verb == "close":
            value -= 3
        elif verb == "go":
            value += self._visit(rest, open_treatments)
        elif verb in _IDLE:
            value -= 4
        return value

    def _treats(self, verb: str, rest: str, missing: set[str]) -> bool:
        if verb == "use" or verb == "toggle":
            return "use" in missing and bool(self.held) and any(word in rest for word in _LIGHT)
        return verb in missing and bool(self.held) and rest.startswith(self.held)

    def _visit(self, rest: str, missing: set[str]) -> float:
        place = rest.removeprefix("to ")
        visits = sum(past.endswith(place) and past.startswith("go") for past in self.past)
        value = 2.0 - 2.0 * visits
        if self.held:
            device = {"heat": "microwave", "cool": "fridge", "clean": "sinkbasin", "use": "lamp"}
            if any(device[t] in place for t in missing) or (not missing and self.destination(place)):
                value += 6
        elif self.wanted(place) and self.destination(place):
            value -= 1
        return value + min(2, self.lessons.mentions(place)) * 0.25

    def reason(self, action: str, score: float) -> str:
        if action in self.hints:
            return "Earlier experience with a task like this speaks for it."
        if score >= 6:
            return f"It serves the goal: {self.goal.strip()[:120]}"
        return "I look for what the goal needs where I have not looked yet."
