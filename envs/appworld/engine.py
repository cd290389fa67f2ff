"""AppWorld's environment servers: started on loopback, watched, restarted when dead, ended for certain.

One server holds one open world. Each runs in a scratch folder of its own that shows the data root as `data`, so
that runs side by side write nothing into the root and nothing into each other. The guardian of envs.child
ends a server however we end.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envs.appworld.install import refuse_trap
from envs.base import EnvironmentFailed
from envs.child import Child

SERVER = Path(__file__).with_name("server.py")
START_SECONDS = 180.0
"""Until a starting server counts as hung: 5 s on an idle machine [ours]."""
HEALTH_SECONDS = 20.0
EVALUATION_SECONDS = 300.0
LITTER_SECONDS = 2 * 24 * 3600.0
"""Age at which a scratch folder is taken for the leftover of a killed run [ours]."""
_PREFIX = "memtrial-appworld-"
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
"""What a server sees of our environment: no key of a provider reaches the process that runs agents' code."""


class Server:
    """One process of AppWorld's environment server and the connection to it.

    Raises EnvironmentFailed from every call once the process is dead or hung; it is then ended.
    """

    def __init__(self, python: Path, root: Path, output_limit: int) -> None:
        self._folder = refuse_trap(Path(tempfile.mkdtemp(prefix=_PREFIX)))
        self._connection: http.client.HTTPConnection | None = None
        self._child: Child | None = None
        self.opened = 0
        """Worlds opened so far."""
        try:
            (self._folder / "data").symlink_to(root / "data", target_is_directory=True)
            with (self._folder / "log").open("wb") as log:
                command = [
                    str(python),
                    "-I",
                    "-B",
                    "-X",
                    "utf8",
                    str(SERVER),
                    str(self._folder),
                    str(output_limit),
                ]
                environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
                environment |= {
                    "HOME": str(self._folder),
                    "IPYTHONDIR": str(self._folder / "ipython"),
                    "TZ": "UTC",
                }
                self._child = Child(command, env=environment, cwd=self._folder, stdout=-1, stderr=log)
            self.port = self._read_port(self._child)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        """Process id of the server."""
        return self._child.pid if self._child is not None else None

    def healthy(self) -> bool:
        """Whether the process runs and answers."""
        if self._child is None or not self._child.alive():
            return False
        try:
            self.call("GET", "/", None, HEALTH_SECONDS)
        except EnvironmentFailed:
            return False
        return True

    def post(self, path: str, body: dict[str, Any], timeout: float) -> Any:
        """Send `body`, get the parsed answer. Raises EnvironmentFailed."""
        return self.call("POST", path, json.dumps(body).encode(), timeout)

    def step(self, code: str, timeout: float) -> tuple[str, bool, float]:
        """Execute a block: its output, whether the task is completed, and the engine's own seconds."""
        answer = self.post("/step", {"code": code}, timeout)
        return answer["output"], answer["done"], answer["seconds"]

    def call(self, method: str, path: str, body: bytes | None, timeout: float) -> Any:
        """One request on the connection that is kept open."""
        if self._child is None:
            raise EnvironmentFailed("AppWorld's environment server was ended.")
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if self._connection.sock is not None:
                self._connection.sock.settimeout(timeout)
            self._connection.request(method, path, body, {"Content-Type": "application/json"})
            response = self._connection.getresponse()
            answer = response.read()
        except TimeoutError as error:
            self._fail(f"did not answer {method} {path} within {timeout:g} s", error)
        except (OSError, http.client.HTTPException) as error:
            self._fail(f"broke at {method} {path} ({type(error).__name__})", error)
        if response.status != 200:
            self._fail(f"answered {method} {path} with HTTP {response.status}", None)
        return json.loads(answer)

    def close(self) -> None:
        """End the process at once and remove its folder. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._child is not None:
            self._child.kill()
            self._child = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _fail(self, what: str, cause: Exception | None) -> None:
        message = f"AppWorld's environment server {what}.{self._last_words()}"
        self.close()
        raise EnvironmentFailed(message) from cause

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self._folder / "log").read_text(errors="replace").strip().splitlines()
            if lines:
                return f" Its last line: {lines[-1][:300]}"
        return ""

    def _read_port(self, child: Child) -> int:
        assert child.stdout is not None
        until, said = time.monotonic() + START_SECONDS, b""
        while not said.endswith(b"\n"):
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))
            some = os.read(child.stdout.fileno(), 4096) if ready else b""
            if not some:
                why = "ended while starting" if ready else f"did not start within {START_SECONDS:g} s"
                raise EnvironmentFailed(f"AppWorld's environment server {why}.{self._last_words()}")
            said += some
        # The engine may print before it listens.
        return int(said.decode().rsplit("port ", 1)[1])


class Pool:
    """The servers of one environment: at most `size`, each with one world."""

    def __init__(self, make: Callable[[], Server], size: int, recycle_after: int) -> None:
        self._make, self._size, self._recycle_after = make, size, recycle_after
        self._idle: list[Server] = []
        self._busy: list[tuple[Server, Callable[[], None]]] = []

    def take(self, close_world: Callable[[], None]) -> Server:
        """A healthy server without a world. With all in use, the world that was opened first is closed."""
        if not self._idle and len(self._busy) >= self._size:
            self._busy[0][1]()
        server = self._idle.pop() if self._idle else None
        if server is not None and (server.opened >= self._recycle_after or not server.healthy()):
            server.close()
            server = None
        server = server or self._make()
        server.opened += 1
        self._busy.append((server, close_world))
        return server

    def give_back(self, server: Server) -> None:
        """Its world was closed."""
        self._busy = [pair for pair in self._busy if pair[0] is not server]
        self._idle.append(server)

    def drop(self, server: Server) -> None:
        """End a server that failed."""
        self._busy = [pair for pair in self._busy if pair[0] is not server]
        server.close()

    @property
    def servers(self) -> list[Server]:
        """All that run, the one taken last at the end."""
        return [*self._idle, *(server for server, _ in self._busy)]

    def close(self) -> None:
        """End all servers. Idempotent."""
        for server, close_world in self._busy[:]:
            close_world()
            self._busy = [pair for pair in self._busy if pair[0] is not server]
            if server not in self._idle:
                server.close()
        while self._idle:
            self._idle.pop().close()


def sweep() -> None:
    """Remove the scratch folders that runs killed long ago left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > LITTER_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
