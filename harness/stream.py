"""The stream: one run over a setting's tasks, memory written after each (EvoWeave A.3; STRATA 3).

for task in order:
    world   = environment.open(task)
    recall  = memory.begin(task, world.observation)
    episode = act(world, recall)
    evaluation = world.evaluate()          # to the journal only
    verdict = judge.read(episode)
    memory.write(Experience(episode, verdict, recall))
    journal.commit(...)                    # one transaction
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pydantic import NonNegativeInt

from agents.base import (
    Backbone,
    BackboneFailed,
    BudgetExhausted,
    ContextOverflow,
    Episode,
    Guide,
    Refusal,
    Step,
    Verdict,
)
from agents.loop import LoopOptions, Timing, act
from agents.retry import AccessFailed
from agents.structured import clean
from envs.base import Environment, EnvironmentFailed, SetupError, Task, World
from harness import database
from harness.injection import Budgeted, injection, within
from harness.journal import FILE, Journal, changes_between, documents_at
from harness.recorder import JournalRecorder
from harness.records import Failure, TaskRecord
from memories.base import DocumentError, Experience, Memory, Recall

MEMORY_SHARE = 0.5
"""Of what a conversation may fill, the part that the memory's text in the system message may [ours]."""


class Judge(Protocol):
    """Reads an episode and nothing else."""

    def read(self, episode: Episode) -> Verdict: ...


@dataclass(frozen=True)
class StreamOptions:
    """How a run walks its tasks. Defaults are the papers' protocol."""

    limit: int | None = None
    """Only the first so many tasks of the stream. Raising it later continues the run."""
    tasks: Sequence[int] | None = None
    """Only these task numbers, in release order (a demo, a small study)."""
    memory_from: str | None = None
    """Start from the memory that another run ended with (its folder); with freeze_after=0 a frozen one."""
    freeze_after: NonNegativeInt | None = None
    """Stop writing after so many tasks: transfer from a frozen memory."""
    order: str = "release"
    """`release`, or `shuffled(SEED)` for order robustness."""
    retries: NonNegativeInt = 1
    """Further attempts at a task whose environment failed."""
    on_backbone_failure: Literal["stop", "record"] = "stop"
    """stop: a backbone that fails for good stops the run, which resumes at the same task. record: the task
    is recorded as failed and the stream goes on."""
    retry_failed: bool = False
    """Try tasks again that ended in a failure, where the protocol allows it."""


class Progress(Protocol):
    """Told what happens, for a person who watches."""

    def start(self, total: int, done: int) -> None: ...
    def task(self, position: int, task: Task) -> None: ...
    def step(self, step: Step) -> None: ...
    def committed(self, record: TaskRecord) -> None: ...
    def tell(self, text: str) -> None: ...


@dataclass
class Parts:
    """What a stream is made of."""

    environment: Environment
    agent: LoopOptions
    backbone: Backbone
    judge: Judge
    memory: Memory
    journal: Journal
    recorder: JournalRecorder
    progress: Progress
    budget_tokens: int | None = None
    clock: Callable[[], float] = field(default=time.perf_counter)


def stream(parts: Parts, options: StreamOptions) -> None:
    """Visit every task that is not yet committed, in order, each in one durable commit.

    Raises SetupError, BudgetExhausted or BackboneFailed where the run stops; what was committed stands,
    and the same command goes on from there.
    """
    tasks = ordered(parts.environment.tasks(), options)
    done = parts.journal.done()
    if options.retry_failed:
        done = _reopen_failed(parts, options, done)
    known = _restore(parts, options)
    parts.journal.set_meta("tasks_total", str(len(tasks)))
    parts.progress.start(len(tasks), sum(position <= len(tasks) for position in done))
    for position, task in enumerate(tasks, 1):
        if position in done:
            continue
        frozen = options.freeze_after is not None and position > options.freeze_after
        parts.progress.task(position, task)
        visit = _Visit(parts, options, task, position, frozen, known)
        record, changes = visit.run()
        parts.journal.commit(record, changes)
        for name, text in changes.items():
            if text is None:
                del known[name]
            else:
                known[name] = text
        parts.progress.committed(record)
        if visit.stopped_by is not None:
            raise visit.stopped_by


