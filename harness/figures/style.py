"""What all figures share: one colour a memory, no display, the same file for the same data."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.render import clean
from harness.tables.panels import MEMORIES

COLOURS = (
    "#8c8c8c", "#b8860b", "#1f77b4", "#2ca02c", "#17becf", "#9467bd", "#ff7f0e",
    "#8c564b", "#bcbd22", "#e377c2", "#d62728", "#000000",
)  # fmt: skip
"""In the order of MEMORIES."""
_DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Drawn:
    """A figure that was written."""

    title: str
    caption: str
    """What it shows and under what conditions; printed beside it on the page."""
    pdf: Path
    png: Path
    section: str


def colour(memory: str, place: int = 0) -> str:
    """The colour of a memory; one that the papers do not have gets one by its place."""
    return COLOURS[MEMORIES.index(memory)] if memory in MEMORIES else COLOURS[(place + 4) % len(COLOURS)]


def dash(memories: Sequence[str], place: int) -> str:
    """The line style of a series: variants of one memory differ by it."""
    return _DASHES[list(memories[:place]).count(memories[place]) % len(_DASHES)]


def figure(width: float, height: float) -> Any:
    """A new figure in inches, drawn without a display and outside pyplot's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=(width, height))
    FigureCanvasAgg(made)
    return made


def save(drawn: Any, folder: Path, name: str, *, title: str, caption: Sequence[str], section: str) -> Drawn:
    """Write NAME.pdf and NAME.png; no dates, so that the same data gives the same bytes."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    pdf, png = folder / f"{name}.pdf", folder / f"{name}.png"
    # The extent is found once: asking each format for "tight" would draw everything twice.
    extent = drawn.get_tightbbox(drawn.canvas.get_renderer()).padded(0.1)
    # Type 42: fonts stay text in the PDF.
    with matplotlib.rc_context({"pdf.fonttype": 42}):
        drawn.savefig(pdf, bbox_inches=extent, metadata={"CreationDate": None, "Creator": "memtrial"})
        drawn.savefig(png, dpi=150, bbox_inches=extent, metadata={"Software": "memtrial"})
    return Drawn(
        title, " ".join(line if line.endswith(".") else line + "." for line in caption), pdf, png, section
    )


def literal(text: str, width: int = 0) -> str:
    """A label as it stands (matplotlib would read $...$ as mathematics), wrapped to `width` characters."""
    text = clean(text)
    wrapped = "\n".join(textwrap.wrap(text, width)) if width else text
    return wrapped.replace("$", r"\$")


def footer(drawn: Any, lines: Sequence[str], *, width: int = 100, y: float = 0.0) -> None:
    """Small print under a figure: the head that every table carries, and notes."""
    shown = "\n".join(literal(line, width) for line in lines)
    drawn.text(0.5, y, shown, ha="center", va="top", fontsize=6.5, color="#555555", linespacing=1.35)
