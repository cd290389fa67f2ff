"""A table as terminal text, plain text, CSV and LaTeX. (HTML: harness.page.)"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from harness.tables.base import Cell, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "–": "--",
    "≈": r"$\approx$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"\S{}",
    "◦": r"$\circ$",
}


def clean(text: str) -> str:
    """`text` on one line without control characters: a name from a world cannot steer a terminal."""
    return _CONTROL.sub("�", " ".join(text.split("\n")).replace("\t", " "))


def terminal(table: Table, width: int = 1000) -> RenderableType:
    """For rich: best bold, second underlined, no markup read from any text.

    Columns that do not fit `width` characters go on under the first ones, the first column repeated.
    """
    from rich import box
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    widths = [_width(table, place) for place in range(len(table.columns))]
    grids = []
    for places in _blocks(widths, width):
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for place in places:
            heading = Text(clean(table.columns[place].heading))
            grid.add_column(heading, justify=_side(table, place), width=widths[place], overflow="fold")  # type: ignore[arg-type]
        for row in table.rows:
            # A style of the whole Text would underline the padding too.
            cells = [row[place] for place in places]
            grid.add_row(
                *(Text().append(clean(cell.shown), _style(cell)).append(_marks(cell)) for cell in cells)
            )
        grids.append(grid)
    head = [Text(clean(line), style="dim") for line in table.head]
    notes = [Padding(Text(clean(line), style="dim"), (0, 0, 0, 2)) for line in table.notes]
    return Group(Text(clean(table.title), style="bold"), *head, *grids, *notes)


def _width(table: Table, place: int) -> int:
    """Characters that a column needs: its longest entry, or the longest word of its heading."""
    words = clean(table.columns[place].heading).split() or [""]
    entries = [clean(row[place].shown) + _marks(row[place]) for row in table.rows]
    return min(60, max(map(len, words + entries)))


def _blocks(widths: list[int], width: int) -> list[list[int]]:
    """Columns in blocks that fit, each beginning with the first column."""
    blocks, used = [[0]], widths[0] + 3
    for place in range(1, len(widths)):
        if used + widths[place] + 3 > width and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0] + 3
        blocks[-1].append(place)
        used += widths[place] + 3
    return blocks


def text(table: Table) -> str:
    """As plain text: *best*, _second_."""
    cells = [[clean(column.heading) for column in table.columns]]
    cells += [[_plain(cell) for cell in row] for row in table.rows]
    widths = [max(len(row[place]) for row in cells) for place in range(len(table.columns))]
    sides = [_side(table, place) for place in range(len(table.columns))]
    lines = [clean(table.title), *map(clean, table.head), ""]
    for number, row in enumerate(cells):
        padded = [
            value.ljust(width) if side == "left" else value.rjust(width)
            for value, width, side in zip(row, widths, sides, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *map(clean, table.notes)]).rstrip() + "\n"


def csv_text(table: Table) -> str:
    """As CSV: unrounded numbers; `KEY_sd` and `KEY_marks` where a column has any. Lines with # are the head."""
    out = io.StringIO()
    for line in (table.title, *table.head, *table.notes):
        out.write(f"# {clean(line)}\n")
    writer = csv.writer(out, lineterminator="\n")
    spread = [any(row[place].sd is not None for row in table.rows) for place in range(len(table.columns))]
    marked = [any(row[place].marks for row in table.rows) for place in range(len(table.columns))]
    header: list[str] = []
    for place, column in enumerate(table.columns):
        header += (
            [column.key] + [f"{column.key}_sd"] * spread[place] + [f"{column.key}_marks"] * marked[place]
        )
    writer.writerow(header)
    for row in table.rows:
        entries: list[str] = []
        for place, cell in enumerate(row):
            entries.append(clean(cell.text) if cell.value is None else repr(float(cell.value)))
            entries += ["" if cell.sd is None else repr(float(cell.sd))] * spread[place]
            entries += ["".join(cell.marks)] * marked[place]
        writer.writerow(entries)
    return out.getvalue()


def latex(table: Table) -> str:
    """As LaTeX (package booktabs): a table environment with the head and notes under it."""
    sides = "".join("l" if _side(table, place) == "left" else "r" for place in range(len(table.columns)))
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        " & ".join(escape(column.heading) for column in table.columns) + r" \\",
        r"\midrule",
        *(" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip\footnotesize",
        " ".join(escape(line if line.endswith(".") else line + ".") for line in (*table.head, *table.notes)),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(value: str) -> str:
    """`value` as LaTeX text."""
    return "".join(_LATEX.get(character, character) for character in clean(value))


def _latex_cell(cell: Cell) -> str:
    # [ and * after a row's \\ would be read as its argument.
    shown = re.sub(r"^([\[*])", r"{\1}", escape(cell.shown))
    if cell.bold:
        shown = rf"\textbf{{{shown}}}"
    elif cell.underlined:
        shown = rf"\underline{{{shown}}}"
    return shown + (rf"\textsuperscript{{{escape(''.join(cell.marks))}}}" if cell.marks else "")


def _plain(cell: Cell) -> str:
    shown = clean(cell.shown)
    shown = f"*{shown}*" if cell.bold else f"_{shown}_" if cell.underlined else shown
    return shown + _marks(cell)


def _marks(cell: Cell) -> str:
    return " " + "".join(cell.marks) if cell.marks else ""


def _style(cell: Cell) -> str:
    return "bold" if cell.bold else "underline" if cell.underlined else ""


def is_number(cell: Cell) -> bool:
    """Whether a cell is set to the right: a number, a count or nothing."""
    return cell.value is not None or not cell.text or bool(re.fullmatch(r"\d+( of \d+)?|unknown", cell.text))


def _side(table: Table, place: int) -> str:
    return "right" if table.rows and all(is_number(row[place]) for row in table.rows) else "left"


def side(table: Table, place: int) -> str:
    """left or right: where a column's entries stand."""
    return _side(table, place)
