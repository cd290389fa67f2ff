"""Worlds of pages: the documented minimum. Links, buttons and fields whose text fits the goal; then an answer.

The reader follows what the memory says was done on a task like this one, where the page has an element of that
name. Else it writes what the task quotes into a field that the task speaks of, sends a form that it filled in,
and clicks what shares most words with the task, each thing once on a page. Where nothing fits any more it
answers: with the text of the page that stands beside words of the task, or N/A.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from agents.reader.lessons import lessons_in
from agents.reader.player import Choice
from agents.reader.view import View
from agents.reader.words import content_words, words

CLICKS = 8
"""Actions after which the reader answers [ours]: further ones seldom helped and each costs a page."""
_ELEMENT = re.compile(
    r"^\s*\[(\w+)\] (link|button|textbox|searchbox|combobox|cell|heading) (['\"])(.{1,160}?)\3(?:, .*| value=.*)?$",
    re.M,
)
_ADDRESS = re.compile(r"^Address: (\S+)", re.M)
_LABELLED = re.compile(r"(?:StaticText|cell|paragraph) '([^':\n]{2,40}): ([^'\n]{1,80})'")
_QUOTED = re.compile(r"\"([^\"\n]{2,120})\"|“([^”\n]{2,120})”")
_ASKS = re.compile(
    r"^(?:what|which|who|when|where|how|tell|list|get|check if)\b|\banswer with\b", re.IGNORECASE
)
_NUMBER = re.compile(r"how many|how long|number of|count of|price|total|how much", re.IGNORECASE)
_NAMED = re.compile(
    r"(?:click|press|open|choose)\w* (?:on )?(?:the )?(?:link |button )?[\"'‘“`]([^\"'’”`\n]{2,80})[\"'’”`]",
    re.I,
)


@dataclass(frozen=True)
class Element:
    """Something on the page with a mark."""

    mark: str
    role: str
    name: str


def page(view: View, rng: random.Random) -> Choice:
    """The next browser action for what the conversation shows."""
    goal = content_words(view.task)
    elements = [Element(m[1], m[2], m[4]) for m in _ELEMENT.finditer(view.latest)]
    steps = _steps(view)
    if len(view.turns) < CLICKS:
        choice = (
            _as_before(view, elements, steps)
            or _fill(view, elements, steps)
            or _click(view, goal, elements, steps, rng)
        )
        if choice is not None:
            return choice
    return _answer(view, goal, elements)


def _steps(view: View) -> set[tuple[str, str]]:
    """What was done so far, as (address, name of the element or the whole action)."""
    done, shown = set(), view.opening
    for turn in view.turns:
        mark = re.match(r"\w+\('(\w+)'", turn.action)
        names = {m[1]: m[4] for m in _ELEMENT.finditer(shown)}
        done.add((_address(shown), names.get(mark[1], "") if mark else turn.action))
        shown = turn.observation or shown
    return done


def _address(text: str) -> str:
    found = _ADDRESS.search(text)
    return found[1] if found else ""


def _as_before(view: View, elements: list[Element], done: set[tuple[str, str]]) -> Choice | None:
    """Click what the memory names as having been clicked in a task like this one."""
    if not view.memory:
        return None
    here = _address(view.latest)
    for name in _NAMED.findall(view.memory):
        for element in elements:
            if element.name == name and element.role in ("link", "button") and (here, name) not in done:
                return Choice(f"click('{element.mark}')", f"In an earlier task {name} was the way.")
    return None


def _fill(view: View, elements: list[Element], done: set[tuple[str, str]]) -> Choice | None:
    """Write what the task quotes into a field; then send the form by the button after it."""
    here = _address(view.latest)
    quoted = [first or second for first, second in _QUOTED.findall(view.task)]
    fields = [e for e in elements if e.role in ("textbox", "searchbox") and (here, e.name) not in done]
    filled = [
        i for i, e in enumerate(elements) if e.role in ("textbox", "searchbox") and (here, e.name) in done
    ]
    if filled:
        after = [e for e in elements[filled[-1] :] if e.role == "button" and (here, e.name) not in done]
        if after:
            return Choice(f"click('{after[0].mark}')", "I send what I wrote.")
        return None
    for text in quoted:
        written = any(repr(text) in turn.action for turn in view.turns)
        best = max(fields, key=lambda e: len(content_words(e.name) & content_words(view.task)), default=None)
        if best is not None and not written:
            return Choice(f"fill('{best.mark}', {text!r})", "The task says what to write.")
    return None


def _click(
    view: View, goal: frozenset[str], elements: list[Element], done: set[tuple[str, str]], rng: random.Random
) -> Choice | None:
    """Click the link or button that shares most with the task, if anything does."""
    here, warned = _address(view.latest), lessons_in(view.memory)
    names = {name for _, name in done}
    scored = []
    for element in elements:
        # "To-Do" on a page may be "todo" in a task.
        own = content_words(element.name) | content_words(element.name.replace("-", ""))
        if element.role not in ("link", "button") or (here, element.name) in done or not own & goal:
            continue
        if element.name in names or warned.warns_of(element.name):
            continue
        scored.append((len(own & goal) / len(own), len(own & goal), rng.random(), element))
    if not scored:
        return None
    best = max(scored, key=lambda entry: entry[:3])[3]
    return Choice(f"click('{best.mark}')", f"The task speaks of {best.name}.")


def _answer(view: View, goal: frozenset[str], elements: list[Element]) -> Choice:
    """Say what stands beside the task's words on the page; N/A if nothing does."""
    if not _ASKS.search(view.task):
        return Choice("send_msg_to_user('done')", "I know no further step, so I say that it is done.")
    for label, value in _LABELLED.findall(view.latest):
        if content_words(label) & goal:
            return Choice(f"send_msg_to_user({value!r})", f"The page says the {label.lower()}.")
    texts = [e.name for e in elements if e.role in ("cell", "heading")]
    best, said = 0, "N/A"
    for index, text in enumerate(texts):
        share = len(content_words(text) & goal)
        beside = texts[index + 1 : index + 4] if _NUMBER.search(view.task) else [text]
        found = [t for t in beside if not set(words(t)) <= goal and (t is text or re.search(r"\d", t))]
        if share > best and found:
            best, said = share, found[0]
    return Choice(f"send_msg_to_user({said!r})", "This is the nearest that the page says.")
