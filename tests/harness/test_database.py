"""Opening a record: damaged, foreign, locked, on a full disk, on a network file system."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from envs.base import SetupError
from harness import database
from harness.journal import Journal, changed, changes_between
from memories.none import NoMemory
from tests.harness import rig


def test_a_damaged_record_is_named_and_left_alone(tmp_path: Path) -> None:
    rig.run(tmp_path, NoMemory)
    path = tmp_path / "run.sqlite"
    damaged = b"this is no database" * 100
    path.write_bytes(damaged)
    with pytest.raises(SetupError, match=r"run\.sqlite is not a record of a run.*Move it away"):
        Journal(tmp_path, rig.META)
    assert path.read_bytes() == damaged


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "run.sqlite")
    other.execute("CREATE TABLE songs (title)")
    other.commit()
    other.close()
    with pytest.raises(SetupError, match="not a record of a run"):
        Journal(tmp_path, rig.META)


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path, rig.META).close()
    connection = sqlite3.connect(tmp_path / "run.sqlite")
    connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    connection.commit()
    connection.close()
    with pytest.raises(SetupError, match="schema version 99; this memtrial reads version 1"):
        Journal(tmp_path, rig.META)


def test_the_record_of_another_run_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path, rig.META).close()
    with pytest.raises(SetupError, match="its seed is '0', not '1'"):
        Journal(tmp_path, {**rig.META, "seed": "1"})


def test_a_run_in_use_is_refused_until_it_is_let_go(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, time\nfrom pathlib import Path\nfrom harness.lock import RunLock\n"
        "lock = RunLock(Path(sys.argv[1]))\nprint('held', flush=True)\ntime.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with pytest.raises(SetupError, match=f"in use by process {holder.pid} on "):
        Journal(tmp_path, rig.META)
    holder.kill()
    holder.wait()
    Journal(tmp_path, rig.META).close()


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match=r"file/run cannot be written .*results_dir="):
        Journal(tmp_path / "file" / "run", rig.META)


def test_a_full_disk_loses_nothing_that_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.run(tmp_path / "whole", NoMemory)
    whole = sqlite3.connect(tmp_path / "whole" / "run.sqlite")
    connect, pages = database.connect, whole.execute("PRAGMA page_count").fetchone()[0] - 3
    whole.close()

    def small(path: Path, **options: bool) -> sqlite3.Connection:
        connection = connect(path, **options)
        connection.execute(f"PRAGMA max_page_count={pages}")  # SQLite's own "database or disk is full"
        return connection

    monkeypatch.setattr(database, "connect", small)
    with pytest.raises(SetupError, match=r"disk is full.*start the same command again"):
        rig.run(tmp_path / "cut", NoMemory)
    assert 0 < len(rig.record(tmp_path / "cut")["tasks"]) < 6
    pages = 1_000_000
    rig.run(tmp_path / "cut", NoMemory)
    assert rig.record(tmp_path / "cut") == rig.record(tmp_path / "whole")


def test_a_start_killed_while_making_the_record_begins_afresh(tmp_path: Path) -> None:
    (tmp_path / "run.new").write_bytes(b"half a file")
    Journal(tmp_path, rig.META).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.lock", "run.sqlite"]


def test_network_file_systems_are_told_by_their_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("disk / ext4 rw 0 0\nserver:/x /mnt/far nfs4 rw 0 0\ndisk2 /mnt/far/near ext4 rw 0 0\n")
    assert database.on_network(Path("/mnt/far/run.sqlite"), mounts)
    assert not database.on_network(Path("/mnt/far/near/run.sqlite"), mounts)
    assert not database.on_network(Path("/mnt/farther/run.sqlite"), mounts)
    assert not database.on_network(Path("/home/run.sqlite"), tmp_path / "no such file")


def test_what_changed_between_two_documents_sets() -> None:
    assert changes_between({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "20", "d": "4"}) == {
        "b": "20",
        "c": None,
        "d": "4",
    }


def test_what_changed_between_two_sessions_is_told() -> None:
    before = ("abc", '{"numpy": "1", "gone": "2"}', '{"java": "21"}')
    assert changed(before, "abd", {"numpy": "1", "new": "3"}, {"java": "25"}) == [
        "code revision changed: abc -> abd",
        "package gone changed: 2 -> absent",
        "package new changed: absent -> 3",
        "engine java changed: 21 -> 25",
    ]
    assert changed(before, "abc", {"numpy": "1", "gone": "2"}, {"java": "21"}) == []


def test_the_memory_can_be_seen_as_it_was_after_any_task(tmp_path: Path) -> None:
    from memories.flat import Flat

    rig.run(tmp_path, lambda resources: Flat(resources))
    journal = Journal(tmp_path, rig.META)
    sizes = [sum(name.startswith("episodes") for name in journal.documents(at)) for at in range(7)]
    assert sizes == [0, 1, 2, 3, 4, 5, 6]
    assert journal.documents() == journal.documents(6)
    journal.close()
