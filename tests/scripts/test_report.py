"""`python -m scripts.report` as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.report import main
from tests.harness.synthetic import make_run, score


def _runs(folder: Path, categories: int = 2) -> Path:
    """Two runs; fewer than three categories make no radar, which takes a while to draw."""
    for memory in ("none", "flat"):
        rows = [score(10 * n, categories=[f"c{n % categories}"]) for n in range(6)]
        make_run(
            folder / "runs", rows, memory=memory, categories={f"c{n}": f"C{n}" for n in range(categories)}
        )
    return folder / "runs"


def test_prints_the_main_table_and_paths_that_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(_runs(tmp_path, categories=3))]) == 0
    printed = capsys.readouterr().out
    assert "Main results on ScienceWorld: deepseek-v3.2" in printed
    assert "25.00" in printed  # mean of 0, 10, ..., 50
    paths = [Path(line.removeprefix("page: ")) for line in printed.splitlines() if "/report/" in line]
    named = [path for path in paths if path.suffix in (".csv", ".tex", ".html", ".png", ".pdf")]
    assert {path.suffix for path in named} == {".csv", ".tex", ".html", ".png", ".pdf"}
    assert all(path.is_file() for path in named)
    assert (tmp_path / "report" / "index.html") in named


def test_the_same_runs_give_the_same_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _runs(tmp_path)
    for out in ("one", "two"):
        assert main([str(folder), "--out", str(tmp_path / out), "--paper", "evoweave"]) == 0
    capsys.readouterr()
    files = [path.relative_to(tmp_path / "one") for path in sorted((tmp_path / "one").rglob("*.*"))]
    assert len(files) > 20
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_no_page_names_a_place_on_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _runs(tmp_path)
    (folder / "bad").mkdir()
    (folder / "bad" / "run.sqlite").write_text("no database", encoding="utf-8")
    assert main([str(folder)]) == 0
    assert f"{folder}/bad/run.sqlite is left out" in capsys.readouterr().err
    for path in (tmp_path / "report").rglob("*.*"):
        assert str(tmp_path).encode() not in path.read_bytes(), path
    assert "bad/run.sqlite is left out" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "there is no folder"),
        (["."], "scripts.run"),
        (["runs", "--setting", "webarena"], "there are scienceworld"),
    ],
)
def test_what_a_user_can_cause_is_one_paragraph(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    if arguments[0] == "runs":
        _runs(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.strip().splitlines()) == 1
    assert captured.out == ""


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _runs(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main([str(folder), "--out", str(tmp_path / "file")]) == 1
    assert "--out" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from scripts.report import parser\n"
        "parser().format_help()\n"
        "heavy = {'pandas', 'numpy', 'matplotlib', 'scipy', 'jinja2', 'rich', 'litellm'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
