"""Documents that a person can read and edit, and that any text survives.

A document holds records, divided by lines `---`. A record holds fields:

    # a remark, skipped when read
    title: a short text
    count: 3
    tags:
      - one
      - two
    story:
        A text of several lines,
        each indented by four spaces.

Texts come back exactly as they were, whatever they hold: only `\\n` ends a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from memories.base import DocumentError

Value = str | int | float | Sequence[str]

_FIELD = re.compile(r"([a-z][a-z0-9_.]*):(?: (.*))?", re.DOTALL)
_TEXT, _ITEM, _DIVIDER = "    ", "  - ", "---"


def write_record(fields: Mapping[str, Value], remark: str = "") -> str:
    """One record as text. Field names match [a-z][a-z0-9_.]*."""
    lines = [f"# {remark}"] if remark else []
    for name, value in fields.items():
        if isinstance(value, (int, float)):
            lines.append(f"{name}: {value!r}")
        elif not isinstance(value, str):
            lines += [f"{name}:", *(_ITEM + _quoted(item) for item in value)]
        elif _plain(value):
            lines.append(f"{name}: {value}")
        else:
            lines += [f"{name}:", *(_TEXT + line for line in value.split("\n") if value)]
    return "\n".join(lines) + "\n"


def write_records(records: Iterable[Mapping[str, Value]], remark: str = "") -> str:
    """Several records as one document."""
    start = f"# {remark}\n" if remark else ""
    return start + f"{_DIVIDER}\n".join(write_record(record) for record in records)


class Record:
    """The fields of one record, as read; every access that fails names the document and the line."""

    def __init__(self, document: str, line: int) -> None:
        self.document = document
        self.line = line
        self._fields: dict[str, tuple[int, list[str], str]] = {}

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def __bool__(self) -> bool:
        return bool(self._fields)

    @property
    def fields(self) -> list[str]:
        """Names of the fields, in order."""
        return list(self._fields)

    def text(self, field: str) -> str:
        """A text."""
        _, lines, kind = self._field(field)
        if kind == "items":
            raise self.error(f"{field!r} is a list where a text is needed", field)
        return "\n".join(lines)

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts."""
        _, lines, kind = self._field(field)
        if lines and kind != "items":
            raise self.error(f"{field!r} must be a list of lines that start with '{_ITEM}'", field)
        return tuple(lines)

    def filled(self, field: str) -> str:
        """A text that says something."""
        if not (text := self.text(field)).strip():
            raise self.error(f"{field!r} is empty", field)
        return text

    def whole(self, field: str) -> int:
        """A whole number, 0 or more."""
        text = self.text(field)
        if not re.fullmatch(r"\+?[0-9]+", text):
            raise self.error(f"{field!r} is {text!r}, not a whole number of at least 0", field)
        return int(text)

    def number(self, field: str) -> float:
        """A number; whole ones come back as int."""
        try:
            text = self.text(field)
            return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
        except ValueError:
            raise self.error(f"{field!r} is {self.text(field)!r}, not a number", field) from None

    def choice(self, field: str, among: Sequence[str]) -> str:
        """A text that must be one of `among`."""
        found = self.text(field)
        if found not in among:
            raise self.error(f"{field!r} is {found!r}, not one of {', '.join(among)}", field)
        return found

    def error(self, what: str, field: str | None = None) -> DocumentError:
        """An error that names the place."""
        line = self._fields[field][0] if field in self._fields else self.line
        return DocumentError(f"{self.document}, line {line}: {what}")

    def _field(self, field: str) -> tuple[int, list[str], str]:
        if field not in self._fields:
            raise self.error(f"the field {field!r} is missing")
        return self._fields[field]


def read_records(document: str, text: str) -> list[Record]:
    """All records of a document named `document`. Raises DocumentError."""
    records = [Record(document, 1)]
    lines: list[str] | None = None
    skipped = kind = ""
    for number, line in enumerate(text.split("\n"), 1):
        record = records[-1]
        if lines is not None and line.startswith(_TEXT) and kind in ("", "text"):
            # An editor may have stripped the indentation of an empty line in between.
            lines += [*skipped.split("\n")[1:], line[len(_TEXT) :]]
            skipped, kind = "", "text"
            record._fields[record.fields[-1]] = (record._fields[record.fields[-1]][0], lines, kind)
        elif lines is not None and line.startswith(_ITEM) and kind in ("", "items"):
            lines.append(_unquoted(record, number, line[len(_ITEM) :]))
            skipped, kind = "", "items"
            record._fields[record.fields[-1]] = (record._fields[record.fields[-1]][0], lines, kind)
        elif line == "":
            skipped += "\n"
        elif line == _DIVIDER:
            records.append(Record(document, number + 1))
            lines = None
        elif line.startswith("#"):
            lines = None
        elif field := _FIELD.fullmatch(line):
            name, value = field[1], field[2]
            if name in record:
                raise DocumentError(f"{document}, line {number}: the field {name!r} stands here twice")
            lines, kind, skipped = [], "", ""
            if value is not None:
                lines.append(value)
                kind = "line"
            record._fields[name] = (number, lines, kind)
        else:
            shown = line if len(line) <= 60 else line[:57] + "..."
            raise DocumentError(
                f"{document}, line {number}: {shown!r} is neither `name: value`, an item that starts with "
                f"'{_ITEM}', a line of a text indented by 4 spaces, nor a remark that starts with #"
            )
    return [record for record in records if record]


def read_record(document: str, text: str) -> Record:
    """The only record of a document. Raises DocumentError."""
    records = read_records(document, text)
    if len(records) != 1:
        raise DocumentError(f"{document}: holds {len(records)} records, not one")
    return records[0]


def refuse_unknown(documents: Iterable[str], memory: str) -> None:
    """Raise DocumentError if documents are left that a memory does not know."""
    for name in sorted(documents):
        raise DocumentError(f"{name}: no document of the memory {memory!r}")


def _plain(text: str) -> bool:
    return bool(text) and "\n" not in text and text == text.strip()


def _quoted(item: str) -> str:
    return item if _plain(item) and not item.startswith('"') else json.dumps(item, ensure_ascii=False)


def _unquoted(record: Record, number: int, item: str) -> str:
    if not item.startswith('"'):
        return item
    try:
        return str(json.loads(item))
    except ValueError as error:
        raise DocumentError(
            f"{record.document}, line {number}: {item[:60]!r} is no quoted text: {error}"
        ) from None
