"""How prompts are put together: marked blocks, and the one rendering of an episode.

A block is `<name>` text `</name>`. Text from worlds, models and memories may hold anything, so a
closing mark inside a block's text is defused; `blocks` reads them back (the offline reader does).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agents import tokens
from agents.base import Episode, Message, Step

_BLOCK = re.compile(r"^<([a-z_]+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def system(content: str) -> Message:
    """A system message."""
    return {"role": "system", "content": content}


def user(content: str) -> Message:
    """A user message."""
    return {"role": "user", "content": content}


def assistant(content: str) -> Message:
    """An assistant message."""
    return {"role": "assistant", "content": content}


def block(name: str, text: str) -> str:
    """`text` as the block `name` ([a-z_]+). A line that would open or close a block in it is indented."""
    safe = re.sub(r"^(</?[a-z_]+>)$", r" \1", text, flags=re.MULTILINE)
    return f"<{name}>\n{safe}\n</{name}>"


def blocks(prompt: str) -> dict[str, list[str]]:
    """All blocks of a prompt by name, in order of appearance."""
    found: dict[str, list[str]] = {}
    for name, text in _BLOCK.findall(prompt):
        found.setdefault(name, []).append(text)
    return found


def render_step(step: Step, number: int) -> str:
    """One step as judges and memories read it."""
    parts = [f"[{number}]"]
    if step.thought:
        parts.append(f"Thought: {step.thought}")
    if step.action:
        parts.append(f"Action: {step.action}")
    parts.append(f"Observation: {step.observation}")
    return "\n".join(parts)


def shown(steps: Iterable[Step]) -> list[Step]:
    """The rounds of an episode that judges and memories read: what was done to the world and asked of it.

    Tools, notes and objections come from a memory: leaving them out keeps the verdict the same for all.
    """
    return [step for step in steps if step.kind in ("act", "look_up")]


def render_episode(episode: Episode, limit: int = 6000, step_limit: int = 600) -> str:
    """An episode as text within about `limit` tokens of the bundled tokenizer [ours], head and tail.

    Each step is first cut to `step_limit` tokens; then whole steps are left out of the middle, with a
    mark that says how many. Judge and memories share this one rendering.
    """
    opening = tokens.head_and_tail(episode.opening, step_limit)
    texts = [
        tokens.head_and_tail(render_step(step, n), step_limit)
        for n, step in enumerate(shown(episode.steps), 1)
    ]
    kept = _head_and_tail_of(texts, limit - tokens.count(opening))
    return "\n".join([f"[0]\nObservation: {opening}", *kept])


def _head_and_tail_of(texts: list[str], limit: int) -> list[str]:
    """The first and last of `texts` that fit `limit` tokens, alternating from both ends."""
    sizes = [tokens.count(text) for text in texts]
    if sum(sizes) <= limit:
        return texts
    first, last, left = 0, len(texts), limit
    while first < last:
        from_tail = first > len(texts) - last
        index = last - 1 if from_tail else first
        if sizes[index] > left:
            break
        left -= sizes[index]
        first, last = (first, last - 1) if from_tail else (first + 1, last)
    return [*texts[:first], f"[... {last - first} steps left out ...]", *texts[last:]]
