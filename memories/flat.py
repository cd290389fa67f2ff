"""Flat-Memory: whole trajectories, found by cosine, shown as they were.

The plain baseline of both papers; EvoWeave's ablation calls it "B: whole trajectory". One entry an
episode, whatever the verdict (an unreadable one is said to be so). No backbone calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import PositiveInt

from agents.prompts import render_episode
from envs.base import Task
from memories.base import Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, refuse_unknown
from memories.store import STATE, Store, take_numbers, write_numbers


@dataclass(frozen=True)
class Trajectory:
    """One episode, as it went."""

    task: int
    instruction: str
    outcome: str
    text: str
    """The steps, within the cap."""

    @property
    def content(self) -> str:
        """What is embedded and shown."""
        return f"Task: {self.instruction}\nOutcome: {self.outcome}\n{self.text}"


class Flat:
    """Keeps every episode; recalls the `k` nearest to the instruction, no threshold."""

    def __init__(self, resources: Resources, k: PositiveInt = 3, entry_tokens: PositiveInt = 1500) -> None:
        self.k = k
        self.entry_tokens = entry_tokens
        self._store = Store("episodes", resources.embedder, lambda entry: entry.content, _write, _read)

    def begin(self, task: Task, observation: str) -> Recall:
        """The `k` trajectories whose content is nearest to the instruction."""
        hits = self._store.search(task.instruction, self.k)
        shown = [
            f"## Episode {number} from an earlier task\n{self._store[id].content}"
            for number, (id, _) in enumerate(hits, 1)
        ]
        return Recall(
            text="\n\n".join(shown),
            items=[Item(id, "trajectory") for id, _ in hits],
            events=[Event("retrieved", id, f"cosine {score:.3f}") for id, score in hits],
        )

    def write(self, experience: Experience) -> None:
        """Keep the episode."""
        episode = experience.episode
        text = render_episode(episode, self.entry_tokens)
        self._store.add(
            Trajectory(episode.task.number, episode.task.instruction, experience.verdict.outcome, text)
        )

    def documents(self) -> Mapping[str, str]:
        """One document an episode."""
        return {STATE: write_numbers({"episodes": self._store.made}), **self._store.documents()}

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        self._store.load(left, numbers["episodes"])
        refuse_unknown(left, "flat")

    def counters(self) -> Mapping[str, float]:
        """episodes: kept so far."""
        return {"episodes": len(self._store)}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


def _write(entry: Trajectory) -> Mapping[str, Value]:
    return {
        "task": entry.task,
        "instruction": entry.instruction,
        "outcome": entry.outcome,
        "trajectory": entry.text,
    }


def _read(record: Record) -> Trajectory:
    return Trajectory(
        record.whole("task"),
        record.text("instruction"),
        record.choice("outcome", ("success", "failure", "unreadable")),
        record.text("trajectory"),
    )
