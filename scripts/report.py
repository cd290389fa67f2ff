"""Tables, figures and one page from whatever runs exist.

python -m scripts.report results/runs [--paper evoweave|strata] [--out DIR] [--setting NAME ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.load import Run
    from harness.tables.base import Table


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report; print the main table and where everything is. Exit code 1 for a user's error."""
    options = parser().parse_args(arguments)
    from envs.base import SetupError
    from harness.load import NoRuns

    try:
        report(options.folder, options.out, options.paper, options.setting)
    except (NoRuns, SetupError) as error:
        print(f"memtrial: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"memtrial: the report cannot be written ({error}): choose another folder with --out",
            file=sys.stderr,
        )
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m scripts.report", description=(__doc__ or "").split("\n")[0]
    )
    made.add_argument("folder", nargs="?", type=Path, default=Path("results/runs"),
                      help="any folder with runs below it (default: results/runs)")  # fmt: skip
    made.add_argument(
        "--paper", choices=("evoweave", "strata"), help="show this paper's published values beside"
    )
    made.add_argument(
        "--out", type=Path, help="where to write (default: report, beside the folder of the runs)"
    )
    made.add_argument("--setting", nargs="+", metavar="NAME", help="only these settings")
    return made


def report(folder: Path, out: Path | None, paper: str | None, settings: Sequence[str] | None = None) -> Path:
    """Write every table, figure and the page below `out`; returns the page's path. Raises NoRuns, OSError."""
    from harness.figures import figures
    from harness.load import NoRuns, runs
    from harness.page import page
    from harness.tables import tables

    warnings: list[str] = []
    found = runs(folder, warnings.append)
    for line in warnings:
        print(f"memtrial: warning: {line}", file=sys.stderr)
    if settings:
        there = sorted({run.setting for run in found})
        found = [run for run in found if run.setting in settings]
        if not found:
            raise NoRuns(f"no run on {', '.join(settings)} below {folder}: there are {', '.join(there)}")
    out = out or folder.resolve().parent / "report"
    out.mkdir(parents=True, exist_ok=True)
    made = tables(found, paper)
    files = [path for table in made for path in write(table, out / "tables")]
    drawn = figures(found, out / "figures", paper)
    index = out / "index.html"
    # A page shown to others names files by where they lie below the runs' folder, not on this machine.
    shown = [line.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "") for line in warnings]
    text = page(made, drawn, summary=summary(found, paper), warnings=shown)
    index.write_text(text, encoding="utf-8")
    _print(made, files, [path for figure in drawn for path in (figure.pdf, figure.png)], index)
    return index


def write(table: Table, folder: Path) -> list[Path]:
    """One table as text, CSV, LaTeX and HTML (a table of data alone as CSV); returns the paths."""
    from harness.page import table_page
    from harness.render import csv_text, latex, text

    folder.mkdir(parents=True, exist_ok=True)
    forms = {"csv": csv_text(table)}
    if not table.data_only:
        forms |= {"txt": text(table), "tex": latex(table), "html": table_page(table)}
    paths = []
    for suffix, content in forms.items():
        path = folder / f"{table.name}.{suffix}"
        path.write_text(content, encoding="utf-8")
        paths.append(path)
    return paths


def summary(runs: Sequence[Run], paper: str | None) -> list[str]:
    """What the report is made from, for the top of the page."""
    unfinished = sum(not run.finished for run in runs)
    names = {kind: sorted({getattr(run, kind) for run in runs}) for kind in ("setting", "backbone_label")}
    lines = [
        f"{len(runs)} run{'s' * (len(runs) != 1)}"
        + (f", {unfinished} of them unfinished" if unfinished else ", all finished")
        + f"; settings: {', '.join(names['setting'])}; backbones: {', '.join(names['backbone_label'])}."
    ]  # fmt: skip
    if any(run.meta.get("reader") == "1" for run in runs):
        lines.append(
            "The offline reader is no language model: its scores test this harness, not a memory's worth."
        )
    if paper:
        lines.append(f"Compared with {'EvoWeave' if paper == 'evoweave' else 'STRATA'} as published.")
    return lines


def _print(tables: Sequence[Table], files: Sequence[Path], figures: Sequence[Path], index: Path) -> None:
    from rich.console import Console

    from harness.render import terminal, text

    console = Console()
    leading = [
        table for table in tables if table.section == "Main results" or table.section.startswith("Beside")
    ]
    for table in leading:
        # A pipe or file gets the plain form: no colours, no wrapping.
        if console.is_terminal:
            console.print(terminal(table, console.width))
        else:
            print(text(table))
    shown = {table.name for table in leading if table.name.startswith("main_")}
    for path in files:
        if path.stem in shown:
            print(path)
    others = [path for path in files if path.stem not in shown]
    if others:
        print(f"{others[0].parent} ({len(others)} more files of {len({p.stem for p in others})} tables)")
    for path in figures:
        print(path)
    print(f"page: {index}")


if __name__ == "__main__":
    raise SystemExit(main())
