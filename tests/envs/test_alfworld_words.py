"""Wordings, sentences and the command help: no engine."""

from __future__ import annotations

import pytest

from envs.alfworld.environment import AlfWorld, _natural
from envs.alfworld.logic import sentence_of, wording_of
from envs.alfworld.words import action_help, capabilities
from envs.base import SetupError


def grammar(put: str, sentence: str = "put a mug in desk.") -> str:
    return (
        f'grammar :: """\n {{"task": [{{"rhs": "Your task is to: {sentence}"}}]}}\n""";\n'
        f'action PutObject {{\n    template :: "{put}";\n    feedback :: "#PutObject.feedback#";\n}}\n'
    )


def test_the_wording_is_read_from_the_command_for_putting_down() -> None:
    assert wording_of(grammar("put {o} in/on {r}")) == "old"
    assert wording_of(grammar("move {o} to {r}")) == "new"
    with pytest.raises(SetupError, match=r"games/7 .*'drop'.*make alfworld-data"):
        wording_of(grammar("drop {o}"), "games/7")


def test_the_sentence_is_read_as_it_is() -> None:
    assert sentence_of(grammar("move {o} to {r}")) == "put a mug in desk."
    assert sentence_of(grammar("move {o} to {r}", r"put the \"best\" mug.")) == 'put the "best" mug.'
    with pytest.raises(SetupError, match=r"games/7 has no task sentence"):
        sentence_of("nothing", "games/7")


def test_the_help_follows_the_wording() -> None:
    old, new = action_help("old"), action_help("new")
    assert "put <object> in/on <place>" in old and "move <object>" not in old
    assert "move <object> to <place>" in new and "in/on" not in new
    for help_ in (old, new):
        for verb in ("go to", "open", "close", "take", "heat", "cool", "clean", "use", "slice", "examine"):
            assert f"\n- {verb} <" in help_


def test_capabilities_name_the_put_of_their_wording() -> None:
    old, new = ({c.id for c in capabilities(wording)} for wording in ("old", "new"))
    assert old - new == {"put"} and new - old == {"move"}
    assert len(old & new) == 12


def test_commands_sort_by_their_numbers() -> None:
    names = ["go to drawer 10", "go to drawer 2", "go to bed 1", "look", "go to drawer 1"]
    assert sorted(names, key=_natural) == [
        "go to bed 1",
        "go to drawer 1",
        "go to drawer 2",
        "go to drawer 10",
        "look",
    ]


def test_unknown_settings_and_wordings_are_named() -> None:
    with pytest.raises(SetupError, match=r"'alfworld_seen'.*alfworld and alfworld_mini"):
        AlfWorld("alfworld_seen")
    with pytest.raises(SetupError, match=r"env.wording=newest .*released, old, new"):
        AlfWorld(wording="newest")  # type: ignore[arg-type]


def test_a_missing_engine_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envs.alfworld.logic.importlib.util.find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"not installed.*make alfworld"):
        AlfWorld("alfworld_mini").tasks()
