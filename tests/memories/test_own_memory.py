"""The worked example of docs/own_memory.md is a whole memory: it passes the shared contract as it stands."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

import memories
from tests.memories import helpers, test_contract

TEXT = (Path(__file__).parents[2] / "docs" / "own_memory.md").read_text(encoding="utf-8")
CODE, CONFIG = (re.search(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)[1] for kind in ("python", "yaml"))  # type: ignore[index]


@pytest.fixture()
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "last_way.py").write_text(CODE)
    (tmp_path / "last_way.yaml").write_text(CONFIG)
    monkeypatch.setattr(memories, "__path__", [*memories.__path__, str(tmp_path)])
    monkeypatch.setattr(helpers, "CONFIGS", tmp_path)
    monkeypatch.delitem(sys.modules, "memories.last_way", raising=False)
    return "last_way"


def over_memories() -> list[str]:
    """The contract's tests that take nothing but a memory's name (and what hypothesis draws)."""
    found = []
    for name, test in vars(test_contract).items():
        inner = getattr(getattr(test, "hypothesis", None), "inner_test", test)
        if name.startswith("test_") and next(iter(inspect.signature(inner).parameters), "") == "name":
            found.append(name)
    return found


@pytest.mark.parametrize("name", over_memories())
def test_the_example_passes_the_contract(name: str, example: str) -> None:
    test = getattr(test_contract, name)
    parameters = list(inspect.signature(test).parameters)
    if parameters == ["name", "backbone"]:
        for backbone in (helpers.Rules, helpers.Anything):
            test(example, backbone)
    else:
        assert parameters == ["name"]
        test(example)


def test_the_example_is_about_sixty_lines_and_recalls_what_worked(example: str) -> None:
    assert 50 <= len(CODE.splitlines()) <= 75
    memory = helpers.build(example, helpers.Anything())
    memory.write(helpers.experience(1, "boil some water", "success"))
    memory.write(helpers.experience(2, "paint the wall", "failure"))
    recall = memory.begin(helpers.Task(3, "boil some tin"), "")
    assert "boil some water" in recall.text and [item.id for item in recall.items] == ["00001"]
    assert memory.begin(helpers.Task(4, "paint the wall"), "").text == ""
