"""What is ours on top of BrowserGym. Imported only inside the worker, after the WA_* variables are set."""

from __future__ import annotations

import functools
import re
import types
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import browsergym.core.env as core
import browsergym.webarena  # noqa: F401  (checks NLTK's data)
import playwright.sync_api
from browsergym.core import _get_global_playwright
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.utils.obs import (
    IGNORED_AXTREE_PROPERTIES,
    IGNORED_AXTREE_ROLES,
    flatten_axtree_to_str,
)
from browsergym.webarena.instance import WebArenaInstance
from browsergym.webarena.task import GenericWebArenaTask

from envs.webarena.tasks import placed
from envs.webarena.worker import Options

ERROR_CHARACTERS = 400
"""Of an action's error that is shown [ours]: Playwright appends a log of what it tried."""
LOG_INS = ("shopping", "shopping_admin", "gitlab", "reddit")
_ROLES = [*IGNORED_AXTREE_ROLES, "InlineTextBox"]
_PROPERTIES = (*IGNORED_AXTREE_PROPERTIES, "url")


class Chat:
    """BrowserGym's chat without its window, which would be a second browser: agents never see it."""

    def __init__(self, *_: object, **__: object) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, msg: str) -> None:
        """Keep a message, as the window does."""
        if role != "info":
            self.messages.append({"role": role, "timestamp": 0.0, "message": msg})

    def close(self) -> None:
        """Nothing to close."""


core.Chat = Chat
core.extract_screenshot = lambda page: (
    None
)  # agents read the tree; a picture a step would be the dearest part


class Kept:
    """A browser that stays when BrowserGym closes it: every task gets a fresh context in the same one."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)

    def close(self) -> None:
        """Stay."""


def be_quick() -> None:
    """For our own sites, which answer at once: one browser for all tasks, and no pause before a page is scored."""
    from webarena.evaluation_harness import evaluators

    chromium = _get_global_playwright().chromium
    launch = chromium.launch
    kept: list[Kept] = []

    def launch_once(**arguments: Any) -> Kept:
        if not kept:
            kept.append(Kept(launch(**arguments)))
        return kept[0]

    chromium.launch = launch_once
    evaluators.time = types.SimpleNamespace(sleep=lambda _: None)


class Task(GenericWebArenaTask):  # type: ignore[misc]
    """A task whose configuration is given, scored when the agent stops: as the benchmark's own code does."""

    def __init__(self, seed: int, config: Mapping[str, Any], every_step: bool) -> None:
        super().__init__(seed=seed, task_id=0)
        self.every_step = every_step
        self.final: float | None = None
        self.left = False
        addresses = {**self.webarena_instance.urls, "homepage": self.webarena_instance.home_url}
        self.task_configs = [placed(dict(config), addresses)]

    def validate(self, page: Any, chat_messages: list[Any]) -> tuple[float, bool, str, dict[str, Any]]:
        """What BrowserGym asks after every step: whether the episode is over."""
        if chat_messages and chat_messages[-1]["role"] in ("assistant", "infeasible"):
            return 0.0, True, "", {}
        if self.strayed(page):
            self.left, self.final = True, 0.0
            return 0.0, True, "", {}
        if self.every_step:
            score, done, message, info = super().validate(page, chat_messages)
            if done:
                self.final = float(score)
            return score, done, message, info
        return 0.0, False, "", {}

    def strayed(self, page: Any) -> bool:
        """Whether a tab is neither empty nor on one of the sites: the benchmark ends such an episode with 0."""
        sites = [*self.webarena_instance.urls.values(), self.webarena_instance.home_url]
        allowed = {"newtab", "", *(urlparse(address).netloc for address in sites)}
        return any(urlparse(tab.url).netloc not in allowed for tab in page.context.pages)

    def score(self, page: Any, chat_messages: Sequence[Any]) -> float:
        """The official score, taken once."""
        if self.final is None:
            messages = list(chat_messages)
            if not messages or messages[-1]["role"] not in ("assistant", "infeasible"):
                messages.append({"role": "assistant", "timestamp": 0.0, "message": ""})
            self.final = float(super().validate(page, messages)[0])
        return self.final

    def teardown(self) -> None:
        """Remove the file that the base class leaves."""
        if self.config_file:
            Path(self.config_file).unlink(missing_ok=True)


def environment(config: Mapping[str, Any], options: Options, context: Mapping[str, Any]) -> Any:
    """BrowserGym on one task."""
    actions = HighLevelActionSet(subsets=["webarena"], multiaction=False, strict=False)
    return core.BrowserEnv(
        task_entrypoint=Task,
        task_kwargs={"config": config, "every_step": options.every_step},
        slow_mo=options.slow_mo,
        # The benchmark's 10 s are too few where the browser shares a busy machine with the sites.
        timeout=30_000 if options.mini else None,
        pre_observation_delay=options.delay,
        pw_context_kwargs=dict(context),
        action_mapping=patient(actions.to_python_code) if options.mini else actions.to_python_code,
    )


