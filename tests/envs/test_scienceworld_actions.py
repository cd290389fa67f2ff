"""What prompts say of ScienceWorld's actions; no engine needed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.scienceworld import actions

space = st.text(alphabet=" \t\n", min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("action", "verb"),
    [
        ("pick up metal pot", "pick up"),
        ("examine seed jar", "look at"),
        ("drop jug in inventory", "put down"),
        ("go to kitchen", "go"),
        ("wait1", "wait"),
        ("wait", "wait"),
        ("focus on adult dove in outside", "focus on"),
        ("pour cup containing red paint in jug", "pour"),
        ("look around", "look around"),
        ("0", ""),
        ("", ""),
    ],
)
def test_verb_is_the_templates(action: str, verb: str) -> None:
    assert actions.verb(action) == verb


def test_operations_are_distinct_sorted_verbs_without_answers_to_ambiguity() -> None:
    path = ["open door to hallway", "go to hallway", "open cupboard", "pick up cup", "0", "drop cup", "wait1"]
    assert actions.operations(path) == ("go", "open", "pick up", "put down", "wait")


@settings(max_examples=40)
@given(before=space, between=space, article=st.sampled_from(["", "the ", "a "]), upper=st.booleans())
def test_reset_task_is_recognised_however_it_is_written(
    before: str, between: str, article: str, upper: bool
) -> None:
    written = f"{before}reset{between}{article}task"
    assert actions.is_reset(written.upper() if upper else written)


@pytest.mark.parametrize("action", ["task", "reset", "open door", "look at tasks", "reset stopwatch"])
def test_other_actions_are_not_blocked(action: str) -> None:
    assert not actions.is_reset(action)


def test_every_template_is_in_the_help_and_a_capability() -> None:
    ids = [capability.id for capability in actions.capabilities()]
    assert ids[:4] == ["activate", "close", "connect", "deactivate"]
    assert {"pick_up", "look_around", "wait", "wait1"} <= set(ids)
    assert len(set(ids)) == len(actions.TEMPLATES) == 25
    for template in actions.TEMPLATES:
        assert f"- {template}: " in actions.HELP
    assert "reset" not in actions.HELP


def combination(action: str, objects: int) -> dict[str, object]:
    return {"action": action, "obj_ids": list(range(objects))}


def test_valid_actions_leave_out_pairs_and_reset_and_list_objects_once() -> None:
    text = actions.valid_actions_text(
        [
            combination("wait", 0),
            combination("reset task", 0),
            combination("pour cup in sink", 2),
            combination("open door", 1),
            combination("look at sink", 1),
            combination("focus on sink", 1),
            combination("look at cup", 1),
            combination("look in cup", 1),
            combination("look around", 0),
        ]
    )
    assert text.splitlines() == [
        "Valid commands with no or one object:",
        "look around",
        "look in cup",
        "open door",
        "wait",
        "Valid with each object in reach: look at OBJ, focus on OBJ, mix OBJ, disconnect OBJ",
        "Objects in reach: cup; sink",
    ]


def test_a_crowded_room_is_cut_evenly() -> None:
    crowd = [combination(f"open box {n:03}", 1) for n in range(150)]
    crowd += [combination(f"pick up box {n:03}", 1) for n in range(150)]
    crowd += [combination("wait", 0)]
    crowd += [combination(f"look at box {n:03}", 1) for n in range(130)]
    lines = actions.valid_actions_text(reversed(crowd)).splitlines()
    listed = lines[1 : lines.index("(201 more of the same verbs are not listed)")]
    # 100 places in turns over three verbs: `wait` has one action, the other two share the other 99.
    assert len(listed) == 100
    assert listed == sorted(listed)
    assert sum(line.startswith("open") for line in listed) == 50
    assert sum(line.startswith("pick up") for line in listed) == 49
    assert "wait" in listed
    assert lines[-1].endswith("box 099; and 30 more")
