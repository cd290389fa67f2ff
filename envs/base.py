"""The contract between a benchmark and everything that uses it.

`Task` is all that agents and memories may know of a task. What a benchmark says about a task beyond
its instruction (ids encode types and topics) is `TaskInfo`, which only the harness reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

Form = Literal["text", "code", "page"]
"""How an agent acts here: a text command, a block of python, or a browser action."""


class EnvironmentFailed(Exception):
    """The engine broke (crashed, hung, unreachable): no statement about the agent. Names the engine."""


class SetupError(Exception):
    """Something the user can mend (a missing engine, wrong data): names what, the value and the remedy."""


@dataclass(frozen=True)
class Task:
    """One item of a setting, as agents and memories see it."""

    number: int
    """Position in release order, from 1."""
    instruction: str
    """What the benchmark asks for, in its own words."""


@dataclass(frozen=True)
class TaskInfo:
    """What a benchmark says of a task beyond its instruction. Reports only: never shown to an agent."""

    id: str
    """The benchmark's own id."""
    scenario: str
    """Tasks that share it are variants of one scenario (bootstrap cluster; AppWorld's SGC)."""
    family: str
    """Template or type, for purity and regret in reports."""
    categories: tuple[str, ...] = ()
    """Keys of `Environment.categories`; memberships may overlap."""
    operations: tuple[str, ...] = ()
    """The paper's operation proxy of this task (EvoWeave, appendix G): sorted, distinct, no arguments."""


@dataclass(frozen=True)
class Observation:
    """What the world shows after an action (or at the start)."""

    text: str
    actions: tuple[str, ...] | None = None
    """The actions the engine offers now, or None if it offers no menu. Kept apart from the text so
    that memories do not store menus."""
    done: bool = False
    """The world ended the episode. It says nothing about success."""


@dataclass(frozen=True)
class Evaluation:
    """The official result of one episode: goes to the journal and to reports, nowhere else."""

    metrics: Mapping[str, float]
    """Always holds `success` (0 or 1); further keys as the setting's `Metric`s name them."""


@dataclass(frozen=True)
class Metric:
    """One column of the main table: how the per-task values of a setting become one number."""

    name: str
    """As in results/paper: tgc, sgc, success_rate, score."""
    value: str
    """Key of `Evaluation.metrics`."""
    how: Literal["mean", "percent", "percent_of_scenarios"]
    """mean of the values; 100 x mean; 100 x share of scenarios in which every task has the value 1."""
    label: str = ""
    """Heading in tables."""


@dataclass(frozen=True)
class Capability:
    """One public entry of what can be done in an environment: an API or an action template."""

    id: str
    """Stable and readable, e.g. `spotify.login` or `pour`."""
    summary: str
    """One line: what it does (the card)."""
    definition: str
    """The whole public definition (the body)."""


@runtime_checkable
class World(Protocol):
    """One opened task. Steps after the end are harmless: they repeat the last observation."""

    @property
    def observation(self) -> Observation:
        """The first observation until a step was taken, then the latest."""

    @property
    def action_help(self) -> str:
        """How to write an action here, for the agent's prompt."""

    def step(self, action: str) -> Observation:
        """Act. An action the engine does not understand is an observation, not an error.

        Raises EnvironmentFailed if the engine broke.
        """

    def look_up(self, request: str) -> str | None:
        """Answer a free look-up (such as `check valid actions`), or None if `request` is none.

        A look-up changes nothing in the world and is a round, not a step.
        """

    def evaluate(self) -> Evaluation:
        """The official evaluation, after the episode's end. It never changes a score."""

    def close(self) -> None:
        """Release the world. Idempotent."""


@runtime_checkable
class Environment(Protocol):
    """A setting of a benchmark. One world is open at a time."""

    setting: str
    """Name of the setting, as in results/paper (mini settings end in `_mini`)."""
    form: Form
    step_limit: int
    """Steps an episode may take unless the agent's configuration says otherwise."""
    restartable: bool
    """Whether an interrupted task can start again cleanly (False where sites keep changes)."""
    metrics: Sequence[Metric]
    """The headline first."""
    categories: Mapping[str, str]
    """Category key -> label, in the order of the papers' figures."""

    def tasks(self) -> Sequence[Task]:
        """All tasks in release order, numbered from 1. Raises SetupError if data or engine is missing."""

    def open(self, task: Task) -> World:
        """Start a task. Raises EnvironmentFailed if the engine cannot."""

    def info(self, task: Task) -> TaskInfo:
        """Reporting metadata of a task."""

    def capabilities(self) -> Sequence[Capability]:
        """The public action templates or API index that an agent may look up anyway."""

    def provenance(self) -> Mapping[str, str]:
        """Versions and hashes that may change results (engine, JVM, browser, data)."""

    def close(self) -> None:
        """Stop every process this environment started. Idempotent."""


@dataclass(frozen=True)
class Check:
    """One line of `python -m scripts.check`."""

    name: str
    ok: bool
    detail: str
    remedy: str = field(default="")
    """The command that mends it, if not ok."""
