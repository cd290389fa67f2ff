"""Typed markdown: one file a node, readable and editable by a person (STRATA, "Storage").

Front matter holds what is structure (each value is JSON, which is also YAML), sections hold what is text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from memories.base import DocumentError
from memories.strata.graph import ATOMIC_TYPES, KINDS, Bullet, BulletKind, Kind, Node
from memories.strata.tags import clean_tag

SECTIONS: Mapping[Kind, str] = {"atomic": "What it does", "workflow": "Procedure", "meta": "Principle"}
_APPLIES, _BULLETS = "When it applies", "Bullets"
_BULLET = re.compile(r"- (\w+) \(task (\d+)(?:, (\S+))?\): (.*)")
_ID = re.compile(r"[amw]\d{5,}-[a-z0-9-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_FRONT: Mapping[Kind, tuple[str, ...]] = {
    "atomic": ("type", "tags", "merged_from", "live", "sources"),
    "workflow": ("tags", "calls", "contrasts", "sources", "age", "age_at", "shown"),
    "meta": ("tags", "members", "sources"),
}
_LISTS = ("tags", "calls", "contrasts", "members", "merged_from", "sources")


def one_line(text: str) -> str:
    """`text` as one line of printable characters: what titles, conditions and bullets are stored as."""
    return " ".join(_printable(_BREAK.sub("\n", text)).split())


def many_lines(text: str) -> str:
    """`text` with plain line breaks, no control characters and no blank ends."""
    return _printable(_BREAK.sub("\n", text)).strip()


def _printable(text: str) -> str:
    return _CONTROL.sub("", text).encode("utf-8", "replace").decode()


def document_name(node: Node) -> str:
    """Where a node is stored: `workflow/w00012-melt-a-substance.md`."""
    return f"{node.kind}/{node.id}.md"


def write_node(node: Node) -> str:
    """A node as text."""
    front = [f"id: {json.dumps(node.id)}", f"kind: {json.dumps(node.kind)}"]
    front += [f"{key}: {json.dumps(getattr(node, key), ensure_ascii=False)}" for key in _FRONT[node.kind]]
    parts = ["---", *front, "---", "", f"# {node.title}", ""]
    parts += [f"## {_APPLIES}", "", node.applicability, ""]
    parts += [f"## {SECTIONS[node.kind]}", "", *(_escape(line) for line in node.content.split("\n")), ""]
    parts += [f"## {_BULLETS}", "", *(_write_bullet(bullet) for bullet in node.bullets)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _write_bullet(bullet: Bullet) -> str:
    about = f", {bullet.member}" if bullet.member else ""
    return f"- {bullet.kind} (task {bullet.task}{about}): {bullet.text}"


def _escape(line: str) -> str:
    return f"\\{line}" if re.match(r"\\*## ", line) else line


def _unescape(line: str) -> str:
    return line[1:] if re.match(r"\\+## ", line) else line


class _Lines:
    """A document's lines with a place for errors."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = text.split("\n")
        self.at = 0

    def error(self, what: str, at: int | None = None) -> DocumentError:
        return DocumentError(f"{self.name}, line {(self.at if at is None else at) + 1}: {what}")

    def take(self, what: str) -> str:
        if self.at >= len(self.lines):
            raise self.error(f"the document ends where {what} is expected")
        self.at += 1
        return self.lines[self.at - 1]


def read_node(name: str, text: str) -> Node:
    """The node of a document. Raises DocumentError with the document's name and line."""
    lines = _Lines(name, text)
    front, places = _front(lines)
    kind: Kind = front["kind"]
    title, sections = _sections(lines, kind)
    applies = one_line("\n".join(line for _, line in sections[_APPLIES]))
    content = "\n".join(_unescape(line) for _, line in sections[SECTIONS[kind]]).strip()
    bullets = tuple(_read_bullet(lines, at, line) for at, line in sections[_BULLETS] if line.strip())
    node = Node(front["id"], kind, title, applies, content, bullets=bullets)
    node = replace(node, **{key: front[key] for key in _FRONT[kind]})
    if document_name(node) != name:
        raise lines.error(f"a {kind} with the id {node.id!r} belongs in {document_name(node)}", places["id"])
    return node