def _restore(parts: Parts, options: StreamOptions) -> dict[str, str]:
    """Put the memory where the record left it, or at its start. Gives its documents."""
    recorded = parts.journal.documents()
    if not recorded:
        if options.memory_from is not None:
            _start_from(parts, options.memory_from)
        recorded = dict(parts.memory.documents())
        parts.journal.start_with(recorded)
    else:
        parts.memory.load(recorded)
    return dict(parts.memory.documents())


def _start_from(parts: Parts, run: str) -> None:
    """Load the memory that another run ended with. Raises SetupError if there is none, or none that fits."""
    method, documents = exported(run)
    own = parts.journal.meta()["memory"]
    if not documents or documents == dict(parts.memory.documents()):
        raise SetupError(
            f"stream.memory_from={run!r} (memory {method}) has learned nothing. Name a run of {own} that has "
            "finished tasks, or leave stream.memory_from out to start empty."
        )
    try:
        parts.memory.load(documents)
    except DocumentError as error:
        remedy = "Mend that document." if method == own else f"Name a run of {own}: this is one of {method}."
        raise SetupError(
            f"stream.memory_from={run!r} holds a memory that cannot be loaded ({error}). {remedy}"
        ) from None


def exported(run: str) -> tuple[str, dict[str, str]]:
    """The name of another run's memory, and what it ended with. Raises SetupError if there is no such run."""
    path = Path(run)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise SetupError(f"stream.memory_from={run!r}: there is no {FILE} there. Name the folder of a run.")
    connection = database.open_existing(path, read_only=True)
    try:
        (method,) = connection.execute("SELECT value FROM meta WHERE key = 'memory'").fetchone()
        return method, documents_at(connection)
    finally:
        connection.close()


def ordered(tasks: Sequence[Task], options: StreamOptions) -> list[Task]:
    """The tasks of a stream in the order in which it visits them. Raises SetupError."""
    chosen = list(tasks)
    if options.tasks is not None:
        if not options.tasks:
            raise SetupError(
                "stream.tasks=[] names no task. Name some, e.g. [1,4,7], or leave it out for all."
            )
        if twice := sorted(number for number, count in Counter(options.tasks).items() if count > 1):
            raise SetupError(f"stream.tasks names {twice} more than once: a stream visits each task once.")
        numbers = {task.number for task in chosen}
        outside = sorted(set(options.tasks) - numbers)
        if outside:
            raise SetupError(
                f"stream.tasks names {outside}, but this setting has tasks 1 to {len(chosen)}. "
                "Name numbers in that range."
            )
        chosen = [task for task in chosen if task.number in set(options.tasks)]
    if options.order != "release":
        random.Random(shuffle_seed(options.order)).shuffle(chosen)
    if options.limit is not None:
        if not 1 <= options.limit <= len(chosen):
            raise SetupError(
                f"stream.limit={options.limit} is out of range: this stream has {len(chosen)} tasks. "
                f"Give a number from 1 to {len(chosen)}, or leave it out for all."
            )
        chosen = chosen[: options.limit]
    return chosen


def shuffle_seed(order: str) -> int:
    """The seed in `shuffled(SEED)`. Raises SetupError for any other order."""
    number = order.removeprefix("shuffled(").removesuffix(")")
    if order == f"shuffled({number})" and number.isdigit():
        return int(number)
    raise SetupError(
        f"stream.order={order!r} is unknown. Give `release` or `shuffled(SEED)`, e.g. shuffled(7)."
    )


def _reopen_failed(parts: Parts, options: StreamOptions, done: dict[int, str]) -> dict[int, str]:
    failed = [position for position, failure in done.items() if failure != "none"]
    stateless = not parts.journal.documents() and not parts.memory.documents()
    kept = dict(done)
    for position in failed:
        frozen = options.freeze_after is not None and position > options.freeze_after
        if not (frozen or stateless):
            parts.progress.tell(
                f"The task at position {position} failed and stays so: later tasks have run with a memory that "
                "did not learn from it, and the protocol visits each task once. Start a new run to try it again."
            )
            continue
        parts.journal.reopen(position)
        del kept[position]
    return kept


