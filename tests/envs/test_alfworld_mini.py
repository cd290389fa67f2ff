"""The generated games: a function of the seed, possible by construction, proved by playing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.alfworld import AlfWorld, mini
from envs.alfworld.engine import Engine
from envs.alfworld.games import TYPES, Game, load, released
from envs.alfworld.rooms import OBJECTS, PLACES, ROOMS, fits
from envs.alfworld.words import Wording
from envs.alfworld.write import main as write
from envs.alfworld.write import write as write_game
from envs.base import SetupError
from tests.envs.alfworld_case import require_engine


def parts(game: Game) -> tuple[str, str]:
    """Classes of the object and of the place that a game's id names."""
    _, thing, _, place, _ = game.id.split("/")[0].rsplit("-", 4)
    return thing, place


def facts(game: Game, predicate: str) -> list[tuple[str, ...]]:
    """Arguments of all facts of a predicate in the problem's initial state."""
    start = game.problem.split("(:init")[1].split("(:goal")[0]
    return [tuple(found.split()) for found in re.findall(rf"\({predicate} ([^)]*)\)", start)]


@given(st.integers(0, 10**9))
@settings(max_examples=25, deadline=None)
def test_every_game_of_every_seed_is_a_task_that_its_room_allows(seed: int) -> None:
    games = mini.generate(seed, 12)
    assert mini.generate(seed, 12) == games
    assert len({game.id for game in games}) == len({game.problem for game in games}) == 12
    for six in (games[:6], games[6:]):
        assert {game.type for game in six} == set(TYPES)
    for game in games:
        thing, place = parts(game)
        kind_of = {name: kind.removesuffix("Type") for name, kind in facts(game, "objectType")}
        place_of = {name: kind.removesuffix("Type") for name, kind in facts(game, "receptacleType")}
        lies = {name: place_of[where] for name, where in facts(game, "inReceptacle")}
        wanted = [lies[name] for name, kind in kind_of.items() if kind == thing]
        assert len(wanted) >= (2 if game.type == "pick_two_obj_and_place" else 1)
        assert all(fits(lies[name], kind) for name, kind in kind_of.items() if kind in OBJECTS)
        assert thing.lower() in game.sentence.replace(".", "").split()
        if place == "DeskLamp":
            assert list(kind_of.values()).count("DeskLamp") == 1
        else:
            assert place not in wanted, "done before it began"
            assert (f"{place}Type", f"{thing}Type") in facts(game, "canContain")
        if treatment := mini.KINDS[game.type].treatment:
            able = {name for (name,) in facts(game, f"{treatment}able")}
            assert able >= {name for name, kind in kind_of.items() if kind == thing}
            assert mini.KINDS[game.type].appliance in place_of.values()


def test_the_rooms_are_furnished_once_for_a_seed() -> None:
    furniture: dict[str, set[str]] = {}
    for game in mini.generate(5, 24):
        scene = game.id.split("/")[0].rsplit("-", 1)[1]
        furniture.setdefault(scene, set()).add(str(sorted(facts(game, "receptacleType"))))
    assert len(furniture) > 1
    assert all(len(kinds) == 1 for kinds in furniture.values())


def test_the_vocabulary_is_closed() -> None:
    for room in ROOMS.values():
        assert set(room.places) <= set(PLACES) and set(room.objects) <= set(OBJECTS)
        assert set(room.lamp_on) <= set(room.places)
        for thing in room.objects:
            assert sum(fits(place, thing) for place in room.places) >= 2, thing


def test_the_committed_games() -> None:
    games = mini.games()
    assert len(games) == 60
    assert [sum(game.type == type_ for game in games) for type_ in TYPES] == [10] * 6
    assert {game.id.split("/")[0].rsplit("-", 1)[1] for game in games} == {"901", "902", "903", "904"}
    assert mini.operations("pick_heat_then_place_in_recep") == (
        *("GotoLocation", "HeatObject", "NoOp", "PickupObject", "PutObject"),
    )


