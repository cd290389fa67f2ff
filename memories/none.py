"""No-Memory: retrieves nothing, writes nothing. The row that every other is compared with."""

from __future__ import annotations

from collections.abc import Mapping

from envs.base import Task
from memories.base import Experience, Graph, Recall, Resources
from memories.documents import refuse_unknown


class NoMemory:
    """The empty memory."""

    def __init__(self, resources: Resources) -> None:
        pass

    def begin(self, task: Task, observation: str) -> Recall:
        """Nothing to recall."""
        return Recall()

    def write(self, experience: Experience) -> None:
        """Nothing is kept."""

    def documents(self) -> Mapping[str, str]:
        """No documents."""
        return {}

    def load(self, documents: Mapping[str, str]) -> None:
        """Accepts no documents. Raises DocumentError if there are any."""
        refuse_unknown(documents, "none")

    def counters(self) -> Mapping[str, float]:
        """No numbers."""
        return {}

    def graph(self) -> Graph | None:
        """No graph."""
        return None
