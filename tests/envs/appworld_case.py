"""AppWorld in the shared contract tests, and what its own tests share."""

from __future__ import annotations

import os
import signal

from envs.appworld import AppWorld
from envs.appworld.install import INSTALL, installed
from envs.base import Environment
from tests.conftest import require
from tests.envs.contract import Case


def require_engine() -> None:
    """Skip (or fail, see conftest) without AppWorld's engine."""
    require(installed(), "appworld", INSTALL)


def _kill(environment: Environment) -> None:
    assert isinstance(environment, AppWorld)
    assert environment.pid is not None
    os.kill(environment.pid, signal.SIGKILL)


_KEY = "ben-simple_note-key"
_LOGIN = f"key = apis.simple_note.login(username='ben.hill@example.com', password={_KEY!r})['access_token']"

CASE = Case(
    name="appworld",
    make=lambda _: AppWorld("appworld_mini"),
    ending=(1, ["print(apis.supervisor.show_profile()['email'])", "apis.supervisor.complete_task(answer=6)"]),
    going_on=(
        2,
        [
            _LOGIN,
            "print(apis.simple_note.create_note(title='Walks', content='north', access_token=key))",
            "print([note['title'] for note in apis.simple_note.search_notes(access_token=key)])",
        ],
    ),
    nonsense="fnord the gargle",
    kill=_kill,
    found=installed,
    remedy=INSTALL,
)
