"""Where else a run's figures go. The journal is the record; a logger only mirrors it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from envs.base import SetupError
from harness.records import TaskRecord


class NoLogger:
    """`logger=none`."""

    def start(self, meta: Mapping[str, str], folder: Path) -> None:
        """Nothing."""

    def task(self, record: TaskRecord) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class WandbLogger:
    """`logger=wandb`: one Weights & Biases run a run, offline unless told otherwise."""

    def __init__(
        self, project: str = "memtrial", mode: Literal["online", "offline", "disabled"] = "offline"
    ) -> None:
        self.project, self.mode = project, mode
        self._run: Any = None

    def start(self, meta: Mapping[str, str], folder: Path) -> None:
        """Begin. Raises SetupError if wandb is not installed."""
        try:
            import wandb
        except ImportError:
            raise SetupError("logger=wandb needs the package wandb: pip install -e '.[wandb]'") from None
        name = "/".join(meta[key] for key in ("setting", "backbone", "memory", "variant", "seed"))
        self._run = wandb.init(
            project=self.project,
            mode=self.mode,
            dir=str(folder),
            name=name,
            config={key: meta[key] for key in ("setting", "backbone", "memory", "variant", "seed", "stream")},
        )

    def task(self, record: TaskRecord) -> None:
        """Log one task's figures at its position."""
        figures: dict[str, float] = {f"metric/{key}": value for key, value in record.metrics.items()}
        figures |= {f"memory/{key}": value for key, value in record.counters.items()}
        figures |= {
            "steps": record.acted,
            "seconds": record.seconds,
            "injected_tokens": record.injected_tokens,
        }
        self._run.log(figures, step=record.position)

    def close(self) -> None:
        """Finish the run."""
        if self._run is not None:
            self._run.finish()
