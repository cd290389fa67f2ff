"""WebArena in the shared contract tests, and how its own tests act on a page by what it shows."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence

from envs.base import Environment, Observation, World
from envs.webarena import WebArena
from envs.webarena.browser import ready
from envs.webarena.tasks import INSTALL
from tests.conftest import require
from tests.envs.contract import Case


def require_browser() -> None:
    """Skip (or fail, see conftest) without BrowserGym or a browser."""
    require(ready(), "webarena", INSTALL)


def mini(**options: object) -> WebArena:
    """The small setting, without pauses."""
    return WebArena("webarena_mini", slow_mo=0, delay=0.1, **options)  # type: ignore[arg-type]


def mark(page: str, role: str, name: str) -> str:
    """The mark of the first element of that role and name on a page."""
    found = re.search(rf"\[(\w+)\] {role} {re.escape(repr(name))}", page)
    assert found, f"no {role} {name!r} on:\n{page}"
    return found[1]


def action_on(page: str, line: str) -> str:
    """A line such as `click link My Cart` or `fill Title = words` as a browser action on this page."""
    verb, _, rest = line.partition(" ")
    if verb == "click":
        role, _, name = rest.partition(" ")
        return f"click({mark(page, role, name)!r})"
    if verb in ("fill", "choose"):
        name, _, value = rest.partition(" = ")
        role, call = ("textbox", "fill") if verb == "fill" else ("combobox", "select_option")
        return f"{call}({mark(page, role, name)!r}, {value!r})"
    return f"send_msg_to_user({rest!r})" if verb == "say" else line


def play(world: World, lines: Sequence[str]) -> Observation:
    """Do all lines, one after the other."""
    for line in lines:
        seen = world.step(action_on(world.observation.text, line))
        assert "The action failed" not in seen.text, f"{line}\n{seen.text}"
    return world.observation


def _kill(environment: Environment) -> None:
    assert isinstance(environment, WebArena) and environment.pid is not None
    os.kill(environment.pid, signal.SIGKILL)


CASE = Case(
    name="webarena",
    make=lambda _: mini(),
    # Task 5 asks for a price; a message ends any task.
    ending=(5, ["scroll(0, 100)", "send_msg_to_user('$64.99')"]),
    # Task 10 is about the shopping cart.
    going_on=(
        10,
        [
            "goto('http://shop.test/cotton-beach-towel.html')",
            "goto('http://shop.test/wishlist')",
            "go_back()",
        ],
    ),
    nonsense="fnord the gargle",
    kill=_kill,
    found=ready,
    remedy=INSTALL,
)
