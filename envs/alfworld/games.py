"""The released games: which files count, in which order, and what they say of themselves.

Rule of the benchmark's own loader (alfworld 0.4.2, `AlfredTWEnv.collect_game_files`): a folder under the
split with `traj_data.json` and a `game.tw-pddl` that is marked solvable, its path free of `movable` and
`Sliced`. Order of the official evaluation: the paths sorted, then shuffled by TextWorld with seed 1234.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs.alfworld.logic import Content, content, sentence_of, wording_of
from envs.alfworld.words import Wording
from envs.base import SetupError

TYPES = {
    "pick_and_place_simple": "Pick and Place",
    "look_at_obj_in_light": "Examine in Light",
    "pick_clean_then_place_in_recep": "Clean and Place",
    "pick_heat_then_place_in_recep": "Heat and Place",
    "pick_cool_then_place_in_recep": "Cool and Place",
    "pick_two_obj_and_place": "Use Two Objects",
}
"""Task type -> label, in the order of the papers' figures."""

LAYOUT = "json_2.1.1"
SPLIT = "valid_unseen"
COUNT = 134
"""Games of valid_unseen in every evaluation published."""
FETCH = "make alfworld-data"
_SHUFFLE_SEED = 1234


@dataclass(frozen=True)
class Game:
    """One game as the harness knows it; the engine gets `load(game, wording)`."""

    id: str
    """Folder of the task / folder of the trial, as released."""
    type: str
    """Key of TYPES."""
    sentence: str
    wording: Wording
    """The one it was released in."""
    operations: tuple[str, ...]
    """Distinct high-level actions of its demonstration's plan, sorted (ALFRED's names)."""
    digest: str
    """sha256 of the file or, for a game that is no file, of its PDDL problem."""
    path: Path | None = None
    problem: str = field(default="", repr=False)
    """The PDDL problem of a game that is no file."""


def load(game: Game, wording: Wording) -> Content:
    """What the engine needs to play `game` in `wording`: as released if that is its own."""
    if game.path is None:
        return content(game.problem, game.sentence, wording)
    released = _read(game.path)
    problem = str(released["pddl_problem"])
    if wording != game.wording:
        return content(problem, game.sentence, wording)
    return Content(
        pddl_domain=str(released["pddl_domain"]), grammar=str(released["grammar"]), pddl_problem=problem
    )


def data_folder(data: str | os.PathLike[str] | None) -> Path:
    """Where the games lie: `data`, else ALFWORLD_DATA, else the default of alfworld-download."""
    chosen = data or os.environ.get("ALFWORLD_DATA") or Path.home() / ".cache" / "alfworld"
    return Path(chosen).expanduser()


def released(folder: Path, count: int | None = COUNT) -> tuple[Game, ...]:
    """The games under `folder` in the order of the official evaluation.

    Raises SetupError if the folder is missing, a file is damaged, or there are not `count` games.
    """
    split = folder / LAYOUT / SPLIT
    if not split.is_dir():
        raise SetupError(
            f"ALFWorld's games are not in {split}. Fetch them with `{FETCH}`, or set ALFWORLD_DATA (or env.data) "
            f"to the folder that holds {LAYOUT}. Without them, env=alfworld_mini plays games of our own."
        )
    found = [
        game for path in sorted(split.rglob("traj_data.json"), key=os.fspath) if (game := _game(path, split))
    ]
    if count is not None and len(found) != count:
        raise SetupError(
            f"{split} holds {len(found)} games that count (solvable, neither movable nor sliced); the setting "
            f"has {count}. Fetch the complete data with: {FETCH}"
        )
    if not found:
        raise SetupError(f"{split} holds no game that counts (solvable, neither movable nor sliced).")
    return tuple(found[i] for i in _official_order(len(found)))


def _official_order(count: int) -> list[int]:
    """Positions in the sorted list, in the order in which TextWorld's gym environment plays them."""
    import numpy as np

    order = list(range(count))
    np.random.RandomState(_SHUFFLE_SEED).shuffle(order)
    return order


def _game(trajectory: Path, split: Path) -> Game | None:
    """The game beside a demonstration, or None if it does not count."""
    folder = trajectory.parent
    path = folder / "game.tw-pddl"
    name = folder.relative_to(split).as_posix()
    if "movable" in name or "Sliced" in name or not path.exists():
        return None
    raw = _bytes(path)
    data = _parsed(raw, path)
    if not data.get("solvable", False):
        return None
    shown = _read(trajectory)
    try:
        grammar, type_ = str(data["grammar"]), str(shown["task_type"])
        plan = [step["discrete_action"]["action"] for step in shown["plan"]["high_pddl"]]
    except (KeyError, TypeError) as error:
        raise SetupError(f"The game in {folder} lacks {error}. Fetch the data again: {FETCH}") from error
    if type_ not in TYPES:
        return None
    return Game(
        id=name,
        type=type_,
        sentence=sentence_of(grammar, str(path)),
        wording=wording_of(grammar, str(path)),
        operations=tuple(sorted(set(plan))),
        digest=hashlib.sha256(raw).hexdigest(),
        path=path,
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SetupError(
            f"{path} cannot be read ({error.strerror}). Fetch the data again: {FETCH}"
        ) from error


def _parsed(raw: bytes, path: Path) -> dict[str, Any]:
    try:
        data = json.loads(raw)
    except ValueError as error:
        raise SetupError(f"{path} is damaged ({error}). Fetch the data again: {FETCH}") from error
    if not isinstance(data, dict):
        raise SetupError(f"{path} is damaged (no JSON object). Fetch the data again: {FETCH}")
    return data


def _read(path: Path) -> dict[str, Any]:
    return _parsed(_bytes(path), path)


def digest_of(games: Sequence[Game]) -> str:
    """One sha256 over the ids and contents of a game list, in order."""
    lines = "".join(f"{game.id} {game.digest}\n" for game in games)
    return hashlib.sha256(lines.encode()).hexdigest()


def wordings_of(games: Sequence[Game]) -> str:
    """`old`, `new`, or `mixed`."""
    found = {game.wording for game in games}
    return found.pop() if len(found) == 1 else "mixed"
