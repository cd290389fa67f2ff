"""The process in which BrowserGym drives the browser: `python -m envs.webarena.worker OPTIONS`.

Playwright's synchronous interface wants a main thread without an event loop, and BrowserGym one environment
a process. OPTIONS is JSON, see `Options`. Requests and answers (envs.worker):

    {"open": task}      ->  page
    {"step": action}    ->  page
    {"evaluate": true}  ->  {"score": 0..1, "judge": what the benchmark's judge used}
    {"log_ins": true}   ->  {"failed": {site: why}}
    {"hits": true}      ->  {"hits": requests to the small sites so far}

where a page is {"text", "done"}.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from envs.worker import serve


@dataclass(frozen=True)
class Options:
    """How to run BrowserGym."""

    mini: bool
    """Play on our own small sites, served by this process and reset before every task."""
    slow_mo: int | None
    """Milliseconds that Playwright waits before each of its operations; None: the benchmark's 1000."""
    delay: float
    """Seconds BrowserGym waits before it looks at the page; its default is 0.5."""
    every_step: bool
    """Score after every step, as BrowserGym does by itself, and end at the first success."""
    judge_model: str


class Browser:
    """Answers requests, one browser at a time."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.context: dict[str, Any] = {}
        self.sites = None
        if options.mini:
            from envs.webarena.mini.server import MiniSites

            self.sites = MiniSites(proxy=True)
            os.environ.update(self.sites.variables)
            os.environ.update(HTTP_PROXY=self.sites.proxy, http_proxy=self.sites.proxy)
            os.environ.update(NO_PROXY="127.0.0.1,localhost", no_proxy="127.0.0.1,localhost")
            self.context["proxy"] = {"server": self.sites.proxy}
        from envs.webarena import gym

        gym.ask_judge(options.judge_model)
        if options.mini:
            gym.be_quick()
        self.gym = gym
        self.env: Any = None

    def open(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """A fresh browser, logged in, on the task's first page."""
        if self.env is not None:
            self.env.close()
            self.env = None
        if self.sites is not None:
            self.sites.reset()
        self.env = self.gym.environment(task, self.options, self.context)
        observation, _ = self.env.reset(seed=0)
        return {"text": self.gym.shown(observation), "done": False}

    def step(self, action: str) -> dict[str, Any]:
        """One action."""
        observation, _, terminated, _, _ = self.env.step(action)
        if terminated and self.gym.broken_page(observation):
            self.env.task.webarena_instance.check_status()
        text = self.gym.ending(observation, self.env.task) if terminated else self.gym.shown(observation)
        return {"text": text, "done": bool(terminated)}

    def evaluate(self) -> dict[str, Any]:
        """The official score; an episode that has not ended yet is stopped with an empty answer."""
        before = self.gym.judged.copy()
        score = float(self.env.task.score(self.env.page, self.env.chat.messages))
        return {"score": score, "judge": dict(self.gym.judged - before)}

    def log_ins(self) -> dict[str, Any]:
        """Which sites do not let the benchmark's accounts in."""
        return {"failed": self.gym.failed_log_ins(self.context)}

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if "step" in request:
            return self.step(request["step"])
        if "open" in request:
            return self.open(request["open"])
        if "evaluate" in request:
            return self.evaluate()
        if "log_ins" in request:
            return self.log_ins()
        return {"hits": self.sites.hits if self.sites is not None else []}


def start() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The browser's owner, as envs.worker.serve wants it."""
    return Browser(Options(**json.loads(sys.argv[1]))).answer


if __name__ == "__main__":
    serve(start)