def _front(lines: _Lines) -> tuple[dict[str, Any], dict[str, int]]:
    if lines.take("the line ---") != "---":
        raise lines.error("the document does not start with the line ---", 0)
    front: dict[str, Any] = {}
    places: dict[str, int] = {}
    while (line := lines.take("the line --- after the front matter")) != "---":
        at = lines.at - 1
        key, colon, value = line.partition(":")
        if not colon or key in front:
            raise lines.error(f"{line[:60]!r} is not a new `key: value`", at)
        try:
            front[key] = json.loads(value)
        except ValueError as error:
            raise lines.error(f"the value of {key!r} is not JSON: {error}", at) from None
        places[key] = at
    if front.get("kind") not in KINDS:
        raise lines.error(
            f"kind is {front.get('kind')!r}, not one of {', '.join(KINDS)}", places.get("kind", 0)
        )
    wanted = ("id", "kind", *_FRONT[front["kind"]])
    if missing := [key for key in wanted if key not in front]:
        raise lines.error(f"the front matter lacks {', '.join(missing)}", 0)
    for key in front:
        problem = (
            f"the key is not one of {', '.join(wanted)}" if key not in wanted else _problem(key, front[key])
        )
        if problem:
            raise lines.error(f"{key}: {problem}", places[key])
        if key in _LISTS:
            front[key] = tuple(front[key])
    return front, places


def _problem(key: str, value: Any) -> str:
    """What is wrong with a value of the front matter, or the empty text."""

    def every(test: Callable[[Any], bool]) -> bool:
        return isinstance(value, list) and all(map(test, value)) and len(set(value)) == len(value)

    def whole(item: Any) -> bool:
        return isinstance(item, int) and not isinstance(item, bool) and item >= 0

    tests: Mapping[str, tuple[Callable[[], bool], str]] = {
        "id": (lambda: isinstance(value, str) and _ID.fullmatch(value) is not None, "not an id"),
        "type": (lambda: value in ATOMIC_TYPES, f"not one of {', '.join(ATOMIC_TYPES)}"),
        "tags": (
            lambda: every(lambda tag: isinstance(tag, str) and clean_tag(tag) == tag),
            "not a list of tags app:NAME, op:NAME, obj:NAME in lower case, each once",
        ),
        "sources": (lambda: every(whole) and bool(value), "not a list of task numbers, each once"),
        "live": (lambda: isinstance(value, bool), "not true or false"),
        "age": (lambda: isinstance(value, float) or whole(value), "not a number"),
        "age_at": (lambda: whole(value), "not a whole number"),
        "shown": (lambda: whole(value), "not a whole number"),
    }
    ids = (
        lambda: every(lambda id: isinstance(id, str) and _ID.fullmatch(id) is not None),
        "not a list of ids, each once",
    )
    test, message = tests.get(key, ids if key in _LISTS else (lambda: True, ""))
    return "" if test() else f"{json.dumps(value)[:60]} is {message}"


def _sections(lines: _Lines, kind: Kind) -> tuple[str, dict[str, list[tuple[int, str]]]]:
    """The title, and the numbered lines of each section without blank ends."""
    line = lines.take("the title")
    while not line:
        line = lines.take("the title")
    if not line.startswith("# "):
        raise lines.error(f"{line[:60]!r} stands where the title `# ...` is expected", lines.at - 1)
    title = one_line(line[2:])
    wanted = (_APPLIES, SECTIONS[kind], _BULLETS)
    sections: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] | None = None
    for at in range(lines.at, len(lines.lines)):
        line = lines.lines[at]
        if line.startswith("## "):
            heading = line[3:].strip()
            if heading not in wanted or heading in sections:
                raise lines.error(
                    f"the section {heading!r} is repeated or not one of {', '.join(wanted)}", at
                )
            current = sections[heading] = []
        elif current is not None:
            current.append((at, line))
        elif line.strip():
            raise lines.error("text between the title and the first section", at)
    if missing := [heading for heading in wanted if heading not in sections]:
        raise lines.error(f"the section `## {missing[0]}` is missing", len(lines.lines) - 1)
    return title, sections


def _read_bullet(lines: _Lines, at: int, line: str) -> Bullet:
    match = _BULLET.fullmatch(line)
    if match is None or match[1] not in get_args(BulletKind):
        raise lines.error(
            f"{line[:60]!r} is not `- variant (task N): text` or `- pitfall (task N): text`", at
        )
    return Bullet(
        "variant" if match[1] == "variant" else "pitfall", one_line(match[4]), int(match[2]), match[3] or ""
    )
