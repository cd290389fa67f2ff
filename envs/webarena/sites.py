"""The real sites: their addresses, their reset, and the rule that one run does not inherit another's changes.

WebArena's sites keep what a task changes. A run that starts on sites that another run used, and that were not
reset since, would not be comparable: a small file, named by the sites' addresses, says who used them.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.base import EnvironmentFailed, SetupError

VARIABLES = {
    f"WA_{name.upper()}": name
    for name in ("shopping", "shopping_admin", "reddit", "gitlab", "wikipedia", "map", "homepage")
}
"""The variables that name the seven sites, and what the benchmark calls these."""
RESET = "WA_FULL_RESET"
"""Address of the server that resets all sites, as in BrowserGym: GET /reset, then /status until it is ready."""
READY = "Ready for duty!"


def addresses(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variable -> address. Raises SetupError naming the variables that are not set."""
    missing = [name for name in VARIABLES if not environ.get(name, "").strip()]
    if missing:
        raise SetupError(
            f"WebArena's sites are not known: {', '.join(missing)} not set. Set all of {', '.join(VARIABLES)} to "
            "the addresses of your sites (the benchmark's guide says how to host them), or use env=webarena_mini."
        )
    return {name: environ[name].strip().rstrip("/") for name in VARIABLES}


def fetch(url: str, timeout: float) -> tuple[int, str]:
    """Status and text of a page. Raises OSError if nothing answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


def reset(server: str, timeout: float = 600.0, pause: float = 5.0) -> None:
    """Reset all sites and wait until they are ready: minutes. Raises EnvironmentFailed."""
    try:
        status, text = fetch(f"{server.rstrip('/')}/reset", 60.0)
        if status not in (200, 418):  # 418: a reset is running already
            raise EnvironmentFailed(f"The reset server {server} answered {status}: {text[:200]}")
        deadline = time.monotonic() + timeout
        while True:
            status, text = fetch(f"{server.rstrip('/')}/status", 60.0)
            if status == 200 and text.strip() == READY:
                return
            if time.monotonic() > deadline:
                raise EnvironmentFailed(
                    f"The reset by {server} was not done after {timeout:g} s: {text[:200]}"
                )
            time.sleep(pause)
    except OSError as error:
        raise EnvironmentFailed(f"The reset server {server} does not answer: {error}") from error


def state_folder() -> Path:
    """Where the files lie that say who used which sites."""
    return (
        Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "memtrial" / "webarena"
    )


@dataclass
class Use:
    """Who uses the sites now: claimed at a run's first task, noted at every further one."""

    run: str
    """Names the run, the same when it is resumed."""
    sites: Mapping[str, str]
    folder: Path
    _opened: list[int] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The file of these sites."""
        text = json.dumps(dict(self.sites), sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"

    def claim(
        self, number: int, server: str | None, allowed: bool, reset_sites: Callable[[str], None] = reset
    ) -> None:
        """Take the sites for a run that starts, or goes on, with task `number`.

        Another run's traces are removed by the reset `server`, if there is one. Raises SetupError if there is
        none, unless `allowed`, and if the other run is still going on.
        """
        before = self._before()
        if before.get("run") == self.run and (
            number not in before["opened"] or number == before["opened"][-1]
        ):
            self._opened = before["opened"]
        elif before and not allowed:
            who = f"the run {before['run']} ({len(before['opened'])} tasks, last at {before['when']})"
            if _alive(before):
                raise SetupError(
                    f"These WebArena sites are in use by {who}. Wait for its end, or use other sites."
                )
            if not server:
                raise SetupError(
                    f"These WebArena sites were used by {who} and not reset since, so that scores would not be "
                    f"comparable. Reset them and remove {self.path}; or set {RESET} to the address of the reset "
                    "server, which is then called; or accept it with env.allow_unreset=true."
                )
            reset_sites(server)
        self.note(number)

    def note(self, number: int) -> None:
        """Keep that a task was opened."""
        if not self._opened or self._opened[-1] != number:
            self._opened.append(number)
        mark = {
            "run": self.run,
            "opened": self._opened,
            "when": time.strftime("%Y-%m-%d %H:%M:%S"),
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(mark), encoding="utf-8")
        draft.replace(self.path)

    def _before(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            found = json.loads(self.path.read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("opened"):
                return found
        return {}


def _alive(mark: Mapping[str, object]) -> bool:
    """Whether the process that left a mark still runs on this machine and is not this one."""
    pid = mark.get("pid")
    if mark.get("host") != socket.gethostname() or not isinstance(pid, int) or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