def test_the_games_are_the_same_in_every_process() -> None:
    code = "from envs.alfworld import mini; from envs.alfworld.games import digest_of; print(digest_of(mini.games()))"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_games_that_are_not_the_proven_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = mini.manifest()
    rows[3]["sha256"] = "0" * 64
    other = tmp_path / "mini.json"
    other.write_text(json.dumps({"games": rows}))
    monkeypatch.setattr(mini, "MANIFEST", other)
    mini.games.cache_clear()
    try:
        with pytest.raises(SetupError, match=r"does not give the games listed.*env.data=FOLDER"):
            mini.games()
    finally:
        mini.games.cache_clear()


# -- on the engine ----------------------------------------------------------------------------------


def in_wording(command: str, wording: Wording) -> str:
    """A command of the manifest in a wording."""
    return re.sub(r"^move (.*) to (.*)$", r"put \1 in/on \2", command) if wording == "old" else command


def not_won(wording: Wording) -> list[str]:
    """Plays every walkthrough; what did not win, or won too early, or was not offered."""
    engine = Engine(watchdog=300.0, recycle_after=100)
    wrong = []
    try:
        for game, row in zip(mini.games(), mini.manifest(), strict=True):
            state = engine.open(load(game, wording))
            for command in row["walkthrough"]:
                said = in_wording(command, wording)
                if state["won"] or said not in state["actions"]:
                    wrong.append(f"{game.id}: {said}")
                state = engine.step(said)
            if not (state["won"] and state["done"]):
                wrong.append(game.id)
    finally:
        engine.close()
    return wrong


def test_the_walkthrough_of_each_game_wins_in_both_wordings() -> None:
    require_engine()
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(not_won, ("old", "new"))) == [[], []]


def test_written_games_are_proved_and_can_be_played(tmp_path: Path) -> None:
    require_engine()
    assert write(["mini", str(tmp_path), "--seed", "7", "--games", "3", "--wording", "old"]) == 0
    made = mini.generate(7, 3)
    games = released(tmp_path, count=None)
    assert {(g.id, g.type, g.sentence, g.operations) for g in games} == {
        (g.id, g.type, g.sentence, g.operations) for g in made
    }
    assert {game.wording for game in games} == {"old"}
    environment = AlfWorld("alfworld_mini", data=tmp_path)
    try:
        assert {task.instruction for task in environment.tasks()} == {game.sentence for game in made}
        path = games[0].path
        assert path is not None
        world = environment.open(environment.tasks()[0])
        for command in json.loads(path.read_text())["walkthrough"]:
            assert not world.observation.done
            world.step(command)
        assert world.observation.done and world.evaluate().metrics == {"success": 1.0}
    finally:
        environment.close()


def test_written_bytes_depend_on_the_game_only(tmp_path: Path) -> None:
    require_engine()
    game = mini.games()[0]
    first, second = (write_game(game, tmp_path / name, "new", ["look"]) for name in ("a", "b"))
    names = sorted(path.name for path in first.iterdir())
    assert names == ["game.tw-pddl", "initial_state.pddl", "traj_data.json"]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)


def test_alfworlds_own_loader_takes_the_written_games(tmp_path: Path) -> None:
    require_engine()
    for game in mini.games()[:6]:
        write_game(game, tmp_path, "new")
    code = (
        "import sys; from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv\n"
        "config = {'env': {'goal_desc_human_anns_prob': 0, 'task_types': [1, 2, 3, 4, 5, 6]},\n"
        "  'dataset': {'eval_ood_data_path': sys.argv[1], 'num_eval_games': -1}}\n"
        "print(len(AlfredTWEnv(config, 'eval_out_of_distribution').game_files), 'taken')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "json_2.1.1" / "valid_unseen")],
        env={**os.environ, "ALFWORLD_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "6 taken" in done.stdout
