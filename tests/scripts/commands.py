"""Commands as a user types them, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m scripts.WORDS` and wait."""
    keys = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", f"scripts.{words[0]}", *words[1:]],
        cwd=ROOT,
        env={**keys, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def lamp(results: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A run on the lamp world, which needs no engine."""
    return command("run", "env=lamp", "embedder=hashing", f"results_dir={results}", *words, **environment)


def run_folder(results: Path) -> Path:
    """The folder of the only run below `results`."""
    (path,) = results.rglob("run.sqlite")
    return path.parent
