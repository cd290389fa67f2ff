"""WebArena behind the contract of envs.base: the released tasks on real sites, or small ones of our own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

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
from envs.webarena import sites, tasks
from envs.webarena.actions import ACTIONS, action_help
from envs.webarena.browser import browser_version
from envs.webarena.engine import Engine
from envs.webarena.tasks import Config
from envs.webarena.worker import Options

SETTINGS = ("webarena", "webarena_mini")
MINI_HOME = "http://home.test"


class WebArena:
    """The settings `webarena` (812 tasks on the sites that WA_* name) and `webarena_mini` (36 on our own).

    Parameters: `step_limit`, 30 as in the benchmark's agents; `slow_mo`, milliseconds before each operation of
    the browser (None: the benchmark's 1000), and `delay`, seconds before the page is read: both may change
    results; `score_every_step`, BrowserGym's own way of scoring after every step instead of at the stop;
    `judge`, the model that grades answers which are not matched literally: `model`, `api_base` of an endpoint
    that speaks OpenAI's protocol (None: OPENAI_BASE_URL or OpenAI's), `api_key_env`, the variable of its key;
    `allow_unreset`, start on sites that another run changed; `run`, what names this run in that rule;
    `reset_timeout`, seconds a full reset may take; `watchdog`, seconds without an answer after which the
    browser counts as hung.
    """

    form: Form = "page"
    metrics: Sequence[Metric] = (Metric("success_rate", "success", "percent", "SR"),)
    categories: Mapping[str, str] = tasks.CATEGORIES

    def __init__(
        self,
        setting: str = "webarena",
        step_limit: PositiveInt = 30,
        slow_mo: NonNegativeInt | None = None,
        delay: NonNegativeFloat = 0.5,
        score_every_step: bool = False,
        judge: Mapping[str, str | None] | None = None,
        allow_unreset: bool = False,
        run: str = "",
        reset_timeout: PositiveFloat = 600.0,
        watchdog: PositiveFloat = 300.0,
    ) -> None:
        if setting not in SETTINGS:
            raise SetupError(f"WebArena has no setting {setting!r}; it has {' and '.join(SETTINGS)}.")
        if step_limit < 1:
            raise SetupError(f"env.step_limit={step_limit}: give at least 1.")
        self.setting = setting
        self.known_tasks = tasks.COUNT if setting == "webarena" else None
        self.step_limit = step_limit
        self.restartable = setting == "webarena_mini"
        self._judge = {"model": "gpt-4-1106-preview", "api_base": None, "api_key_env": "OPENAI_API_KEY"}
        unknown = set(judge or {}) - set(self._judge)
        if unknown:
            raise SetupError(
                f"env.judge has no option {sorted(unknown)[0]!r}; it has {', '.join(self._judge)}."
            )
        self._judge.update(judge or {})
        self._options = Options(self.restartable, slow_mo, delay, score_every_step, str(self._judge["model"]))
        self._watchdog = watchdog
        self._reset_timeout = reset_timeout
        self._allow_unreset = allow_unreset
        self._run = run or "a run without a name"
        self._use: sites.Use | None = None
        self._engine: Engine | None = None
        self._spent = 0.0
        self._world: OpenPage | None = None

    @cached_property
    def _configs(self) -> tuple[Config, ...]:
        return tasks.mini() if self.restartable else tasks.released()

    def tasks(self) -> Sequence[Task]:
        """All tasks in release order. Raises SetupError without the benchmark's package."""
        return [Task(number, config["intent"]) for number, config in enumerate(self._configs, 1)]

    def open(self, task: Task) -> OpenPage:
        """Log in and show the task's first page: seconds, all of them the browser's and the sites'.

        Raises SetupError if the sites, the browser or the judge are not set up, or if the sites still hold what
        another run did, and EnvironmentFailed if a site is down.
        """
        config = self._config(task)
        if self._world is not None:
            self._world.close()
        if self._engine is None:
            self._engine = Engine(self._options, self._variables(), self._watchdog)
        home = MINI_HOME
        if not self.restartable:
            home = self._engine.variables["WA_HOMEPAGE"]
            self._claim(task.number)
        self._world = OpenPage(self._engine, home, self._engine.ask({"open": config}))
        return self._world

    def info(self, task: Task) -> TaskInfo:
        """Site, template and kinds of evaluation of a task."""
        config = self._config(task)
        template = f"template-{config['intent_template_id']}"
        return TaskInfo(
            f"webarena.{config['task_id']}",
            template,
            template,
            tasks.categories(config),
            tasks.operations(config),
        )

    def capabilities(self) -> Sequence[Capability]:
        """The browser actions."""
        return ACTIONS

    def provenance(self) -> Mapping[str, str]:
        """Packages, the browser's version (the pages' text depends on it) and a hash of the task list."""
        return {
            **{f"{name} version": found for name, found in tasks.versions().items()},
            "browser": browser_version(),
            "tasks": str(len(self._configs)),
            "tasks sha256": tasks.digest(self._configs),
            "judge": str(self._judge["model"]),
        }

    @property
    def engine_seconds(self) -> float:
        """Seconds spent inside BrowserGym and the browser so far; the rest of a call's time is ours."""
        return self._spent + (self._engine.seconds if self._engine else 0.0)

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if it runs."""
        return self._engine.pid if self._engine else None

    def log_ins(self) -> dict[str, str]:
        """Site -> why the benchmark's account does not get in; for the check. Raises as `open` does."""
        if self._engine is None:
            self._engine = Engine(self._options, self._variables(need_judge=False), self._watchdog)
        return dict(self._engine.ask({"log_ins": True})["failed"])

    def close(self) -> None:
        """End the browser and its process. Idempotent."""
        if self._world is not None:
            self._world.close()
        if self._engine is not None:
            self._spent += self._engine.seconds
            self._engine.close()
            self._engine = None

    def _config(self, task: Task) -> Config:
        if not 1 <= task.number <= len(self._configs):
            raise SetupError(
                f"{self.setting} has tasks 1 to {len(self._configs)}; there is no {task.number}."
            )
        return self._configs[task.number - 1]

    def _variables(self, need_judge: bool = True) -> dict[str, str]:
        """What the worker is told through its environment."""
        found = {} if self.restartable else sites.addresses()
        name = str(self._judge["api_key_env"] or "")
        key = os.environ.get(name, "").strip() if name else "none"
        if need_judge and not key and not self.restartable:
            count = sum(map(tasks.judged, self._configs))
            raise SetupError(
                f"{count} of WebArena's tasks are graded by a language model, and {name} is not set. Set it, or name "
                "another endpoint by env.judge.model, env.judge.api_base and env.judge.api_key_env."
            )
        if key:
            found["OPENAI_API_KEY"] = key
        if self._judge["api_base"]:
            found["OPENAI_BASE_URL"] = str(self._judge["api_base"])
        return found

    def _claim(self, number: int) -> None:
        if self._use is not None:
            return self._use.note(number)
        use = sites.Use(self._run, sites.addresses(), sites.state_folder())
        server = os.environ.get(sites.RESET, "").strip() or None
        use.claim(number, server, self._allow_unreset, lambda url: sites.reset(url, self._reset_timeout))
        self._use = use
        return None


