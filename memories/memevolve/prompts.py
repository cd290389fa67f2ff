"""MemEvolve's one question, after each success, and how the offline reader answers it."""

from __future__ import annotations

import random

from pydantic import BaseModel, Field

from agents.base import Message
from agents.prompts import system, user
from agents.reader.answers import Prompt, answers
from memories.base import Experience
from memories.extraction import episode_steps, in_order, keywords, sentence, worked
from memories.prompting import DATA, episode_blocks


class Encoded(BaseModel):
    """What a success leaves in the graph; any part may be empty."""

    success: str = Field(
        "", description="one or two sentences: how this task was completed; empty if unclear"
    )
    pattern: str = Field(
        "", description="one or two sentences: the general idea behind it, for other kinds of tasks too"
    )
    playbook: list[str] = Field(
        default_factory=list,
        description="the steps, in order, exact actions with {placeholders} for what varies",
    )
    checklist: list[str] = Field(
        default_factory=list, description="what to check before and after, each a short line"
    )


ENCODE = f"""\
You encode an agent's record of a task that it completed into four kinds of knowledge for later tasks: how
this one was completed, the pattern behind it, a playbook of steps, and a checklist that guards against
mistakes. Rest on what the record shows. A playbook has all its steps, without detours that changed nothing; where
actions were repeated, one line says what is repeated until when. Later tasks may find things, or the whole
map, placed differently: name places only as where something was found this time. Of the other parts leave
empty what this task's instruction already says. {DATA}"""


def encode_prompt(experience: Experience, episode_tokens: int) -> list[Message]:
    """The episode with its verdict."""
    return [system(ENCODE), user(episode_blocks(experience, episode_tokens))]


@answers(Encoded)
def encode(prompt: Prompt, rng: random.Random) -> Encoded:
    """The actions that worked are the playbook; the last of them is what to check."""
    task, done = sentence(prompt.block("task")), worked(episode_steps(prompt.block("episode")))
    if not done:
        return Encoded(success="", pattern="", playbook=[], checklist=[])
    topic = " ".join(keywords(prompt.block("task"), 4))
    return Encoded(
        success=f"A task like '{task}' was completed by {in_order(done, 4)}.",
        pattern=f"Tasks on {topic} end with {in_order(done, 1)}." if topic else "",
        playbook=[" ".join(action.split()) for action in done[-10:]],
        checklist=[f"Has {in_order(done, 1)} shown the result?"],
    )
