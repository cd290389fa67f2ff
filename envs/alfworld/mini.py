"""The setting alfworld_mini: small games of our own, in all six types, for the real engine.

A game is a function of (seed, number): in one of four rooms, furnished once for the whole set as the
released unseen games share four scenes, objects are laid out anew and a task is chosen that the room
allows. The manifest beside this module (made by `python -m envs.alfworld.write manifest`) holds, for the
committed seed, a hash of each game and the planner's walkthrough, which proves it solvable; games that
would differ from it are refused.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from envs.alfworld.games import TYPES, Game
from envs.alfworld.problem import Layout, Thing, pddl
from envs.alfworld.rooms import CLEAN, COOL, HEAT, OBJECTS, ROOMS, Room, fits
from envs.base import SetupError

SEED = 2010
"""Of the committed games [ours]."""
COUNT = 60
"""Ten of each type [ours]."""
MANIFEST = Path(__file__).with_name("mini.json")
_DISTRACTORS = (8, 14)
"""Objects that the task does not need, fewest and most [ours]."""
_SCENES = {name: 901 + i for i, name in enumerate(ROOMS)}
"""Our scene numbers: above ALFRED's (1 to 430) [ours]."""


@dataclass(frozen=True)
class Kind:
    """What is special about a task type."""

    sentences: tuple[str, ...]
    """Its wordings, as in the released games: {o} object, {r} place."""
    treatment: str = ""
    """What the object must first undergo, and the word it must have for that."""
    appliance: str = ""
    copies: int = 1
    action: str = ""
    """ALFRED's high-level action beside walking, picking up and putting down."""


KINDS: dict[str, Kind] = {
    "pick_and_place_simple": Kind(("put a {o} in {r}.", "put some {o} on {r}.")),
    "look_at_obj_in_light": Kind(
        ("look at {o} under the desklamp.", "examine the {o} with the desklamp."), action="ToggleObject"
    ),
    "pick_clean_then_place_in_recep": Kind(
        ("put a clean {o} in {r}.", "clean some {o} and put it in {r}."),
        CLEAN,
        "SinkBasin",
        action="CleanObject",
    ),
    "pick_heat_then_place_in_recep": Kind(
        ("put a hot {o} in {r}.", "heat some {o} and put it in {r}."), HEAT, "Microwave", action="HeatObject"
    ),
    "pick_cool_then_place_in_recep": Kind(
        ("put a cool {o} in {r}.", "cool some {o} and put it in {r}."), COOL, "Fridge", action="CoolObject"
    ),
    "pick_two_obj_and_place": Kind(("put two {o} in {r}.", "find two {o} and put them in {r}."), copies=2),
}


@cache
def games() -> tuple[Game, ...]:
    """The committed games in release order. Raises SetupError if they are not the proven ones."""
    made = generate(SEED, COUNT)
    proven = [(row["id"], row["sha256"]) for row in manifest()]
    if [(game.id, game.digest) for game in made] != proven:
        raise SetupError(
            f"The generator of alfworld_mini does not give the games listed in {MANIFEST.name}: this Python "
            "draws other random numbers, or the generator was changed. Make and prove games of your own with "
            "`python -m envs.alfworld.write mini FOLDER` and play it with env.data=FOLDER."
        )
    return made


def manifest() -> list[dict[str, Any]]:
    """The committed list: id, sha256 and walkthrough (in the new wording) of each game, in release order."""
    rows: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))["games"]
    return rows


def generate(seed: int, count: int) -> tuple[Game, ...]:
    """`count` distinct games. Every six in a row hold each type once, in an order drawn from the seed."""
    made: list[Game] = []
    seen: set[str] = set()
    for number in range(1, count + 1):
        block, place = divmod(number - 1, len(TYPES))
        types = list(TYPES)
        random.Random(f"{seed}/block {block}").shuffle(types)
        attempt = 0
        while (game := _game(seed, number, attempt, types[place])).problem in seen:
            attempt += 1
        seen.add(game.problem)
        made.append(game)
    return tuple(made)


def _game(seed: int, number: int, attempt: int, type_: str) -> Game:
    rng = random.Random(f"{seed}/{number}/{attempt}")
    kind = KINDS[type_]
    room = rng.choice([name for name, room in ROOMS.items() if _allows(room, type_)])
    layout, goal, target = _lay_out(rng, seed, room, type_)
    problem = pddl(f"mini_{seed}_{number}", layout, type_, goal, target)
    sentence = rng.choice(kind.sentences).format(o=goal.lower(), r=target.lower())
    trial = f"trial_T20000101_{seed % 10**6:06d}_{number:06d}"
    return Game(
        id=f"{type_}-{goal}-None-{target}-{_SCENES[room]}/{trial}",
        type=type_,
        sentence=sentence,
        wording="new",
        operations=operations(type_),
        digest=hashlib.sha256(f"{sentence}\n{problem}".encode()).hexdigest(),
        problem=problem,
    )


def operations(type_: str) -> tuple[str, ...]:
    """The high-level actions of a type's plan, as ALFRED's demonstrations name them, sorted."""
    last = () if type_ == "look_at_obj_in_light" else ("PutObject",)
    own = (KINDS[type_].action,) if KINDS[type_].action else ()
    return tuple(sorted({"GotoLocation", "PickupObject", "NoOp", *own, *last}))


def _furniture(seed: int, room: Room) -> tuple[list[str], int]:
    """The places of a room, the same in every game of the seed, and the index of the one with the lamp (or -1)."""
    rng = random.Random(f"{seed}/room {' '.join(room.places)}")
    places = [name for name, (least, most) in room.places.items() for _ in range(rng.randint(least, most))]
    stands = [i for i, place in enumerate(places) if place in room.lamp_on]
    return places, rng.choice(stands) if stands else -1


def _lay_out(rng: random.Random, seed: int, name: str, type_: str) -> tuple[Layout, str, str]:
    """The room with objects in it, the class of the object in question and of the place it goes to."""
    room = ROOMS[name]
    places, lamp = _furniture(seed, room)
    goal, target = rng.choice(_pairs(room, places, type_))
    things: list[Thing] = []

    def lay(thing: str, not_on: str = "") -> None:
        spots = [i for i, place in enumerate(places) if fits(place, thing) and place != not_on]
        if spots:
            things.append(Thing(thing, rng.choice(spots)))

    # A spare of the wanted object now and then: the agent may use either, as in the released games.
    for _ in range(KINDS[type_].copies + rng.randint(0, 1)):
        lay(goal, not_on=target)
    others = [name for name in room.objects if name != goal]
    for _ in range(rng.randint(*_DISTRACTORS)):
        lay(rng.choice(others))
    if lamp >= 0:
        things.append(Thing("DeskLamp", lamp))
    return Layout(tuple(places), tuple(things)), goal, target


def _allows(room: Room, type_: str) -> bool:
    if type_ == "look_at_obj_in_light":
        return bool(room.lamp_on)
    return not KINDS[type_].appliance or KINDS[type_].appliance in room.places


def _pairs(room: Room, places: list[str], type_: str) -> list[tuple[str, str]]:
    """All (object, place) that make a task here: the object can start elsewhere and then be brought there."""
    kinds = sorted(set(places))
    if type_ == "look_at_obj_in_light":
        return [(thing, "DeskLamp") for thing in room.objects if any(fits(place, thing) for place in kinds)]
    treatment = KINDS[type_].treatment
    return [
        (thing, target)
        for thing in room.objects
        if not treatment or treatment in OBJECTS[thing]
        for target in kinds
        if target != "SinkBasin" and fits(target, thing) and any(fits(p, thing) for p in kinds if p != target)
    ]