class OpenPage:
    """One opened task."""

    def __init__(self, engine: Engine, home: str, page: Mapping[str, Any]) -> None:
        self._engine = engine
        self._closed = False
        self._broken = ""
        self._evaluation: Evaluation | None = None
        self.action_help = action_help(home)
        self.observation = Observation(page["text"], None, page["done"])

    @property
    def engine_seconds(self) -> float:
        """Seconds spent inside BrowserGym and the browser so far."""
        return self._engine.seconds

    def step(self, action: str) -> Observation:
        """One browser action; its error, if any, is part of the observation."""
        self._refuse_if_gone()
        if not self.observation.done and self._evaluation is None:
            page = self._ask({"step": action})
            self.observation = Observation(page["text"], None, page["done"])
        return self.observation

    def look_up(self, request: str) -> str | None:
        """None: the page shows all there is to see."""
        return None

    def evaluate(self) -> Evaluation:
        """The official evaluators' score; at the step limit an empty answer is sent first. It ends the episode.

        Where the benchmark's own judge was asked, judge_calls, judge_input_tokens and judge_output_tokens too: it is
        paid outside the run's caps. Raises EnvironmentFailed if a site or the judge did not answer.
        """
        if self._evaluation is None:
            self._refuse_if_gone()
            answer = self._ask({"evaluate": True})
            score = float(answer["score"])
            used = {name: float(count) for name, count in answer["judge"].items()}
            self._evaluation = Evaluation({"success": float(score == 1.0), "score": score, **used})
        return self._evaluation

    def close(self) -> None:
        """Nothing to release: the next task replaces the browser. Idempotent."""
        self._closed = True

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._engine.ask(request)
        except EnvironmentFailed as error:
            self._broken = str(error)
            raise

    def _refuse_if_gone(self) -> None:
        if self._broken or self._closed:
            raise EnvironmentFailed(self._broken or "This WebArena task was closed.")
