"""Hermes' review, and how the offline reader answers it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from agents.base import Message
from agents.prompts import block, system, user
from agents.reader.answers import Prompt, answers
from memories.extraction import episode_steps, in_order, keywords, overlap, refused, sentence, worked
from memories.hermes.shelf import NAME_LIMIT, NOTES_LIMIT, Shelf, Skill
from memories.prompting import DATA


class NoteChange(BaseModel):
    """One operation on the notes."""

    operation: Literal["add", "replace", "remove"]
    note: int | None = Field(None, description="number of the note to replace or remove; null for add")
    text: str = Field("", description="the note, one or two sentences; empty for remove")


class SkillChange(BaseModel):
    """One operation on the skills."""

    operation: Literal["create", "patch", "edit", "delete"]
    name: str = Field(description="name of the skill, e.g. boil-a-liquid")
    description: str = Field("", description="create, edit: one sentence, when to use it; else empty")
    old: str = Field(
        "", description="patch: the passage to replace, exactly as it stands in the skill; else empty"
    )
    text: str = Field("", description="create, edit: the whole text; patch: the new passage; delete: empty")


class Review(BaseModel):
    """What changes after an episode; both lists are often empty."""

    view: list[str] = Field(
        default_factory=list,
        description="names of skills to be shown before you decide; the other lists are then empty",
    )
    notes: list[NoteChange] = Field(default_factory=list, description="may be empty")
    skills: list[SkillChange] = Field(default_factory=list, description="may be empty")


OPEN = (
    "Before you act, look through the skills: open every one that is even partly relevant by "
    "`skill_view(name)` and follow it."
)

REVIEW = f"""\
You keep an agent's notes and skills. Review the episode below and change them by what it teaches.
Notes are short facts that are needed all the time, whatever the task: how things behave here, what to avoid.
Keep them dense: replace a note rather than add a similar one, remove what proved wrong. Later tasks may start
elsewhere and find things, or the whole map, placed differently: a note on places says that it was seen so (you see
one episode, so count none).
Skills are named documents, one for each kind of task. The agent sees only their names and descriptions,
and opens one when it needs it. A skill's text has the sections `When to use`, `Steps` (numbered, with the
exact commands as the world accepts them, {{placeholders}} for what varies), `Pitfalls` and `How to verify`,
each under a line `## ...`. One skill serves all tasks that the same steps solve, whatever things they name. What
belongs to one procedure only, its pitfalls too, stands in its skill and not in the notes.
Prefer, in this order: patch a skill that was opened in the episode (its text is shown) and proved wrong or
incomplete; patch or edit another existing one (edit: give its whole text anew); create one, only for a kind
of task that no skill covers. Change no skill whose text you have not seen: name it in `view` first, and you
are asked again with its text. A fitting skill that the agent did not open may need a better description; a right
text that it opened and did not follow needs its decisive line at the top, not other words.
Delete a skill that does harm. Rest on what the record shows: a procedure comes from an episode that
succeeded, one is enough; a failed one teaches pitfalls; one that was cut off at the limit of steps, which every task
has, may have done nothing wrong but too much. What you infer and did not see, mark as a guess until an
episode confirms it. If the verdict is unreadable, change notes only. If there is nothing to learn, change
nothing.
{DATA}"""

SHOWN = "The skills that you asked for are shown. No further ones can be: leave `view` empty."

MEND = """\
Some of the changes could not be made; the others were. For each problem below give a change that can be
made, or leave it out. Notes and skills are shown as they are now.
"""


def review_prompt(
    record: str, shelf: Shelf, limit: int, opened: Mapping[str, int], asked: Sequence[str] = ()
) -> list[Message]:
    """The episode, the notes, the index of skills, and in full those opened and those asked for.

    `record`: memories.prompting.episode_blocks. `limit`: characters that the notes may hold. `opened`: name
    of a skill -> number of the step before which it was first opened.
    """
    return [system(REVIEW), user(record + "\n" + _shelf_blocks(shelf, limit, opened, asked))]


def mend_prompt(
    record: str,
    shelf: Shelf,
    limit: int,
    opened: Mapping[str, int],
    asked: Sequence[str],
    problems: Sequence[str],
) -> list[Message]:
    """The same with what went wrong."""
    first, second = review_prompt(record, shelf, limit, opened, asked)
    told = block("problems", "\n".join(f"- {problem}" for problem in problems))
    return [first, user(f"{second['content']}\n\n{MEND}{told}")]


def _shelf_blocks(shelf: Shelf, limit: int, opened: Mapping[str, int], asked: Sequence[str]) -> str:
    when = ", ".join(f"{name} before step {step}" for name, step in opened.items())
    shown = [
        block("notes", numbered(shelf.notes) or "(none yet)"),
        f"The notes use {shelf.size} of at most {limit} characters in all; their numbers are those shown.",
        block("skills", index(shelf.skills) or "(none yet)"),
        "The agent acted with these notes and this list of skills in view. It opened "
        + (f"{when}." if when else "no skill."),
    ]
    for kind, names in (("opened_skill", opened), ("asked_skill", asked)):
        shown += [block(kind, full(name, shelf.skills[name])) for name in names if name in shelf.skills]
    return "\n".join([*shown, SHOWN] if asked else shown)


def numbered(notes: Mapping[int, str]) -> str:
    """The notes, each with its number."""
    return "\n".join(f"{number}. {text}" for number, text in notes.items())


def index(skills: Mapping[str, Skill]) -> str:
    """The skills' names and descriptions."""
    return "\n".join(f"- {name}: {skills[name].description}" for name in sorted(skills))


def full(name: str, skill: Skill) -> str:
    """A skill as it is opened."""
    return f"# {name}\n{skill.description}\n{skill.body}"


@answers(Review)
def review(prompt: Prompt, rng: random.Random) -> Review:
    """A skill from a success unless one covers the task; a note for what the world refused."""
    task, verdict = prompt.block("task"), prompt.block("verdict")
    steps = episode_steps(prompt.block("episode"))
    if prompt.block("problems"):
        return Review(notes=[], skills=[])
    notes, skills = [], []
    known = prompt.block("notes")
    for action, observation in refused(steps)[:1]:
        text = f"`{sentence(action, 12)}` is refused: '{sentence(observation, 12)}'."
        if text not in known and len(known) + len(text) < NOTES_LIMIT - 100:
            notes.append(NoteChange(operation="add", note=None, text=text))
    covered = any(overlap(task, line) >= 0.6 for line in prompt.block("skills").splitlines())
    done = worked(steps)
    name = "-".join(word for word in keywords(task, 4) if word.isalnum())[:NAME_LIMIT].strip("-")
    if verdict.startswith("success") and done and name and not covered:
        numbered_steps = "\n".join(
            f"{n}. {' '.join(action.split())}" for n, action in enumerate(done[-12:], 1)
        )
        body = (
            f"## When to use\nA task like: {sentence(task)}\n\n## Steps\n{numbered_steps}\n\n"
            f"## Pitfalls\nNames and places differ from task to task.\n\n## How to verify\n"
            f"{in_order(done, 1)} shows the result."
        )
        description = f"For a task like: {' '.join(task.split())}"[:500]
        skills.append(SkillChange(operation="create", name=name, description=description, old="", text=body))
    return Review(notes=notes, skills=skills)
