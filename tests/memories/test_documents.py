"""Documents survive any text, read leniently what an editor does to them, and name what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.base import DocumentError
from memories.documents import read_record, read_records, write_record, write_records

pieces = st.sampled_from(
    [
        "a",
        "\n",
        " ",
        "    ",
        "---",
        "#",
        ":",
        "-",
        "  - ",
        '"',
        "\r",
        "\t",
        "水",
        "\x85",
        "k: v",
        "\u2028",
        "\x00",
    ]
)
texts = st.lists(pieces, max_size=6).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(texts, st.lists(texts, max_size=3), st.integers(0), texts), min_size=1, max_size=3))
def test_any_text_comes_back(rows: list[tuple[str, list[str], int, str]]) -> None:
    document = write_records([{"a": a, "b": b, "n": n, "c": c} for a, b, n, c in rows], remark="of a test")
    found = [
        (r.text("a"), list(r.texts("b")), r.whole("n"), r.text("c")) for r in read_records("d", document)
    ]
    assert found == rows


def test_the_form_is_the_one_described() -> None:
    assert write_record(
        {"title": "Boil water", "tags": ["heat", " x"], "story": "one\n\ntwo", "n": 3}, "r"
    ) == ('# r\ntitle: Boil water\ntags:\n  - heat\n  - " x"\nstory:\n    one\n    \n    two\nn: 3\n')


def test_an_editor_may_strip_empty_lines_and_add_remarks() -> None:
    record = read_record("d", "# remark\n\nstory:\n    one\n\n    two\n\n\nn: 3")
    assert record.text("story") == "one\n\ntwo"
    assert record.whole("n") == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nnonsense\n", "d.txt, line 2: 'nonsense' is neither"),
        ("a: 1\na: 2\n", "d.txt, line 2: the field 'a' stands here twice"),
        ('a:\n  - "x\n', "d.txt, line 2: .* no quoted text"),
        ("b: 1\n", "d.txt, line 1: the field 'a' is missing"),
        ("b: 1\n\na: x\n", "d.txt, line 3: 'a' is 'x', not a whole number"),
        ("a: 1\n---\na: 2\n", "d.txt: holds 2 records"),
        ("", "d.txt: holds 0 records"),
    ],
)
def test_errors_name_document_and_line(text: str, told: str) -> None:
    with pytest.raises(DocumentError, match=told):
        read_record("d.txt", text).whole("a")
