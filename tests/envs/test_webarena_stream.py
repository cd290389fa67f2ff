"""A whole stream on webarena_mini as a user starts it: the offline reader with a memory, on the real browser."""

from __future__ import annotations

from pathlib import Path

from harness.load import read
from tests.envs.webarena_case import require_browser
from tests.scripts.commands import command, run_folder


def test_a_reader_stream_with_memory_flat_runs_end_to_end(tmp_path: Path) -> None:
    require_browser()
    done = command(
        "run",
        "env=webarena_mini",
        "memory=flat",
        "embedder=hashing",
        "stream.tasks=[3,5]",
        f"results_dir={tmp_path}",
    )
    assert done.returncode == 0, done.stderr
    run = read(run_folder(tmp_path) / "run.sqlite")
    assert list(run.tasks["end"]) == ["finished"] * 2
    assert not run.tasks["failed"].any()
    # Both need no more than a link and a number beside a name that the task speaks of.
    assert [metrics["success"] for metrics in run.tasks["metrics"]] == [1.0, 1.0]
