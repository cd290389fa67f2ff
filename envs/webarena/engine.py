"""BrowserGym seen from the harness: pages are opened and acted on in a process that owns the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from envs.base import EnvironmentFailed
from envs.webarena.browser import browsers, nltk_data, require_ready
from envs.webarena.worker import Options
from envs.worker import Worker


class Engine:
    """Asks a worker that is started on demand (see envs.worker.Worker)."""

    def __init__(self, options: Options, variables: Mapping[str, str], watchdog: float) -> None:
        self.variables = variables
        """Added to the worker's environment: addresses, and the judge's key, which is in no file or argument."""
        self.worker = Worker(
            "WebArena's browser process",
            "envs.webarena.worker",
            [json.dumps(asdict(options))],
            self._settings,
            watchdog,
        )

    @property
    def pid(self) -> int | None:
        """Process id of the worker, if one runs."""
        return self.worker.pid

    @property
    def seconds(self) -> float:
        """Time spent inside BrowserGym and the browser, as the workers measured it."""
        return self.worker.seconds

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request (see envs.webarena.worker) and wait for its answer."""
        if self.worker.pid is None and "open" not in request and "log_ins" not in request:
            raise EnvironmentFailed("The browser is gone, and with it the page that was open.")
        return self.worker.ask(request)

    def close(self) -> None:
        """End the worker and its browser. Idempotent."""
        self.worker.close()

    def _settings(self) -> Mapping[str, str]:
        require_ready()
        return {
            "PLAYWRIGHT_BROWSERS_PATH": str(browsers()),
            "NLTK_DATA": str(nltk_data()),
            # transformers, which the benchmark's code imports, must not ask its hub for anything.
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            **self.variables,
        }
