"""HTML for the small sites: plain functions that escape what they are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is HTML already."""


def esc(value: object) -> Markup:
    """A value as HTML text; markup stays as it is."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def tag(element: str, /, *content: object, **attributes: object) -> Markup:
    """An element. An attribute may end in `_` (class_, for_); False and None leave it out."""
    written = "".join(
        f" {key.rstrip('_')}" if value is True else f' {key.rstrip("_")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if element in ("input", "meta"):
        return Markup(f"<{element}{written}>")
    return Markup(f"<{element}{written}>{''.join(map(esc, content))}</{element}>")


def join(parts: Iterable[object]) -> Markup:
    """Markup one after the other."""
    return Markup("".join(map(esc, parts)))


def link(href: str, text: object) -> Markup:
    """A link."""
    return tag("a", text, href=href)


def items(parts: Iterable[object]) -> Markup:
    """An unordered list."""
    return tag("ul", *(tag("li", part) for part in parts))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """A table with a heading."""
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", cell) for cell in head))),
        tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows)),
    )


def field(label: str, name: str, value: str = "", kind: str = "text", title: str | None = None) -> Markup:
    """A labelled input; kind `textarea` for several lines."""
    mark = f"field-{name}"
    if kind == "textarea":
        box = tag("textarea", value, id=mark, name=name, title=title)
    else:
        box = tag("input", id=mark, name=name, value=value, type=kind, title=title)
    return tag("p", tag("label", label, for_=mark), box)


def choice(label: str, name: str, options: Sequence[tuple[str, str]], chosen: str = "") -> Markup:
    """A labelled menu of (value, text)."""
    mark = f"field-{name}"
    entries = (tag("option", text, value=value, selected=value == chosen) for value, text in options)
    return tag("p", tag("label", label, for_=mark), tag("select", *entries, id=mark, name=name))


def hidden(name: str, value: object) -> Markup:
    """A value that is sent along."""
    return tag("input", type="hidden", name=name, value=value)


def form(
    action: str, button: str, *fields: object, method: str = "post", class_: str | None = None
) -> Markup:
    """A form with one button."""
    return tag("form", *fields, tag("button", button), action=action, method=method, class_=class_)


def document(title: str, navigation: Iterable[object], *body: object) -> str:
    """A whole page."""
    return "<!doctype html>" + tag(
        "html",
        tag("head", tag("meta", charset="utf-8"), tag("title", title)),
        tag("body", tag("nav", *(tag("span", part) for part in navigation)), tag("main", *body)),
        lang="en",
    )
