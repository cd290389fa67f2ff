"""The forms of the replies that STRATA asks for. What a field is to hold stands in its description."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

SubReflector = Literal["skill", "code", "role", "workflow"]

_TAGS = (
    "exactly one app:NAME (the application, site or kind of world it takes place in, such as gmail, "
    "shopping_site, household, laboratory), then op:VERB (what is done to the target: the direction of a "
    "change or comparison matters most, as in op:find_longest), then obj:NOUN (what it is done to); lower "
    "case, one word or words_joined; 2 to 6 tags"
)
_WHEN = "the condition under which this helps, in one sentence, general enough for other objects of its kind"


class QueryTags(BaseModel):
    """Tags of a task."""

    tags: list[str] = Field(description=_TAGS)


class Routing(BaseModel):
    """Which sub-reflectors an episode is worth."""

    reason: str = Field(description="what in the episode is worth keeping, in one sentence")
    sub_reflectors: list[SubReflector] = Field(description="those to run, each once, none if nothing is new")


class AtomicChange(BaseModel):
    """One atomic node to create, or to make from those that there are."""

    action: Literal["create", "refine"] = Field(
        description="refine if a listed node says the same thing less well, or if several should be one"
    )
    targets: list[str] = Field(
        default_factory=list, description="for refine: ids of the listed nodes that the result replaces"
    )
    title: str = Field(min_length=1, description="what it is, in 3 to 8 words")
    applicability: str = Field(min_length=1, description=_WHEN)
    content: str = Field(
        min_length=1, description="the whole knowledge, executable as it stands; for refine merged"
    )
    tags: list[str] = Field(default_factory=list, description=_TAGS)


class AtomicChanges(BaseModel):
    """What a sub-reflector for atomic nodes keeps of an episode."""

    changes: list[AtomicChange] = Field(
        description="0 to 3 changes; none if the episode shows nothing reusable"
    )


class WorkflowDraft(BaseModel):
    """A generalised procedure for a whole task."""

    title: str = Field(
        min_length=1, description="the procedure's name, in 3 to 10 words, naming operation and object"
    )
    applicability: str = Field(min_length=1, description=_WHEN)
    steps: list[str] = Field(
        min_length=1,
        description="the procedure, a step an item, 2 to 12 steps, no numbers before them; exact commands, with "
        "what varies written as <placeholders>; no detours, no failed attempts",
    )
    tags: list[str] = Field(default_factory=list, description=_TAGS)
    calls: list[str] = Field(
        default_factory=list,
        description="ids of the listed skills that the procedure uses, in the order of use",
    )


class Difference(BaseModel):
    """How a new episode differs from a procedure that is kept already."""

    when: str = Field(
        min_length=1, description="the condition under which the difference matters, in a few words"
    )
    difference: str = Field(
        min_length=1, description="what was done differently then, and nothing else, in a sentence"
    )


class Pitfall(BaseModel):
    """A mistake to avoid."""

    when: str = Field(
        min_length=1, description="the situation in which the mistake lies near, in a few words"
    )
    avoid: str = Field(min_length=1, description="what not to do and how one notices, in one sentence")


class Route(BaseModel):
    """One line of a meta's routing table."""

    member: str = Field(description="id of the listed procedure")
    when: str = Field(
        min_length=1, description="the condition under which this procedure is the one to follow"
    )
    note: str = Field(default="", description="what sets it apart from the others, in a few words")


class MetaDraft(BaseModel):
    """A paradigm abstracted from a family of procedures."""

    title: str = Field(min_length=1, description="the family's name, in 2 to 8 words")
    principle: str = Field(
        min_length=1, description="what all of them have in common and why it works, in 1 to 3 sentences"
    )
    applicability: str = Field(
        min_length=1, description="the tasks that belong to the family, in one sentence"
    )
    routes: list[Route] = Field(description="one a listed procedure")


class Routes(BaseModel):
    """Lines for procedures that join a meta."""

    routes: list[Route] = Field(description="one a listed new procedure")
