"""Which released games count, and in which order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from envs.alfworld import AlfWorld
from envs.alfworld.games import COUNT, data_folder, digest_of, load, released, wordings_of
from envs.alfworld.logic import content, shipped
from envs.alfworld.write import main as write
from envs.base import SetupError
from tests.envs.alfworld_case import require_engine, unpack_released
from tests.envs.test_alfworld_words import grammar


def put_game(root: Path, name: str, solvable: bool = True, type_: str = "pick_and_place_simple") -> Path:
    folder = root / "json_2.1.1" / "valid_unseen" / name
    folder.mkdir(parents=True)
    plan = [{"discrete_action": {"action": a}} for a in ("GotoLocation", "PutObject", "GotoLocation")]
    (folder / "traj_data.json").write_text(json.dumps({"task_type": type_, "plan": {"high_pddl": plan}}))
    game = {
        "pddl_domain": "domain",
        "grammar": grammar("put {o} in/on {r}", f"do {name}."),
        "pddl_problem": "problem",
        "solvable": solvable,
    }
    (folder / "game.tw-pddl").write_text(json.dumps(game))
    return folder


def test_the_rule_of_what_counts(tmp_path: Path) -> None:
    put_game(tmp_path, "a/trial_1")
    put_game(tmp_path, "b/trial_1", solvable=False)
    put_game(tmp_path, "pick_and_place_with_movable_recep/trial_1")
    put_game(tmp_path, "c-AppleSliced/trial_1")
    put_game(tmp_path, "d/trial_1", type_="pick_and_place_with_movable")
    (put_game(tmp_path, "e/trial_1") / "game.tw-pddl").unlink()
    (game,) = released(tmp_path, count=None)
    assert (game.id, game.sentence, game.wording) == ("a/trial_1", "do a/trial_1.", "old")
    assert game.operations == ("GotoLocation", "PutObject")


def test_a_wrong_count_fails_with_the_command(tmp_path: Path) -> None:
    put_game(tmp_path, "a/trial_1")
    with pytest.raises(SetupError, match=r"holds 1 games .*has 134.*make alfworld-data"):
        released(tmp_path)


def test_a_missing_folder_names_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"nowhere/json_2.1.1/valid_unseen.*ALFWORLD_DATA.*alfworld_mini"):
        released(tmp_path / "nowhere")


@pytest.mark.parametrize("damage", ['{"pddl_domain": "', "[]"])
def test_damaged_files_are_named(tmp_path: Path, damage: str) -> None:
    folder = put_game(tmp_path, "a/trial_1")
    (folder / "game.tw-pddl").write_text(damage)
    with pytest.raises(SetupError, match=r"a/trial_1/game.tw-pddl is damaged"):
        released(tmp_path)


def test_the_folder_comes_from_the_option_then_the_variable_then_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", "/data/alf")
    assert data_folder("/mine") == Path("/mine")
    assert data_folder(None) == Path("/data/alf")
    monkeypatch.delenv("ALFWORLD_DATA")
    assert data_folder(None) == Path.home() / ".cache" / "alfworld"


def test_the_digest_depends_on_order_and_content(tmp_path: Path) -> None:
    for name in ("a/trial_1", "b/trial_1"):
        put_game(tmp_path, name)
    games = released(tmp_path, count=None)
    assert digest_of(games) != digest_of(games[::-1])
    path = games[0].path
    assert path is not None
    path.write_text(path.read_text() + " ")
    assert digest_of(released(tmp_path, count=None)) != digest_of(games)


# -- the real files ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_released(tmp_path_factory.mktemp("alfworld"))


def test_the_real_games_by_type(real: Path) -> None:
    games = released(real)
    assert len(games) == COUNT == 134
    assert Counter(game.type for game in games) == {
        "pick_and_place_simple": 24,
        "pick_clean_then_place_in_recep": 31,
        "pick_heat_then_place_in_recep": 23,
        "pick_cool_then_place_in_recep": 21,
        "look_at_obj_in_light": 18,
        "pick_two_obj_and_place": 17,
    }
    assert all(game.id.startswith(game.type) for game in games)
    assert wordings_of(games) == "old"


def test_the_order_is_that_of_the_official_environment(real: Path) -> None:
    """TextWorld's own gym environment, given the sorted files, plays them in this order."""
    require_engine()
    from textworld.gym.envs.textworld_batch import TextworldBatchGymEnv

    files = sorted(str(path) for path in real.rglob("game.tw-pddl"))
    official = TextworldBatchGymEnv(files)
    order = [next(official._gamefiles_iterator) for _ in files]
    assert [str(game.path) for game in released(real)] == order


