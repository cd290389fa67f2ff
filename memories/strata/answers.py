"""The offline reader's rules for STRATA's prompts: extraction from what the prompt shows, nothing else."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass

from agents.reader.answers import Prompt, answers
from memories.extraction import episode_steps, refused, sentence, worked
from memories.strata.replies import (
    AtomicChange,
    AtomicChanges,
    Difference,
    MetaDraft,
    Pitfall,
    QueryTags,
    Route,
    Routes,
    Routing,
    SubReflector,
    WorkflowDraft,
)

_GOAL = re.compile(r"\b(?:task|goal|job) is to\b|^(?:please|you (?:need|have) to)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w-]*")
_NAME = re.compile(r"\b(?:on|in|from|my|using|via) ([A-Z][a-z]{2,})\b")
_CARD = re.compile(r"id: (\S+)\ntitle: ([^\n]*)\nwhen: ([^\n]*)\ntags: ([^\n]*)\n?(.*)", re.DOTALL)
_SKIPPED_WORDS = """a an n the some any this that if whether my your its two into using use chemistry"""
_LIMIT_WORDS = (
    """which who where is are was from by in on at for with and then so when has have located to around"""
)
_PASSING_WORDS = """look go open close inventory examine wait read task focus"""
_SKIPPED = frozenset(_SKIPPED_WORDS.split())
_LIMITS = frozenset(_LIMIT_WORDS.split())
_PASSING = frozenset(_PASSING_WORDS.split())
_MOST_STEPS = 12


def goal_words(task: str) -> list[str]:
    """The words of the phrase that says what to do: `boil lead` of `Your task is to boil lead. ...`."""
    found = _GOAL.search(task)
    phrase = sentence(task[found.end() :] if found else task)
    words = [word.lower().rstrip("-") for word in _WORD.findall(phrase.split(",")[0])]
    telling = [word for word in words if word not in _SKIPPED]
    return telling[1:] if telling[:1] == ["to"] else telling


def application(task: str) -> str:
    """The first name in the text that may be an application's (`... on Spotify`), else `world`."""
    named = _NAME.search(task)
    return named[1].lower() if named else "world"


def goal_tags(task: str) -> list[str]:
    """The application as `app:`, the verb as `op:`, what follows it up to the next preposition as `obj:`.

    Each part of an `of` is an object.
    """
    words = goal_words(task)
    tags = [f"app:{application(task)}", *(f"op:{verb}" for verb in words[:1])]
    parts: list[list[str]] = [[]]
    for word in words[1:]:
        if word in _LIMITS and parts[-1]:
            break
        if word == "of":
            parts.append([])
        elif word not in _LIMITS:
            parts[-1].append(word)
    return tags + [f"obj:{'_'.join(part[-2:])}" for part in parts[-3:] if part]


@dataclass(frozen=True)
class Card:
    """A node as a prompt shows it."""

    id: str
    title: str
    when: str
    tags: tuple[str, ...]
    body: str


def cards(text: str) -> list[Card]:
    """The nodes that a block shows (prompts.cards)."""
    found = []
    for part in re.split(r"\n\n(?=id: )", text):
        fields = _CARD.match(part)
        if fields:
            tags = tuple(tag for tag in fields[4].split() if ":" in tag)
            found.append(Card(fields[1], fields[2], fields[3], tags, fields[5]))
    return found


def _actions(prompt: Prompt) -> list[str]:
    """What the world took, the last steps of many, without bare looking."""
    steps = episode_steps(prompt.block("episode"))
    taken = worked(steps) or [action for action, _ in steps]
    actions = [action for action in taken if action]
    telling = [a for a in actions if a.split()[0].lower() not in ("look", "inventory")]
    return (telling or actions)[-_MOST_STEPS:]


def _goal(prompt: Prompt) -> str:
    return " ".join(goal_words(prompt.block("task"))[:10]) or "this task"


@answers(QueryTags)
def tag_task(prompt: Prompt, rng: random.Random) -> QueryTags:
    """Verb and objects of the goal."""
    return QueryTags(tags=goal_tags(prompt.block("task")))


@answers(Routing)
def route(prompt: Prompt, rng: random.Random) -> Routing:
    """Workflow always; of a success also what was used: code if an action has several lines, else a skill."""
    picked: list[SubReflector] = []
    if prompt.block("verdict").startswith("success"):
        picked.append("code" if any("\n" in action for action in _actions(prompt)) else "skill")
    return Routing(reason=f"The way through: {_goal(prompt)}.", sub_reflectors=[*picked, "workflow"])


