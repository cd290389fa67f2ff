"""Runs that were answered by hand replay without network to the same record (tests/recorded/README.md)."""

from __future__ import annotations

import shlex
import sqlite3
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import require
from tests.harness import rig
from tests.recorded.keep import unpack
from tests.scripts.commands import ROOT, command, run_folder

RECORDED = sorted(path.parent for path in (ROOT / "tests" / "recorded").glob("*/words.txt"))
COMPARED = ("tasks", "steps", "changes", "messages", "calls")
ENGINES = {
    "scienceworld": (lambda: find_spec("scienceworld") is not None, "make setup"),
    "alfworld": (lambda: find_spec("textworld") is not None, "make alfworld"),
    "webarena": (lambda: find_spec("browsergym") is not None, "make webarena"),
    "appworld": (lambda: (ROOT / ".venv-appworld").is_dir(), "make appworld"),
}


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.name)
def test_a_recorded_run_replays_to_the_same_record(recorded: Path, tmp_path: Path) -> None:
    words = shlex.split((recorded / "words.txt").read_text())
    engine = next(word for word in words if word.startswith("env="))[4:].split("_")[0]
    found, remedy = ENGINES[engine]
    require(found(), engine, remedy)
    copy = unpack(recorded.name, tmp_path / "recorded.sqlite")
    replay = [f"recorded={copy}", "backbone.calls=replay", f"results_dir={tmp_path / 'runs'}"]
    done = command("run", *words, *replay)
    assert done.returncode == 0, done.stderr
    again, before = rig.record(run_folder(tmp_path / "runs"), COMPARED), rig.record_of(copy, COMPARED)
    for table in COMPARED:
        assert again[table] == before[table], table


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.name)
def test_a_recorded_run_is_small_and_knows_nothing_of_its_machine(recorded: Path, tmp_path: Path) -> None:
    assert (recorded / "run.sqlite.xz").stat().st_size < 2**19
    connection = sqlite3.connect(unpack(recorded.name, tmp_path / "recorded.sqlite"))
    config = connection.execute("SELECT value FROM meta WHERE key = 'config'").fetchone()[0]
    connection.close()
    assert "results_dir: results/runs" in config and "/tmp" not in config and "/home" not in config