def test_the_operation_proxy_gives_the_published_overlap(real: Path) -> None:
    """EvoWeave, section 4 and appendix G: mean pairwise Jaccard within a type, types weighted equally: 96.5 %."""
    by_type = defaultdict(list)
    for game in released(real):
        by_type[game.type].append(set(game.operations))
    means = []
    for sets in by_type.values():
        pairs = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
        means.append(sum(pairs) / len(pairs))
    assert round(100 * sum(means) / len(means), 1) == 96.5


def test_the_shipped_logic_put_back_into_the_old_wording_is_the_released_one(real: Path) -> None:
    require_engine()
    for game in released(real):
        assert load(game, "old")["grammar"] == content("", game.sentence, "old")["grammar"]
    domain, _ = shipped("old")
    assert "action help" not in domain
    # Within its actions the released domain differs in one line only: it also knew a sink without basin.
    ours, theirs = (
        [" ".join(line.split()) for line in text.splitlines() if line.strip()]
        for text in (domain, load(released(real)[0], "old")["pddl_domain"])
    )
    assert [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]] == [
        (";(receptacleType ?r SinkType)", "(receptacleType ?r SinkType)")
    ]


def test_converting_writes_the_same_tasks_in_the_new_wording(real: Path, tmp_path: Path) -> None:
    require_engine()
    assert write(["convert", str(real), str(tmp_path)]) == 0
    before, after = released(real), released(tmp_path)
    assert [(g.id, g.sentence, g.operations) for g in after] == [
        (g.id, g.sentence, g.operations) for g in before
    ]
    assert wordings_of(after) == "new"
    assert load(after[5], "new") == load(before[5], "new") != load(before[5], "old")
    assert load(after[5], "new")["pddl_problem"] == load(before[5], "old")["pddl_problem"]


def test_converting_onto_itself_is_refused(real: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write(["convert", str(real), str(real)]) == 1
    assert "give another folder" in capsys.readouterr().err
    assert wordings_of(released(real)) == "old"


@pytest.mark.parametrize("wording", ["old", "new"])
def test_a_real_game_is_played_to_the_end(real: Path, wording: str) -> None:
    """The first game in release order, by hand: look at bowl under the desklamp."""
    require_engine()
    environment = AlfWorld(data=real, wording="released" if wording == "old" else "new")
    try:
        task = environment.tasks()[0]
        assert task.instruction == "look at bowl under the desklamp."
        world = environment.open(task)
        assert world.observation.text.startswith("You are in the middle of a room.")
        assert "Your task" not in world.observation.text
        arrival = world.step("go to desk 1").text
        assert arrival.startswith("You arrive at loc " if wording == "old" else "You arrive at desk 1.")
        others = ("desk 2", "shelf 1", "shelf 2")
        seen = {"desk 1": arrival} | {place: world.step(f"go to {place}").text for place in others}
        bowl_at = next(place for place, text in seen.items() if "a bowl 1" in text)
        lamp_at = next(place for place, text in seen.items() if "a desklamp 1" in text)
        world.step(f"go to {bowl_at}")
        assert world.step(f"take bowl 1 from {bowl_at}").text == f"You pick up the bowl 1 from the {bowl_at}."
        world.step(f"go to {lamp_at}")
        assert world.evaluate().metrics == {"success": 0.0}
        assert world.step("use desklamp 1").done
        assert world.evaluate().metrics == {"success": 1.0}
        found = environment.provenance()
        assert (found["wording released"], found["wording played"]) == ("old", wording)
    finally:
        environment.close()
