"""One self-contained HTML page: no external resource, everything from worlds and models escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.figures.style import Drawn
from harness.render import clean, side
from harness.tables.base import NOTHING, Cell, Table, number

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent


def page(
    tables: Sequence[Table],
    figures: Sequence[Drawn] = (),
    *,
    title: str = "memtrial report",
    summary: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> str:
    """All readable tables and figures under the headings of their sections, figures as data URIs."""
    names = list(dict.fromkeys([t.section for t in tables if not t.data_only] + [f.section for f in figures]))
    sections = [
        {
            "id": f"section-{place}",
            "name": name,
            "tables": [table for table in tables if table.section == name and not table.data_only],
            "figures": [_inlined(drawn) for drawn in figures if drawn.section == name],
        }
        for place, name in enumerate(names, 1)
    ]
    return _render(title, sections, summary, warnings)


def table_page(table: Table) -> str:
    """One table as a page of its own."""
    section = {"id": "table", "name": "", "tables": [table], "figures": []}
    return _render(table.title, [section], (), ())


def _render(
    title: str, sections: Sequence[dict[str, Any]], summary: Sequence[str], warnings: Sequence[str]
) -> str:
    script = _own("page.js")
    # The policy allows this one script by its hash: markup that came in with a name could not run.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(
        _environment()
        .get_template("page.html.j2")
        .render(
            title=title,
            sections=sections,
            summary=summary,
            warnings=warnings,
            css=_own("page.css"),
            script=script,
            script_hash=f"sha256-{digest}",
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    made.filters["clean"] = clean
    made.globals.update(side=side, main=_main, spread=_spread)
    return made


def _own(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").strip()


def _main(cell: Cell) -> str:
    if cell.value is None:
        return cell.text or NOTHING
    return number(cell.value, cell.digits, signed=cell.signed)


def _spread(cell: Cell) -> str:
    return number(cell.sd or 0.0, cell.digits)


def _inlined(drawn: Drawn) -> dict[str, str]:
    data = base64.b64encode(drawn.png.read_bytes()).decode()
    return {"title": drawn.title, "caption": drawn.caption, "data": data}
