"""Extraction from prompts: what the offline reader's rules of the memories are built from.

Everything here reads the text of a prompt and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_STEP = re.compile(r"^\[\d+\]$", re.MULTILINE)
_ACTION = re.compile(r"^Action: (.*?)(?=^Observation: |\Z)", re.MULTILINE | re.DOTALL)
_OBSERVATION = re.compile(r"^Observation: (.*)\Z", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(
    r"no known action|unknown action|nothing happens|not understand|can(?:no|')t\b|couldn't|unable|invalid"
    r"|\berror\b|exception|traceback|not possible|ambiguous|doesn't|is not\b|\bfailed\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_][\w'-]+")
_COMMON_WORDS = """
    a about above after again all also an and any are as at be because been before being below between both but
    by can could did do does doing down each few first for from further had has have having he her here him his how
    i if in into is it its itself just let look me more most my no nor not now of off on once only or other our out
    over own same see she should so some such task than that the their them then there these they this those through
    to too under until up use using very was we were what when where which while who why will with would you your
    action actions agent called done find need observation observations success failure thought want world
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def episode_steps(episode: str) -> list[tuple[str, str]]:
    """(action, observation) of each step of a rendered episode (agents.prompts.render_episode)."""
    steps = []
    for part in _STEP.split(episode)[1:]:
        action, observation = _ACTION.search(part), _OBSERVATION.search(part)
        if action:
            steps.append((action[1].strip(), observation[1].strip() if observation else ""))
    return steps


def went_wrong(observation: str) -> bool:
    """Whether an observation reads like a refusal or an error."""
    return bool(_ERROR.search(observation))


def worked(steps: Sequence[tuple[str, str]]) -> list[str]:
    """The actions that the world took, without those that repeat the one before."""
    actions: list[str] = []
    for action, observation in steps:
        if not went_wrong(observation) and (not actions or actions[-1] != action):
            actions.append(action)
    return actions


def refused(steps: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The distinct actions that the world refused, with what it said."""
    seen: dict[str, str] = {}
    for action, observation in steps:
        if went_wrong(observation):
            seen.setdefault(action, observation)
    return list(seen.items())


def keywords(text: str, count: int) -> list[str]:
    """The most frequent words that carry meaning, in lower case; equally frequent ones as they come."""
    words = Counter(word for word in _WORD.findall(text.lower()) if word not in _COMMON and len(word) > 2)
    return [word for word, _ in words.most_common(count)]


def sentence(text: str, words: int = 30) -> str:
    """The first sentence of a text, at most that many words, on one line."""
    first = re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0].split()
    return " ".join(first[:words])


def in_order(actions: Sequence[str], most: int = 12) -> str:
    """Actions as one readable line; of many, the last ones, which reached the goal."""
    return "; ".join(f"`{' '.join(action.split())}`" for action in actions[-most:])


def overlap(one: str, other: str) -> float:
    """Share of the meaningful words of the shorter text that the other holds too, 0 to 1."""
    first, second = set(keywords(one, 100)), set(keywords(other, 100))
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0
