"""The engine seen from the harness: one worker process, asked over pipes, watched, and replaced when it broke."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from envs.alfworld.logic import Content, require_installed
from envs.base import EnvironmentFailed
from envs.child import Child

_ROOT = Path(__file__).resolve().parents[2]
_CHUNK = 1 << 16
_TAIL = 600
"""Bytes of the worker's last words that an error quotes."""


class Engine:
    """Opens and steps games in a worker that is started on demand.

    A worker that dies, hangs longer than `watchdog` seconds or reports an error is killed and raises
    EnvironmentFailed; the next `open` starts a fresh one. After `recycle_after` games it is replaced, since
    TextWorld keeps some memory of every game.
    """

    def __init__(self, watchdog: float, recycle_after: int, memoise: bool = True) -> None:
        self._options = [] if memoise else ["--plain"]
        self.watchdog = watchdog
        self.recycle_after = recycle_after
        self.seconds = 0.0
        """Time spent inside TextWorld, as the workers measured it."""
        self.versions: Mapping[str, str] = {}
        """Package versions as the last worker reported them."""
        self._child: Child | None = None
        self._words: IO[bytes] | None = None
        self._buffer = b""
        self._opened = 0

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if one runs."""
        return self._child.pid if self._child else None

    def open(self, content: Content, plan: bool = False) -> dict[str, Any]:
        """Load a game, once more on a fresh worker if that fails; its first state (see envs.alfworld.worker)."""
        if self._opened >= self.recycle_after:
            self.close()
        request = {"open": content, "plan": plan}
        try:
            answer = self._ask(request)
        except EnvironmentFailed:
            answer = self._ask(request)
        self._opened += 1
        return answer

    def step(self, command: str) -> dict[str, Any]:
        """One command; the next state."""
        if self._child is None:
            raise EnvironmentFailed("ALFWorld's worker is gone, and with it the game that it played.")
        return self._ask({"step": command})

    def close(self) -> None:
        """End the worker. Idempotent."""
        if self._child is not None:
            self._child.kill()
            self._child = None
        if self._words is not None:
            self._words.close()
            self._words = None
        self._buffer, self._opened = b"", 0

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
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

    def _start(self) -> None:
        require_installed()
        settings = {
            # Hash order must not decide in which order TextWorld enumerates things.
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])),
            # On import alfworld makes this folder if it is missing; the worker reads nothing from it.
            "ALFWORLD_DATA": tempfile.gettempdir(),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._child = Child(
            [sys.executable, "-m", "envs.alfworld.worker", *self._options],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        self.versions = self._answer()["ready"]

    def _send(self, request: bytes) -> None:
        """Write a request; a game is longer than a pipe holds, so that a stopped worker must not block us."""
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

    def _answer(self) -> dict[str, Any]:
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
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EnvironmentFailed(f"ALFWorld's worker reported {answer['error']}")
        return answer

    def _wait_for(self, descriptor: int, deadline: float, writing: bool = False) -> None:
        left = max(0.0, deadline - time.monotonic())
        read, write = ([], [descriptor]) if writing else ([descriptor], [])
        if not any(select.select(read, write, [], left)):
            raise self._failure(f"did not answer within {self.watchdog:g} seconds")

    def _failure(self, what: str) -> EnvironmentFailed:
        said = self._last_words()
        return EnvironmentFailed(f"ALFWorld's worker {what}." + (f" It last said: {said}" if said else ""))

    def _last_words(self) -> str:
        assert self._words is not None
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _TAIL))
        return " ".join(self._words.read().decode(errors="replace").split())