def patient(to_code: Callable[[str], str]) -> Callable[[str], str]:
    """Actions that wait 10 s for their element instead of BrowserGym's half a second.

    On a busy machine half a second runs out after a click was done, which is then reported as failed.
    """
    return lambda action: to_code(action).replace("timeout=500", "timeout=10_000")


def shown(observation: Mapping[str, Any]) -> str:
    """An observation as the agent reads it: open tabs if several, address, the last error, the page's tree."""
    lines = []
    if len(observation["open_pages_urls"]) > 1:
        active = int(observation["active_page_index"][0])
        for number, (title, url) in enumerate(
            zip(observation["open_pages_titles"], observation["open_pages_urls"], strict=True)
        ):
            lines.append(f"Tab {number}{' (this one)' if number == active else ''}: {title} {url}")
    lines.append(f"Address: {observation['url']}")
    error = observation["last_action_error"]
    if error:
        lines.append(f"The action failed: {plain(error)}")
    tree = flatten_axtree_to_str(
        observation["axtree_object"], ignored_roles=_ROLES, ignored_properties=_PROPERTIES
    )
    return clean("\n".join([*lines, tree]))


def ending(observation: Mapping[str, Any], task: Task) -> str:
    """The last observation: what ended the task. The page before a message was seen already."""
    address = f"Address: {observation['url']}"
    if observation["chat_messages"] and observation["chat_messages"][-1]["role"] in (
        "assistant",
        "infeasible",
    ):
        return clean(f"{address}\nThe message was sent, which ended the task.")
    if task.left:
        return clean(f"{address}\nThis is on none of the sites, which ended the task.")
    return shown(observation)


def plain(error: str) -> str:
    """The part of an error that helps: one line, without terminal colours and Playwright's log."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", error).split("=====", 1)[0].split("Call log:", 1)[0]
    return " ".join(text.split())[:ERROR_CHARACTERS]


def clean(text: str) -> str:
    """Text that every encoding can write."""
    return text.encode("utf-8", "replace").decode("utf-8")


def broken_page(observation: Mapping[str, Any]) -> bool:
    """Whether the browser shows an error page of its own instead of a site."""
    return str(observation["url"]).startswith("chrome-error:")


judged: Counter[str] = Counter()
"""What the benchmark's own judge has used in this process: judge_calls, judge_input_tokens, judge_output_tokens."""


def ask_judge(model: str) -> None:
    """Have another model grade than the one that the benchmark's code names, and count what it uses."""
    WebArenaInstance()  # hands the addresses on to the benchmark's code, which reads them when it is imported
    from webarena.evaluation_harness import helper_functions as helpers

    ask: Callable[..., str] = helpers.generate_from_openai_chat_completion
    if not isinstance(ask, functools.partial):

        def asked(**arguments: Any) -> str:
            return ask(**{**arguments, "model": model})

        helpers.generate_from_openai_chat_completion = asked
        _count_judge()


def _count_judge() -> None:
    from openai.resources.chat.completions import Completions

    create = Completions.create

    @functools.wraps(create)
    def counted(*arguments: Any, **named: Any) -> Any:
        reply = create(*arguments, **named)
        usage = getattr(reply, "usage", None)
        judged.update(
            judge_calls=1,
            judge_input_tokens=int(getattr(usage, "prompt_tokens", 0) or 0),
            judge_output_tokens=int(getattr(usage, "completion_tokens", 0) or 0),
        )
        return reply

    setattr(Completions, "create", counted)  # noqa: B010 - mypy forbids to assign to a method


def failed_log_ins(context: Mapping[str, Any]) -> dict[str, str]:
    """Site -> why the benchmark's account does not get in."""
    instance = WebArenaInstance()
    failed = {}
    browser = _get_global_playwright().chromium.launch()
    try:
        for site in LOG_INS:
            tabs = browser.new_context(**context)
            tabs.set_default_timeout(20_000)
            try:
                instance.ui_login(site=site, page=tabs.new_page())
                page = tabs.new_page()
                page.goto(instance.urls[site])
                with suppress(playwright.sync_api.Error):
                    page.wait_for_load_state("networkidle", timeout=5_000)
                if (
                    page.locator("input[type=password]").count()
                    or page.get_by_role("link", name=re.compile(r"^\s*(log|sign) ?in", re.IGNORECASE)).count()
                ):
                    failed[site] = "the site still asks to log in"
            except playwright.sync_api.Error as error:
                failed[site] = plain(str(error))
            finally:
                tabs.close()
    finally:
        browser.close()
    return failed
