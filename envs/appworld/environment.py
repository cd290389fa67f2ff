"""AppWorld (Trivedi et al., 2024) behind the contract of envs.base, on its own environment server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from envs.appworld import install, mini
from envs.appworld.data import APPS, Data, Spec
from envs.appworld.engine import EVALUATION_SECONDS, HEALTH_SECONDS, Pool, Server, sweep
from envs.appworld.words import ACTION_HELP, OUTPUT_CHARACTERS, cut, opening
from envs.base import (
    Capability,
    EnvironmentFailed,
    Evaluation,
    Form,
    Metric,
    Observation,
    SetupError,
    Task,
    TaskInfo,
)

DATASETS = {
    "appworld_test_normal": "test_normal",
    "appworld_test_challenge": "test_challenge",
    "appworld_mini": "mini",
}
OPEN_SECONDS = 180.0


class AppWorld:
    """The settings `appworld_test_normal` (168 tasks), `appworld_test_challenge` (417), `appworld_mini` (27).

    Nothing starts before the first `open`, except that appworld_mini makes its data once (20 s of processor time)
    when its tasks are first asked for.

    root: the folder that holds `data/`; None: APPWORLD_ROOT, else `root` in the virtual environment (for
    appworld_mini, a folder of its own there). venv: AppWorld's virtual environment; None: MEMTRIAL_APPWORLD_VENV,
    else `.venv-appworld` beside the package. experiment: name under which the engine keeps its files.
    step_limit: blocks a task allows. timeout: seconds a block may run, the engine's own default. servers: worlds
    that may be open at a time. recycle_after: tasks after which a server is replaced by a fresh one [ours].
    """

    form: Form = "code"
    restartable = True
    metrics: Sequence[Metric] = (
        Metric("tgc", "success", "percent", "TGC"),
        Metric("sgc", "success", "percent_of_scenarios", "SGC"),
    )
    categories: Mapping[str, str] = APPS

    def __init__(
        self,
        setting: str = "appworld_mini",
        root: str | os.PathLike[str] | None = None,
        venv: str | os.PathLike[str] | None = None,
        experiment: str = "memtrial",
        step_limit: int = 40,
        timeout: int = 100,
        servers: int = 1,
        recycle_after: int = 50,
    ) -> None:
        if setting not in DATASETS:
            raise SetupError(f"AppWorld has no setting {setting!r}; it has {', '.join(DATASETS)}.")
        for name, value in {
            "step_limit": step_limit,
            "timeout": timeout,
            "servers": servers,
            "recycle_after": recycle_after,
        }.items():
            if value <= 0:
                raise SetupError(f"AppWorld's {name} is {value!r}. Give a whole number from 1 up.")
        self.setting = setting
        self.known_tasks = install.COUNTS.get(setting)
        self.step_limit = step_limit
        self._experiment = install.refuse_trap_in_name(experiment)
        self._timeout = timeout
        self._venv = install.venv(venv)
        self._root = (
            mini.root(os.fspath(root) if root else None, self._venv)
            if setting == "appworld_mini"
            else install.real_root(root, self._venv)
        )
        self._pool = Pool(self._start, servers, recycle_after)

    @property
    def root(self) -> Path:
        """The folder that holds `data/`."""
        return self._root

    @cached_property
    def _python(self) -> Path:
        found = install.python(self._venv)
        if self.setting == "appworld_mini":
            mini.ensure(found, self._root)
        return found

    @cached_property
    def _data(self) -> Data:
        _ = self._python
        return Data(self._root, DATASETS[self.setting], self.setting)

    def tasks(self) -> Sequence[Task]:
        """All tasks in the order of the dataset's own file. Raises SetupError without engine or complete data."""
        return [Task(number, spec.instruction) for number, spec in enumerate(self._data.specs, 1)]

    def open(self, task: Task) -> AppWorldTask:
        """Start a task: some seconds, all the engine's. On a fresh server if the first try fails."""
        spec = self._spec(task)
        try:
            return self._open(spec)
        except EnvironmentFailed:
            return self._open(spec)

    def _open(self, spec: Spec) -> AppWorldTask:
        world = AppWorldTask(spec, self._pool, self._timeout)
        world.start(self._experiment)
        return world

    def info(self, task: Task) -> TaskInfo:
        """Scenario, required apps and database models of a task: ground truth, for reports only."""
        return self._data.info(self._spec(task).id)

    def capabilities(self) -> Sequence[Capability]:
        """Every public API: id `app.api`, its description, and its documentation as `show_api_doc` gives it."""
        return self._data.capabilities()

    def provenance(self) -> Mapping[str, str]:
        """Versions of engine and data, and a hash of tasks and tests."""
        return {
            "appworld": install.engine_version(self._venv),
            "appworld data": install.DATA_VERSION,
            "tasks": str(len(self._data.specs)),
            "tasks sha256": self._data.digest(),
        }

    @property
    def pid(self) -> int | None:
        """Process id of the server taken last, if one runs."""
        servers = self._pool.servers
        return servers[-1].pid if servers else None

    def close(self) -> None:
        """End all servers. Idempotent; a later `open` starts another."""
        self._pool.close()

    def _start(self) -> Server:
        sweep()
        return Server(self._python, self._root, OUTPUT_CHARACTERS + 1)

    def _spec(self, task: Task) -> Spec:
        specs = self._data.specs
        if not 1 <= task.number <= len(specs):
            raise SetupError(f"{self.setting} has tasks 1 to {len(specs)}; there is no {task.number}.")
        return specs[task.number - 1]


