"""ExpeL: insights with importance counts, and successful trajectories as examples.

Paper: Zhao et al. 2024, "ExpeL: LLM Agents Are Experiential Learners" (AAAI). Official repository:
LeapLabTHU/ExpeL (Apache-2.0). Prompts are ours; no code is copied.

Deviations, and why:
- ExpeL gathers attempts at training tasks, repeats failed ones with reflection, and extracts insights
  once at the end. A stream visits each task once: failures are contrasted with successes on the nearest
  *similar* task (cosine at least 0.6), and insights grow as episodes come: one call for such a pair, and
  one on the last 8 successes after every 8th.
- Success is the run's one judge's verdict; an unreadable one joins no pool.
- Operations name insights by number; the public code finds them again by matching their text.
- Trajectories are found by the instruction's embedding alone (theirs can also rank by the last thought).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from agents import tokens
from agents.base import Message
from agents.prompts import render_episode
from envs.base import Task
from memories.base import Cosine, Event, Experience, Graph, Item, Recall, Resources
from memories.documents import Record, Value, read_records, refuse_unknown, write_records
from memories.expel.insights import Insight, apply
from memories.expel.prompts import Changes, contrast_prompt, successes_prompt
from memories.prompting import ask, end_text
from memories.store import STATE, Store, take_numbers, write_numbers

INSIGHTS = "insights.txt"


@dataclass(frozen=True)
class Trajectory:
    """One judged episode of the pool."""

    task: int
    instruction: str
    text: str
    end: str
    """How it ended, in words."""

    @property
    def shown(self) -> str:
        """As prompts show it."""
        return f"Task: {self.instruction}\nEnd: {self.end}\n{self.text}"


class ExpeL:
    """Recalls all insights and the most similar successful trajectories."""

    def __init__(
        self,
        resources: Resources,
        max_insights: NonNegativeInt = 20,
        operations: PositiveInt = 4,
        similar: Cosine = 0.6,
        successes: PositiveInt = 8,
        examples: NonNegativeInt = 2,
        example_tokens: PositiveInt = 800,
        trajectory_tokens: PositiveInt = 3000,
        temperature: NonNegativeFloat | None = 0.0,
    ) -> None:
        self.max_insights = max_insights
        self.operations = operations
        self.similar = similar
        self.successes = successes
        self.examples = examples
        self.example_tokens = example_tokens
        self.trajectory_tokens = trajectory_tokens
        self.temperature = temperature
        self._backbone = resources.backbone
        self._pools: dict[str, Store[Trajectory]] = {
            outcome: Store(folder, resources.embedder, lambda entry: entry.instruction, _write, _read)
            for outcome, folder in (("success", "successes"), ("failure", "failures"))
        }
        self._insights: tuple[Insight, ...] = ()
        self._made = 0
        self._numbers: Counter[str] = Counter()

    def begin(self, task: Task, observation: str) -> Recall:
        """All insights, numbered by importance, and the nearest successes as examples."""
        pool = self._pools["success"]
        hits = pool.search(task.instruction, self.examples)
        parts = []
        if self._insights:
            lines = [f"{n}. {' '.join(one.text.split())}" for n, one in enumerate(self._insights, 1)]
            parts.append("Insights from earlier tasks, the best confirmed first:\n" + "\n".join(lines))
        for number, (id, _) in enumerate(hits, 1):
            example = tokens.head_and_tail(pool[id].text, self.example_tokens)
            parts.append(
                f"## Example {number}, a task that was completed\n"
                f"Task: {pool[id].instruction}\nOutcome: success\n{example}"
            )
        return Recall(
            "\n\n".join(parts),
            [Item(f"insight-{one.id}", "insight") for one in self._insights]
            + [Item(id, "example") for id, _ in hits],
            events=[Event("retrieved", id, f"cosine {score:.3f}") for id, score in hits],
        )

    def write(self, experience: Experience) -> None:
        """Pool the episode; contrast it with the nearest of the other verdict; every 8th success, look back."""
        outcome = experience.verdict.outcome
        if outcome == "unreadable":
            self._numbers["unreadable"] += 1
            return
        episode, task = experience.episode, experience.episode.task
        text = render_episode(episode, self.trajectory_tokens)
        new = Trajectory(task.number, task.instruction, text, end_text(episode))
        own, opposite = self._pools[outcome], self._pools["failure" if outcome == "success" else "success"]
        own.add(new)
        for id, _ in opposite.search(task.instruction, 1, floor=self.similar):
            pair = {outcome: new.shown}
            pair["failure" if outcome == "success" else "success"] = opposite[id].shown
            messages = contrast_prompt(
                self._insights, pair["success"], pair["failure"], most=self.operations, full=self._full
            )
            self._revise(messages)
            self._numbers["contrasts"] += 1
        if outcome == "success" and own.made % self.successes == 0:
            shown = [entry.shown for entry in own.last(self.successes)]
            self._revise(successes_prompt(self._insights, shown, most=self.operations, full=self._full))
            self._numbers["reviews"] += 1

    @property
    def _full(self) -> bool:
        return len(self._insights) >= self.max_insights

    def _revise(self, messages: list[Message]) -> None:
        answer = ask(self._backbone, messages, role="write", schema=Changes, temperature=self.temperature)
        if answer is None:
            self._numbers["malformed"] += 1
            return
        applied = apply(self._insights, answer.wishes(), self._made, self.max_insights, self.operations)
        self._insights, self._made = applied.insights, applied.made
        self._numbers["dropped"] += applied.dropped
        for operation in applied.done:
            self._numbers[operation.kind.lower()] += 1

    def documents(self) -> Mapping[str, str]:
        """The insights, one document a trajectory, and the numbers."""
        made = {f"{pool.folder}": pool.made for pool in self._pools.values()} | {"insights": self._made}
        documents = {STATE: write_numbers({**made, **dict(sorted(self._numbers.items()))})}
        documents[INSIGHTS] = write_records(
            [{"id": one.id, "count": one.count, "text": one.text} for one in self._insights],
            remark="by importance count; one without a count left is gone",
        )
        for pool in self._pools.values():
            documents |= pool.documents()
        return documents

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError."""
        left = dict(documents)
        numbers = take_numbers(left)
        insights = _read_insights(left.pop(INSIGHTS, ""))
        for pool in self._pools.values():
            pool.load(left, numbers.pop(pool.folder, 0))
        refuse_unknown(left, "expel")
        self._insights = insights
        self._made = max([numbers.pop("insights", 0), *(one.id for one in insights)])
        self._numbers = numbers

    def counters(self) -> Mapping[str, float]:
        """insights, successes, failures; calls (contrasts, reviews), operations by kind, dropped ones, malformed."""
        names = (
            "contrasts",
            "reviews",
            "add",
            "edit",
            "agree",
            "remove",
            "dropped",
            "malformed",
            "unreadable",
        )
        pools = {pool.folder: len(pool) for pool in self._pools.values()}
        return {"insights": len(self._insights), **pools, **{name: self._numbers[name] for name in names}}

    def graph(self) -> Graph | None:
        """No graph."""
        return None


def _read_insights(text: str) -> tuple[Insight, ...]:
    insights: dict[int, Insight] = {}
    for record in read_records(INSIGHTS, text):
        one = Insight(record.whole("id"), record.filled("text"), record.whole("count"))
        if one.id in insights or not one.id:
            raise record.error(f"the id {one.id} is taken or not above 0", "id")
        if not one.count:
            raise record.error(
                "an insight without a count is gone: give it 1 or more, or take it out", "count"
            )
        insights[one.id] = one
    return tuple(sorted(insights.values(), key=lambda one: -one.count))


def _write(entry: Trajectory) -> Mapping[str, Value]:
    return {
        "task": entry.task,
        "instruction": entry.instruction,
        "end": entry.end,
        "trajectory": entry.text,
    }


def _read(record: Record) -> Trajectory:
    return Trajectory(
        record.whole("task"), record.text("instruction"), record.text("trajectory"), record.text("end")
    )
