"""The page: one file, nothing from outside, nothing from inside that could run."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.figures import figures
from harness.load import runs
from harness.page import page, table_page
from harness.tables import tables
from tests.harness.synthetic import make_run, score

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}\x1b[31m'


class Reader(HTMLParser):
    """Collects elements, checks that they close, and keeps the text that a reader sees."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page whose every name is hostile."""
    tmp_path = tmp_path_factory.mktemp("page")
    for memory in ("none", "flat"):
        rows = [
            score(
                10 * n,
                categories=[f"c{n % 3}"],
                counters={HOSTILE: 1.0},
                instruction=HOSTILE,
                scenario=HOSTILE,
            )
            for n in range(6)
        ]
        make_run(
            tmp_path / "runs",
            rows,
            memory=memory,
            memory_label=f"{memory}{HOSTILE}",
            backbone_label=HOSTILE,
            judge=HOSTILE,
            categories={f"c{n}": f"{HOSTILE}{n}" for n in range(3)},
            metrics=({"name": "score", "value": "score", "how": "mean", "label": HOSTILE},),
        )
    found = runs(tmp_path / "runs")
    drawn = figures(found, tmp_path / "figures")
    return page(tables(found, "evoweave"), drawn, summary=[HOSTILE], warnings=[HOSTILE], title=HOSTILE)


def test_nothing_from_worlds_or_models_becomes_markup(text: str) -> None:
    reader = Reader(text)
    assert [tag for tag, _ in reader.elements].count("script") == 1
    assert not any(name.startswith("on") for _, attributes in reader.elements for name in attributes)
    assert all((attributes.get("src") or "data:").startswith("data:") for _, attributes in reader.elements)
    assert "<script>alert(1)</script>" in reader.text
    assert "{{ 7*7 }}" in reader.text
    assert "\x1b" not in text


def test_the_page_needs_nothing_from_outside(text: str) -> None:
    reader = Reader(text)
    assert not any(tag in ("link", "iframe", "object", "base", "form") for tag, _ in reader.elements)
    links = [attributes["href"] for _, attributes in reader.elements if attributes.get("href")]
    assert all(link is not None and link.startswith("#section-") for link in links)
    style = "".join(re.findall(r"<style>(.*?)</style>", text, re.DOTALL))
    assert "url(" not in style
    assert "@import" not in style
    assert "http" not in style


def test_only_the_pages_own_script_may_run(text: str) -> None:
    (script,) = re.findall(r"<script>((?:(?!alert).)*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [
        attributes["content"]
        for tag, attributes in Reader(text).elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_figures_are_inside_and_long_data_is_not(tmp_path: Path) -> None:
    make_run(tmp_path / "runs", [score(n, categories=["a", "b", "c"]) for n in range(4)],
             categories={"a": "A", "b": "B", "c": "C"})  # fmt: skip
    found = runs(tmp_path / "runs")
    made, drawn = tables(found), figures(found, tmp_path / "figures")
    reader = Reader(page(made, drawn))
    images = [attributes["src"] for tag, attributes in reader.elements if tag == "img"]
    assert [base64.b64decode((image or "").split(",")[1]) for image in images] == [
        figure.png.read_bytes() for figure in drawn
    ]
    ids = {attributes.get("id") for _, attributes in reader.elements}
    assert {table.name for table in made if not table.data_only} <= ids
    assert not {table.name for table in made if table.data_only} & ids


def test_a_table_page_shows_numbers_spread_and_conditions(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path, [score(40 + 20 * seed)], memory="none", seed=seed)
        make_run(tmp_path, [score(10)], memory="flat", seed=seed)
    text = table_page(tables(runs(tmp_path))[0])
    reader = Reader(text)
    assert "<strong>50.00</strong>" in text
    assert "± 14.14" in reader.text  # 40, 60
    for line in ("Stream: release order, online", "Seeds: 0, 1", "Judge: default"):
        assert line in reader.text
