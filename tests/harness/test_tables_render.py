"""The forms of a table: terminal, text, CSV and LaTeX, with hostile text in every place."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.render import clean, csv_text, escape, latex, terminal, text
from harness.tables.base import NOT_SEPARABLE, Cell, Column, Table

HOSTILE = "[bold red]50% of $x_1 & {a}^2 ~ #1 \\input{x}\x1b[31m\x07\n<script>"


def _table(name: str = HOSTILE) -> Table:
    return Table(
        name="t",
        title=f"Title {name}",
        head=(f"Seeds: 0, 1 {name}",),
        columns=(Column("memory", "Memory"), Column("score", "Score", "high"), Column("tasks", "Tasks")),
        rows=(
            (Cell(name), Cell(value=2 / 3, sd=0.25, bold=True), Cell("90")),
            (Cell("flat"), Cell(value=0.5, underlined=True, marks=(NOT_SEPARABLE,)), Cell("45 of 90")),
            (Cell("none"), Cell(), Cell("")),
        ),
        notes=(f"A note {name}",),
    )


def _printed(table: Table, *, colour: bool = False) -> str:
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO(), force_terminal=colour)
    console.print(terminal(table))
    return console.export_text(styles=colour)


def test_text_marks_best_and_second_and_holds_head_and_notes() -> None:
    lines = text(_table("amem")).splitlines()
    assert lines[0] == "Title amem"
    assert lines[1] == "Seeds: 0, 1 amem"
    assert lines[5].split() == ["amem", "*0.67", "±", "0.25*", "90"]
    assert lines[6].split() == ["flat", "_0.50_", NOT_SEPARABLE, "45", "of", "90"]
    assert lines[7].split() == ["none", "–", "–"]
    assert lines[-1] == "A note amem"


def test_terminal_shows_markup_as_text_and_obeys_no_control_character() -> None:
    printed = _printed(_table())
    assert "[bold red]50%" in printed
    assert "\x1b" not in printed
    assert "\x07" not in printed


def test_terminal_sets_bold_and_underline() -> None:
    printed = _printed(_table("amem"), colour=True)
    assert re.search(r"\x1b\[1m0\.67 ± 0\.25", printed)
    assert re.search(r"\x1b\[4m0\.50", printed)


def test_terminal_puts_columns_that_do_not_fit_under_the_first_ones() -> None:
    columns = (Column("memory", "Memory"), *(Column(f"c{n}", f"Column {n}") for n in range(6)))
    row = (Cell("flat"), *(Cell(value=float(n), sd=1.0) for n in range(6)))
    from rich.console import Console

    console = Console(width=40, record=True, file=io.StringIO())
    console.print(terminal(Table("t", "T", (), columns, (row,)), 40))
    lines = [line.split() for line in console.export_text().splitlines() if line.strip().startswith("flat")]
    assert all(line[0] == "flat" for line in lines)
    assert [entry for line in lines for entry in line[1::3]] == [f"{n}.00" for n in range(6)]
    assert len(lines) == 3  # 4 and 11 characters with 3 between: two numbers in 40


def test_csv_holds_unrounded_numbers_spread_and_marks() -> None:
    lines = csv_text(_table('a,b "c"')).splitlines()
    assert [line[0] for line in lines[:3]] == ["#", "#", "#"]
    rows = list(csv.DictReader(lines[3:]))
    assert rows[0] == {
        "memory": 'a,b "c"',
        "score": repr(2 / 3),
        "score_sd": "0.25",
        "score_marks": "",
        "tasks": "90",
    }
    assert rows[1]["score_marks"] == NOT_SEPARABLE
    assert rows[2]["score"] == ""


def test_csv_is_read_by_pandas() -> None:
    import pandas

    frame = pandas.read_csv(io.StringIO(csv_text(_table("amem"))), comment="#")
    assert frame["score"].tolist()[:2] == pytest.approx([2 / 3, 0.5])


@given(st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_name_comes_back_from_csv(name: str) -> None:
    body = csv_text(_table(name)).split("\n", 3)[3]
    assert next(csv.DictReader(io.StringIO(body)))["memory"] == clean(name)


@given(st.text(alphabet='\\{}$&#%_^~ab<>[]*\n\x1b"|', max_size=30))
@settings(max_examples=80, deadline=None)
def test_latex_leaves_no_special_character_alone(name: str) -> None:
    made = escape(name)
    # What remains after the escapes are taken out is ordinary text.
    for command in (r"\\text[a-z]+\{\}", r"\\[{}$&#%_]"):
        made = re.sub(command, "", made)
    assert not set(made) & set("\\{}$&#%_^~\n\x1b")


def test_latex_is_a_table_with_as_many_cells_a_row() -> None:
    made = latex(_table("a & b"))
    body = made.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert [len(re.findall(r"(?<!\\)&", line)) for line in body] == [2, 2, 2]
    assert r"\textbf{0.67 $\pm$ 0.25}" in made
    assert r"\underline{0.50}\textsuperscript{$\approx$}" in made
    assert r"\begin{tabular}{lrr}" in made
    assert "Seeds: 0, 1 a \\& b." in made


def test_latex_keeps_a_leading_bracket_from_being_an_argument() -> None:
    assert "{[}x]" in latex(_table("[x]"))
