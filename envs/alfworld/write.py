"""Games as files in the released folder layout, for any ALFWorld harness.

    python -m envs.alfworld.write convert FROM TO     # released games, all in the new wording
    python -m envs.alfworld.write mini TO --seed 7    # games of our generator, each proved by the planner
    python -m envs.alfworld.write manifest            # prove the committed games again and list them

The bytes written depend on the arguments and the installed alfworld only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envs.alfworld import mini
from envs.alfworld.engine import Engine
from envs.alfworld.games import LAYOUT, SPLIT, Game, load, released
from envs.alfworld.words import WORDINGS, Wording
from envs.base import EnvironmentFailed, SetupError


def write(game: Game, folder: Path, wording: Wording, plan: Sequence[str] | None = None) -> Path:
    """Write one game under `folder` and give its folder. The bytes depend on the arguments only."""
    place = folder / LAYOUT / SPLIT / game.id
    place.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {**load(game, wording), "solvable": True}
    if plan is not None:
        data["walkthrough"] = list(plan)
    (place / "game.tw-pddl").write_text(json.dumps(data), encoding="utf-8")
    if game.path is not None:
        (place / "traj_data.json").write_bytes((game.path.parent / "traj_data.json").read_bytes())
    else:
        (place / "initial_state.pddl").write_text(game.problem, encoding="utf-8")
        (place / "traj_data.json").write_text(json.dumps(_demonstration(game), indent=1), encoding="utf-8")
    return place


def _demonstration(game: Game) -> dict[str, Any]:
    """What readers of the layout look up in a demonstration: type, parameters, high-level actions."""
    task, trial = game.id.split("/")
    _, thing, _, place, scene = task.rsplit("-", 4)
    in_light = game.type == "look_at_obj_in_light"
    return {
        "task_id": trial,
        "task_type": game.type,
        "scene": {"scene_num": int(scene), "floor_plan": f"FloorPlan{scene}"},
        "pddl_params": {
            "object_target": thing,
            "parent_target": "" if in_light else place,
            "toggle_target": place if in_light else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "plan": {"high_pddl": [{"discrete_action": {"action": a, "args": []}} for a in game.operations]},
        "turk_annotations": {"anns": [{"task_desc": game.sentence, "high_descs": []}]},
    }


def prove(engine: Engine, game: Game, wording: Wording = "new") -> list[str]:
    """The planner's commands that win `game`. Raises EnvironmentFailed if there are none or they do not win."""
    state = engine.open(load(game, wording), plan=True)
    plan: list[str] = state["plan"]
    for command in plan:
        state = engine.step(command)
    if not state["won"]:
        raise EnvironmentFailed(f"{game.id} is not solvable: the planner's {plan} does not win.")
    return plan


def proofs(games: Sequence[Game], wording: Wording) -> list[list[str]]:
    """Prove all of `games`, with progress on stderr; about 2 seconds each."""
    engine = Engine(watchdog=300.0, recycle_after=100)
    found = []
    try:
        for game in games:
            found.append(prove(engine, game, wording))
            print(f"\r{len(found)} of {len(games)} games proved", end="", file=sys.stderr, flush=True)
    finally:
        print(file=sys.stderr)
        engine.close()
    return found


def _convert(source: Path, target: Path) -> str:
    games = released(source, count=None)
    if target.resolve() == source.resolve():
        raise SetupError(f"{target} holds the games to convert; give another folder to write to.")
    for game in games:
        write(game, target, "new")
    return f"{len(games)} games in the new wording in {target}"


def _mini(target: Path, seed: int, count: int, wording: Wording) -> str:
    games = mini.generate(seed, count)
    for game, plan in zip(games, proofs(games, wording), strict=True):
        write(game, target, wording, plan)
    return f"{len(games)} games in {target}. Play them with: env=alfworld_mini env.data={target}"


def _manifest() -> str:
    games = mini.generate(mini.SEED, mini.COUNT)
    rows = [
        {"id": game.id, "sha256": game.digest, "walkthrough": plan}
        for game, plan in zip(games, proofs(games, "new"), strict=True)
    ]
    text = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    mini.MANIFEST.write_text(f'{{"seed": {mini.SEED}, "games": [\n{text}\n]}}\n', encoding="utf-8")
    return f"{len(games)} games in {mini.MANIFEST}"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; exit code 1 with one paragraph on stderr for what the user can mend."""
    parser = argparse.ArgumentParser(
        prog="python -m envs.alfworld.write", description="Write ALFWorld games."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    convert = commands.add_parser("convert", help="released games into the new wording")
    convert.add_argument("source", type=Path, help=f"folder that holds {LAYOUT}")
    convert.add_argument("target", type=Path)
    made = commands.add_parser("mini", help="games of our generator, proved solvable")
    made.add_argument("target", type=Path)
    made.add_argument("--seed", type=int, default=mini.SEED)
    made.add_argument("--games", type=int, default=mini.COUNT)
    made.add_argument("--wording", choices=WORDINGS, default="new")
    commands.add_parser("manifest", help="prove and list the committed games")
    given = parser.parse_args(arguments)
    try:
        if given.command == "convert":
            print(_convert(given.source, given.target))
        elif given.command == "mini":
            print(_mini(given.target, given.seed, given.games, given.wording))
        else:
            print(_manifest())
    except (SetupError, EnvironmentFailed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