@answers(AtomicChanges)
def keep_atomic(prompt: Prompt, rng: random.Random) -> AtomicChanges:
    """The last telling command; a kept one of that name is refined with the new example."""
    type = prompt.block("sub_reflector")
    actions = [action for action in _actions(prompt) if action.split()[0].lower() not in _PASSING]
    if not actions or type == "role":
        return AtomicChanges(changes=[])
    last = actions[-1]
    name = _WORD.findall(last)[0].lower() if _WORD.findall(last) else "command"
    title = f"Command {name}" if type == "skill" else f"Snippet for {_goal(prompt)}"
    example = f"Worked for {_goal(prompt)}: " + (f"\n{last}" if "\n" in last else f"`{last}`")
    kept = next((card for card in cards(prompt.block("kept")) if card.title == title), None)
    if kept and example in kept.body:
        return AtomicChanges(changes=[])
    return AtomicChanges(
        changes=[
            AtomicChange(
                action="refine" if kept else "create",
                targets=[kept.id] if kept else [],
                title=title,
                applicability=f"A step needs the command {name}.",
                content="\n".join([*kept.body.split("\n")[:4], example] if kept else [example]),
                tags=[f"op:{name}"],
            )
        ]
    )


@answers(WorkflowDraft)
def draft_workflow(prompt: Prompt, rng: random.Random) -> WorkflowDraft:
    """The commands that the world took, as they were."""
    actions = _actions(prompt) or ["look around"]
    verbs = {word.lower() for action in actions for word in action.split()[:1]}
    calls = [card.id for card in cards(prompt.block("skills")) if card.title.rpartition(" ")[2] in verbs]
    return WorkflowDraft(
        title=_goal(prompt),
        applicability=f"The task is to {_goal(prompt)} or the like.",
        steps=[f"`{' '.join(action.split())}`" for action in actions],
        tags=goal_tags(prompt.block("task")),
        calls=calls,
    )


@answers(Difference)
def tell_difference(prompt: Prompt, rng: random.Random) -> Difference:
    """The commands that the kept procedure does not hold."""
    kept = prompt.block("kept")
    new = [action for action in _actions(prompt) if action not in kept][-4:]
    done = ", ".join(f"`{action}`" for action in new) or "the same steps led to it"
    return Difference(when=f"the task is to {_goal(prompt)}", difference=done)


@answers(Pitfall)
def tell_pitfall(prompt: Prompt, rng: random.Random) -> Pitfall:
    """What the world refused last, else what was done last."""
    steps = episode_steps(prompt.block("episode"))
    wrong = refused(steps)
    if wrong:
        action, told = wrong[-1]
        avoid = f"do not try `{action}`: {sentence(told, 15)}"
    else:
        action = steps[-1][0] if steps else "giving up"
        avoid = f"do not end with `{action}` as it was done here"
    return Pitfall(when=f"the task is to {_goal(prompt)}", avoid=avoid)


@answers(MetaDraft)
def draft_meta(prompt: Prompt, rng: random.Random) -> MetaDraft:
    """What most procedures share: their most frequent tags and commands."""
    members = cards(prompt.block("procedures"))
    tags = Counter(tag for card in members for tag in card.tags)
    common = [tag.partition(":")[2].replace("_", " ") for tag, _ in tags.most_common(3)] or ["similar tasks"]
    verbs = Counter(verb for card in members for verb in set(re.findall(r"`(\w+)", card.body)))
    used = ", ".join(verb for verb, _ in verbs.most_common(4)) or "the same commands"
    title = f"Family: {' '.join(common)}"
    return MetaDraft(
        title=title,
        principle=f"{'; '.join(card.title for card in members[:3])}: all work by {used}.",
        applicability=f"Tasks about {', '.join(common)}.",
        routes=_routes(members),
    )


@answers(Routes)
def route_members(prompt: Prompt, rng: random.Random) -> Routes:
    """One line a new procedure, by its own condition."""
    return Routes(routes=_routes(cards(prompt.block("procedures"))))


def _routes(members: list[Card]) -> list[Route]:
    return [Route(member=card.id, when=card.when or card.title) for card in members]
