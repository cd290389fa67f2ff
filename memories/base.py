"""The contract of a memory.

`begin` only reads: whatever retrieval should change (ages, counters) is noted in the Recall and
applied by `write`. So a failed episode, which writes nothing, leaves no trace, and a frozen memory
is one whose `write` is not called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from pydantic import Field

from agents.base import Backbone, Episode, Step, Tool, Verdict
from envs.base import Capability, Task

Vectors = npt.NDArray[np.float32]
Share = Annotated[float, Field(ge=0, le=1)]
"""An option: a part of a whole."""
Cosine = Annotated[float, Field(ge=-1, le=1)]
"""An option: a similarity, or a bound on one."""


class DocumentError(ValueError):
    """A document that does not parse: names the document and, where known, the line."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors; deterministic."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), float32.

        Raises EmbeddingFailed: an embedding that failed is an error, never an empty match.
        """


class EmbeddingFailed(Exception):
    """No vector could be made; says why."""


@dataclass(frozen=True)
class Resources:
    """What a run lends to its memory."""

    backbone: Backbone
    embedder: Embedder
    capabilities: Sequence[Capability] = ()
    """The environment's public action templates or API index."""
    form: str = "text"
    """The environment's form: text, code or page."""
    seed: int = 0


@dataclass(frozen=True)
class Item:
    """One stored thing that was shown to the agent."""

    id: str
    kind: str


@dataclass(frozen=True)
class Event:
    """Something a memory did during an episode, for the journal and reports."""

    kind: str
    """e.g. retrieved, opened, referenced, executed, malformed, triggered."""
    item: str = ""
    """Id of the item concerned."""
    detail: str = ""


@dataclass
class Recall:
    """What `begin` returns: a Guide for one episode. All that lives only during an episode lives here.

    A memory that acts during the episode subclasses it and overrides `before_step` or `check_action`.
    """

    text: str = ""
    items: Sequence[Item] = ()
    tools: Sequence[Tool] = ()
    events: list[Event] = field(default_factory=list)

    def before_step(self, history: Sequence[Step]) -> str | None:
        """Nothing, unless a memory overrides it."""
        return None

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        """No objection, unless a memory overrides it."""
        return None


@dataclass(frozen=True)
class Experience:
    """All that a memory's write receives. There is no field for an official score, on purpose."""

    episode: Episode
    verdict: Verdict
    recall: Recall


@dataclass(frozen=True)
class Node:
    """A node of a memory's graph, for drawing."""

    id: str
    kind: str
    label: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Edge:
    """An edge of a memory's graph, for drawing."""

    source: str
    target: str
    kind: str
    label: str = ""


@dataclass(frozen=True)
class Graph:
    nodes: Sequence[Node]
    edges: Sequence[Edge]


@runtime_checkable
class Memory(Protocol):
    """A memory over one run. Constructed as `Method(resources, **parameters of its config file)`."""

    def begin(self, task: Task, observation: str) -> Recall:
        """Retrieve for a task, from its instruction and first observation. Changes no document."""

    def write(self, experience: Experience) -> None:
        """Learn from a finished episode. If it raises, the run reloads the last committed documents."""

    def documents(self) -> Mapping[str, str]:
        """The whole state as named texts that a person can read: name (a relative path) -> text.

        Unchanged documents should come back as the same string, so that a task's changes are few.
        """

    def load(self, documents: Mapping[str, str]) -> None:
        """Replace the state by one that `documents` gave (perhaps edited by a person).

        Loading what `documents()` gave, at any point, changes nothing that follows.
        Raises DocumentError.
        """

    def counters(self) -> Mapping[str, float]:
        """Numbers for reports, cumulative over the stream; part of the state."""

    def graph(self) -> Graph | None:
        """Nodes and edges for drawing, or None."""
