"""Runs are found, read while being written, and what is no run is named and left out."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from harness.load import NoRuns, connect, read, runs
from tests.harness.synthetic import Row, make_run, score


def test_runs_below_any_folder_in_a_fixed_order(tmp_path: Path) -> None:
    for memory in ("flat", "none"):
        for seed in (1, 0):
            make_run(tmp_path / "sweep", [score(1), score(2)], memory=memory, seed=seed)
    found = runs(tmp_path)
    assert [(run.memory, run.seed) for run in found] == [("flat", 0), ("flat", 1), ("none", 0), ("none", 1)]
    assert all(run.finished for run in found)
    assert found[0].tasks["metrics"].tolist() == [
        {"success": 0.0, "score": 1},
        {"success": 0.0, "score": 2},
    ]


def test_an_unfinished_run_is_shown_as_such(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)], total=90)
    (run,) = runs(tmp_path)
    assert (len(run.tasks), run.total, run.finished) == (1, 90, False)


def test_a_run_that_has_not_begun_is_no_error(tmp_path: Path) -> None:
    make_run(tmp_path, [], total=90)
    (run,) = runs(tmp_path)
    assert len(run.tasks) == 0
    assert not run.finished


def test_what_is_no_run_is_named_in_a_warning(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)])
    for name in ("garbage", "foreign", "half", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "garbage" / "run.sqlite").write_text("this is no database", encoding="utf-8")
    with sqlite3.connect(tmp_path / "foreign" / "run.sqlite") as foreign:
        foreign.execute("CREATE TABLE other (x)")
    whole = make_run(tmp_path / "source", [score(n) for n in range(300)], memory="flat")
    kept = whole.read_bytes()
    shutil.rmtree(tmp_path / "source")
    (tmp_path / "half" / "run.sqlite").write_bytes(kept[: len(kept) // 3])
    broken = make_run(tmp_path / "broken", [score(1)], memory="amem")
    with sqlite3.connect(broken) as connection:
        connection.execute("UPDATE meta SET value = '[' WHERE key = 'metrics'")
    warnings: list[str] = []
    found = runs(tmp_path, warnings.append)
    assert [run.memory for run in found] == ["none"]
    assert len(warnings) == 4
    for name in ("garbage", "foreign", "half", "broken"):
        assert sum(f"/{name}/" in line for line in warnings) == 1, name


def test_missing_meta_is_named(tmp_path: Path) -> None:
    path = make_run(tmp_path, [score(1)])
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM meta WHERE key IN ('seed', 'memory')")
    with pytest.raises(ValueError, match="memory, seed"):
        read(path)


def test_no_folder_and_no_run_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoRuns, match=r"no folder .*absent"):
        runs(tmp_path / "absent")
    with pytest.raises(NoRuns, match=r"scripts\.run"):
        runs(tmp_path)


def test_a_copy_of_a_run_counts_once(tmp_path: Path) -> None:
    make_run(tmp_path / "a", [score(1)], total=2)
    make_run(tmp_path / "b", [score(1), score(2)])
    warnings: list[str] = []
    (run,) = runs(tmp_path, warnings.append)
    assert len(run.tasks) == 2
    assert len(warnings) == 1
    assert "same run" in warnings[0]


def test_reading_while_a_writer_holds_a_transaction(tmp_path: Path) -> None:
    path = make_run(tmp_path, [score(1), score(2)], total=3)
    writer = sqlite3.connect(path, isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM tasks WHERE number = 2")
        (run,) = runs(tmp_path)
        assert len(run.tasks) == 2
        writer.execute("COMMIT")
        assert len(read(path).tasks) == 1
    finally:
        writer.close()


def test_reading_changes_nothing(tmp_path: Path) -> None:
    path = make_run(tmp_path, [score(1)])
    before = path.read_bytes()
    (run,) = runs(tmp_path)
    assert len(run.calls) == len(run.steps) == len(run.changes) == 0
    connection = connect(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM tasks")
    connection.close()
    assert path.read_bytes() == before


def test_folders_with_characters_that_mean_something_in_an_address(tmp_path: Path) -> None:
    make_run(tmp_path / "50% of #1?", [score(1)])
    assert len(runs(tmp_path)) == 1


def test_the_offline_reader_is_always_marked(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)], reader="1", backbone="reader", backbone_label="Reader")
    (run,) = runs(tmp_path)
    assert run.backbone_label == "offline reader (no language model)"


def test_served_names_come_from_acting_calls(tmp_path: Path) -> None:
    calls = [{"role": "act", "served": "m-2026"}, {"role": "judge", "served": "other"}]
    make_run(tmp_path, [Row({"success": 1.0, "score": 1.0}, calls=calls)])
    (run,) = runs(tmp_path)
    assert run.served == "m-2026"