class AppWorldTask:
    """One opened task. Documentation is looked up by code, as AppWorld means it: each look-up is a step."""

    action_help = ACTION_HELP

    def __init__(self, spec: Spec, pool: Pool, timeout: int) -> None:
        self._spec, self._pool, self._timeout = spec, pool, timeout
        self._server: Server | None = None
        self._broken = ""
        self._evaluation: Evaluation | None = None
        self.observation = Observation(opening(spec.supervisor))
        self.engine_seconds = 0.0
        """Seconds that the engine took for this task's steps, by its own clock; the rest of a step is ours."""

    def start(self, experiment: str) -> None:
        """Open the task on a server. Raises EnvironmentFailed."""
        self._server = self._pool.take(self.close)
        with self._failing():
            self._server.post(
                "/initialize",
                {
                    "task_id": self._spec.id,
                    "experiment_name": experiment,
                    "timeout_seconds": self._timeout,
                    "load_ground_truth": False,
                },
                OPEN_SECONDS,
            )

    def step(self, action: str) -> Observation:
        """Execute a block of python. Errors of the code are text, as the engine words them."""
        if self._broken:
            raise EnvironmentFailed(self._broken)
        if self.observation.done or self._evaluation is not None:
            return self.observation
        with self._failing():
            output, done, seconds = self._open_server().step(action, self._timeout + HEALTH_SECONDS)
        self.engine_seconds += seconds
        self.observation = Observation(cut(output) or "(no output)", done=done)
        return self.observation

    def look_up(self, request: str) -> str | None:
        """None: whatever code asks is a step."""
        return None

    def evaluate(self) -> Evaluation:
        """The task's own tests on the databases as they are now: success if all pass. The first result stays."""
        if self._broken:
            raise EnvironmentFailed(self._broken)
        if self._evaluation is None:
            with self._failing():
                answer = self._open_server().post("/score", {}, EVALUATION_SECONDS)
            self._evaluation = Evaluation(
                {
                    "success": float(answer["success"]),
                    "tests_passed": len(answer["passes"]) / answer["num_tests"],
                }
            )
        return self._evaluation

    def close(self) -> None:
        """Close the engine's world and free its server. Idempotent."""
        server, self._server = self._server, None
        if server is None:
            return
        self._broken = self._broken or "This AppWorld task was closed."
        try:
            server.post("/close", {"task_id": self._spec.id}, HEALTH_SECONDS)
        except EnvironmentFailed:
            self._pool.drop(server)
        else:
            self._pool.give_back(server)

    def _open_server(self) -> Server:
        if self._server is None:
            raise EnvironmentFailed(self._broken or "This AppWorld task was closed.")
        return self._server

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """If the engine breaks inside, its server is ended, and every further call says why."""
        try:
            yield
        except EnvironmentFailed as error:
            self._broken = str(error)
            if self._server is not None:
                self._pool.drop(self._server)
                self._server = None
            raise