class _Visit:
    """One task, from opening its world to what its commit will hold."""

    def __init__(
        self,
        parts: Parts,
        options: StreamOptions,
        task: Task,
        position: int,
        frozen: bool,
        known: Mapping[str, str],
    ) -> None:
        self.parts, self.options, self.task, self.position = parts, options, task, position
        self.frozen, self.known = frozen, known
        self.info = parts.environment.info(task)
        self.stopped_by: Exception | None = None
        """What stops the run once this task is committed: its world keeps changes, so it cannot be done again."""

    def run(self) -> tuple[TaskRecord, dict[str, str | None]]:
        interrupted = self.interrupted()
        if interrupted is not None:
            return interrupted, {}
        for left in range(self.options.retries, -1, -1):
            attempt = self.parts.journal.next_attempt(self.task.number)
            record, changes = self.attempt(attempt)
            if record.failure != "environment" or left == 0:
                break
            self.parts.journal.end_attempt(record)
            self.parts.progress.tell(f"task {self.task.number}: {record.error} Trying again.")
        return record, changes

    def interrupted(self) -> TaskRecord | None:
        """A task whose world cannot start again and was open when the last process died."""
        if self.parts.environment.restartable:
            return None
        key = f"open:{self.task.number}"
        if any(found == key for found, _ in self.parts.journal.leftover_intents()):
            attempt = self.parts.journal.next_attempt(self.task.number)
            return TaskRecord(
                self.task,
                self.info,
                self.position,
                attempt,
                failure="interrupted",
                error="The run was stopped within this task, and its world keeps changes: it cannot start again.",
                counters=self.parts.memory.counters(),
            )
        self.parts.journal.intend(key, self.task.number)
        return None

    def attempt(self, attempt: int) -> tuple[TaskRecord, dict[str, str | None]]:
        parts, clock = self.parts, self.parts.clock
        parts.recorder.attempt(self.task.number, attempt)
        record = TaskRecord(self.task, self.info, self.position, attempt)
        start, timing = clock(), Timing()
        steps: list[Step] = []
        world: World | None = None
        recall: Recall | None = None
        changes: dict[str, str | None] = {}
        try:
            opened = clock()
            world = parts.environment.open(self.task)
            record.opening = clean(world.observation.text)
            timing.world += clock() - opened
            recall = self.begin(record)
            budget = parts.budget_tokens
            guide: Guide = recall if budget is None else Budgeted(recall, budget)
            record.injected = guide.text
            episode = self.act(world, guide, timing, steps)
            record.end = episode.end
            self.evaluate(record, world, timing)
            world.close()
            changes = self.learn(record, episode, recall)
        except EnvironmentFailed as error:
            record.failure, record.error = "environment", str(error)
        except (ContextOverflow, Refusal) as error:
            record.failure, record.error = failure_of(error), str(error)
        except (BackboneFailed, BudgetExhausted) as error:
            if isinstance(error, BackboneFailed) and self.stops(error):
                raise  # nothing of this task is committed; the replies that came are kept
            if isinstance(error, BudgetExhausted):
                if parts.environment.restartable:
                    raise
                self.stopped_by = error
            record.failure, record.error = failure_of(error), str(error)
        finally:
            if world is not None:
                world.close()
        record.steps = tuple(steps)
        if recall is not None:
            self.measure(record, recall)
        record.counters = parts.memory.counters()
        record.seconds = clock() - start
        record.seconds_world = timing.world
        record.seconds_backbone = parts.recorder.tally.seconds
        return record, changes

    def begin(self, record: TaskRecord) -> Recall:
        began, calls = self.parts.clock(), self.parts.recorder.tally.seconds
        recall = self.parts.memory.begin(self.task, record.opening)
        # The system message is never cut later on: it must leave room for the episode.
        room = int(self.parts.agent.context_tokens * self.parts.agent.context_share * MEMORY_SHARE)
        whole, recall.text = recall.text, within(recall.text, room)
        if recall.text != whole:
            self.parts.progress.tell(
                f"task {self.task.number}: the memory's text is cut to {room} tokens, half of what "
                "agent.context_tokens leaves for a conversation"
            )
        record.seconds_memory += self.parts.clock() - began - (self.parts.recorder.tally.seconds - calls)
        return recall

    def act(self, world: World, guide: Guide, timing: Timing, steps: list[Step]) -> Episode:
        def on_step(step: Step) -> None:
            steps.append(step)
            self.parts.progress.step(step)

        environment = self.parts.environment
        own: int = getattr(world, "step_limit", environment.step_limit)  # a world may have one of its own
        return act(
            world,
            self.task,
            guide,
            self.parts.backbone,
            self.parts.agent,
            environment.form,
            own,
            on_step,
            timing,
            self.parts.clock,
        )

    def evaluate(self, record: TaskRecord, world: World, timing: Timing) -> None:
        """The official evaluation: to the record only. Tried twice; the episode is kept either way."""
        began = self.parts.clock()
        for left in (1, 0):
            try:
                record.metrics, record.evaluation = dict(world.evaluate().metrics), "done"
                break
            except Exception as error:  # an evaluator may fail in any way; the episode must not be lost
                record.evaluation = "failed"
                if not left:
                    record.error = f"The evaluation failed twice: {type(error).__name__}: {error}"
                    self.parts.progress.tell(f"task {self.task.number}: {record.error}")
        timing.world += self.parts.clock() - began

    def stops(self, error: Exception) -> bool:
        """Whether an exception of the backbone stops the run."""
        recorded = self.options.on_backbone_failure == "record"
        return isinstance(error, (BudgetExhausted, AccessFailed)) or not recorded

    def learn(self, record: TaskRecord, episode: Episode, recall: Recall) -> dict[str, str | None]:
        """Judge and write. The episode has been evaluated by now: no backbone that fails takes that away."""
        try:
            record.verdict = self.judge(episode)
            if self.frozen:
                return {}
            return self.write(record, Experience(episode, record.verdict, recall))
        except (BackboneFailed, BudgetExhausted) as error:
            if self.stops(error):
                if self.parts.environment.restartable:
                    raise  # going on, the same replies lead to the same episode, and from there
                self.stopped_by = error
            record.verdict = record.verdict or Verdict("unreadable", f"{failure_of(error)}: {error}")
            record.write_error = f"{type(error).__name__}: {error}"
            self.parts.progress.tell(
                f"task {self.task.number}: the memory learned nothing from it ({record.write_error})"
            )
            return {}

    def judge(self, episode: Episode) -> Verdict:
        try:
            return self.parts.judge.read(episode)
        except (ContextOverflow, Refusal) as error:
            return Verdict("unreadable", f"{failure_of(error)}: {error}")

    def write(self, record: TaskRecord, experience: Experience) -> dict[str, str | None]:
        """The memory learns; if it raises, it is put back to its last committed documents."""
        memory, began, calls = self.parts.memory, self.parts.clock(), self.parts.recorder.tally.seconds
        try:
            memory.write(experience)
            changes = changes_between(self.known, memory.documents())
            record.written = True
        except (BudgetExhausted, SetupError):
            raise
        except Exception as error:
            memory.load(self.known)
            if isinstance(error, BackboneFailed) and not isinstance(error, (ContextOverflow, Refusal)):
                raise
            record.write_error = f"{type(error).__name__}: {error}"
            self.parts.progress.tell(
                f"task {self.task.number}: the memory's write failed ({record.write_error}); the memory stays as "
                "it was before this task."
            )
            changes = {}
        record.seconds_memory += self.parts.clock() - began - (self.parts.recorder.tally.seconds - calls)
        return changes

    def measure(self, record: TaskRecord, recall: Recall) -> None:
        size = injection(record.injected, record.steps)
        record.injected_lines, record.injected_tokens = size.lines, size.tokens
        record.injected_tokens_calls = size.tokens_calls
        record.items = [(item.id, item.kind) for item in recall.items]
        record.events = [(event.kind, event.item, event.detail) for event in recall.events]


def failure_of(error: Exception) -> Failure:
    """The failure state that an exception stands for."""
    if isinstance(error, ContextOverflow):
        return "context_overflow"
    if isinstance(error, Refusal):
        return "refusal"
    if isinstance(error, BudgetExhausted):
        return "budget"
    return "environment" if isinstance(error, EnvironmentFailed) else "backbone"
