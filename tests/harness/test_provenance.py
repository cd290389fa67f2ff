"""The revision that a run's record names."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness.provenance import revision


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True)


def test_a_changed_or_new_code_file_marks_the_revision(tmp_path: Path) -> None:
    room = tmp_path / "memories"
    room.mkdir()
    (room / "one.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    assert len(revision(room)) == 40
    (tmp_path / "notes.txt").write_text("no code")
    assert not revision(room).endswith("+")
    (room / "mine.py").write_text("")
    assert revision(room).endswith("+")
    (room / "mine.py").unlink()
    (room / "one.py").write_text("x = 1")
    assert revision(room).endswith("+")


def test_outside_a_checkout_it_is_unknown(tmp_path: Path) -> None:
    assert revision(tmp_path) == "unknown"
