"""BrowserGym seen from the harness: one worker process, asked over pipes, watched, and replaced when it broke."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from envs.base import EnvironmentFailed
from envs.child import Child
from envs.webarena.browser import browsers, nltk_data, require_ready
from envs.webarena.worker import Options

_ROOT = Path(__file__).resolve().parents[2]
_CHUNK = 1 << 16
_TAIL = 600
"""Bytes of the worker's last words that an error quotes."""


class Engine:
    """Asks a worker that is started on demand.

    A worker that dies, is silent for longer than the watchdog or reports an error is killed with its browser,
    and raises EnvironmentFailed; the next `open` starts a fresh one.
    """

    def __init__(self, options: Options, variables: Mapping[str, str], watchdog: float) -> None:
        self.options = options
        self.variables = variables
        """Added to the worker's environment: addresses, and the judge's key, which is in no file or argument."""
        self.watchdog = watchdog
        self.seconds = 0.0
        """Time spent inside BrowserGym and the browser, as the workers measured it."""
        self._child: Child | None = None
        self._words: IO[bytes] | None = None
        self._buffer = b""

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if one runs."""
        return self._child.pid if self._child else None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request (see envs.webarena.worker) and wait for its answer."""
        try:
            if self._child is None:
                if "open" not in request and "log_ins" not in request:
                    raise EnvironmentFailed("The browser is gone, and with it the page that was open.")
                self._start()
            assert self._child is not None and self._child.stdin is not None
            try:
                self._child.stdin.write(json.dumps(request).encode() + b"\n")
                self._child.stdin.flush()
            except OSError:
                raise self._failure("ended unexpectedly") from None
            answer = self._answer()
        except BaseException:
            # An answer that nobody waited for would be taken for the next one.
            self.close()
            raise
        self.seconds += answer["seconds"]
        return answer

    def close(self) -> None:
        """End the worker and its browser. Idempotent."""
        if self._child is not None:
            self._child.kill()
            self._child = None
        if self._words is not None:
            self._words.close()
            self._words = None
        self._buffer = b""

    def _start(self) -> None:
        require_ready()
        settings = {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])),
            "PLAYWRIGHT_BROWSERS_PATH": str(browsers()),
            "NLTK_DATA": str(nltk_data()),
            # transformers, which the benchmark's code imports, must not ask its hub for anything.
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **self.variables,
        }
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._child = Child(
            [sys.executable, "-m", "envs.webarena.worker", json.dumps(asdict(self.options))],
            env={**os.environ, **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
        )
        self._answer()

    def _answer(self) -> dict[str, Any]:
        """The worker's next line."""
        assert self._child is not None and self._child.stdout is not None
        source = self._child.stdout.fileno()
        deadline = time.monotonic() + self.watchdog
        pieces = [self._buffer]
        while b"\n" not in pieces[-1]:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([source], [], [], left)[0]:
                raise self._failure(f"did not answer within {self.watchdog:g} seconds")
            piece = os.read(source, _CHUNK)
            if not piece:
                raise self._failure("ended unexpectedly")
            pieces.append(piece)
        line, _, self._buffer = b"".join(pieces).partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EnvironmentFailed(f"WebArena's browser process reported {answer['error']}")
        return answer

    def _failure(self, what: str) -> EnvironmentFailed:
        assert self._words is not None
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _TAIL))
        said = " ".join(self._words.read().decode(errors="replace").split())
        return EnvironmentFailed(
            f"WebArena's browser process {what}." + (f" It last said: {said}" if said else "")
        )
