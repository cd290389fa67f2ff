"""A process of ours that answers one line of JSON with another: both of its ends.

An engine that wants a process to itself gets a module that is run in it and calls `serve`; the environment
asks it through a `Worker`. The worker's first line is {"ready": true}; every later one answers a request and
has "seconds", the engine's own. {"error": text} in place of an answer is the worker's last line.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from envs.base import EnvironmentFailed
from envs.child import Child

_ROOT = Path(__file__).resolve().parents[1]
_CHUNK = 1 << 16
_TAIL = 600
"""Bytes of the worker's last words that an error quotes."""

Answer = dict[str, Any]


class Worker:
    """Starts `python -m module *arguments` with the first request, asks it, and watches it.

    A worker that dies, is silent for longer than `watchdog` seconds or reports an error is killed with all that
    it started, and raises EnvironmentFailed; the next request starts a fresh one. `name` is for errors;
    `settings`, asked for at each start, are added to the environment variables and may raise SetupError.
    """

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        settings: Callable[[], Mapping[str, str]],
        watchdog: float,
    ) -> None:
        self.name, self.watchdog = name, watchdog
        self.seconds = 0.0
        """Time that the engine took, as the workers measured it."""
        # The packages import their worker's module for its types, of which runpy would warn.
        self._command = [sys.executable, "-W", "ignore::RuntimeWarning:runpy", "-m", module, *arguments]
        self._settings = settings
        self._child: Child | None = None
        self._words: IO[bytes] | None = None
        self._buffer = b""

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if one runs."""
        return self._child.pid if self._child else None

    def ask(self, request: Mapping[str, Any]) -> Answer:
        """Send a request and wait for its answer."""
        try:
            if self._child is None:
                self._start()
            self._send(json.dumps(request).encode() + b"\n")
            answer = self._answer()
        except BaseException:
            # An answer that nobody waited for would be taken for the next one.
            self.close()
            raise
        self.seconds += answer["seconds"]
        return answer

    def close(self) -> None:
        """End the worker and all that it started. Idempotent."""
        if self._child is not None:
            self._child.kill()
            self._child = None
        if self._words is not None:
            self._words.close()
            self._words = None
        self._buffer = b""

    def _start(self) -> None:
        settings = {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **self._settings(),
        }
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._child = Child(
            self._command,
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        self._answer()

    def _send(self, request: bytes) -> None:
        """Write a request; it may be longer than a pipe holds, and a stopped worker must not block us."""
        assert self._child is not None and self._child.stdin is not None
        sink = self._child.stdin.fileno()
        os.set_blocking(sink, False)
        deadline = time.monotonic() + self.watchdog
        rest = memoryview(request)
        while rest:
            self._wait_for(sink, deadline, writing=True)
            try:
                rest = rest[os.write(sink, rest) :]
            except OSError:
                raise self._failure("ended unexpectedly") from None

    def _answer(self) -> Answer:
        """The worker's next line."""
        assert self._child is not None and self._child.stdout is not None
        source = self._child.stdout.fileno()
        deadline = time.monotonic() + self.watchdog
        pieces = [self._buffer]
        while b"\n" not in pieces[-1]:
            self._wait_for(source, deadline)
            piece = os.read(source, _CHUNK)
            if not piece:
                raise self._failure("ended unexpectedly")
            pieces.append(piece)
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        answer: Answer = json.loads(line)
        if "error" in answer:
            raise EnvironmentFailed(f"{self.name} reported {answer['error']}")
        return answer

    def _wait_for(self, descriptor: int, deadline: float, writing: bool = False) -> None:
        left = max(0.0, deadline - time.monotonic())
        read, write = ([], [descriptor]) if writing else ([descriptor], [])
        if not any(select.select(read, write, [], left)):
            raise self._failure(f"did not answer within {self.watchdog:g} seconds")

    def _failure(self, what: str) -> EnvironmentFailed:
        assert self._words is not None
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _TAIL))
        said = " ".join(self._words.read().decode(errors="replace").split())
        return EnvironmentFailed(f"{self.name} {what}." + (f" It last said: {said}" if said else ""))


def serve(start: Callable[[], Callable[[Answer], Answer]]) -> None:
    """Answer requests from stdin until there are no more; end after an error: the engine's state is unknown then.

    `start` makes the engine ready and gives the function that answers a request.
    """
    # Whatever the engine prints must not reach the pipe of answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(message: Mapping[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        answer = start()
        send({"ready": True})
        for line in sys.stdin:
            began = time.perf_counter()
            found = answer(json.loads(line))
            send({**found, "seconds": time.perf_counter() - began})
    except Exception as error:
        traceback.print_exc()
        send({"error": f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"})
