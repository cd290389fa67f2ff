"""What instructions ask for, and how one goes about it: finding, focusing, moving, measuring, mixing.

A goal is recognised from the wording of the instruction and becomes a sequence of ends for the Player.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agents.reader.play_circuit import conductivity, power
from agents.reader.play_matter import change_state, chemistry, grow
from agents.reader.player import Choice, Match, Player, Stuck, named
from agents.reader.scene import Item
from agents.reader.words import (
    ANIMAL_STAGES,
    MIXED_PAINT,
    PLANT_STAGES,
    content_words,
    is_alive,
    is_animal,
    is_plant,
    is_portable,
    words,
)

Goal = Callable[[Player, re.Match[str]], Choice | None]


def find_and_move(p: Player, asked: re.Match[str]) -> Choice | None:
    """find a(n) KIND. First, focus on the thing. Then, move it to the BOX in the ROOM."""
    kind, box, room = asked.groups()
    done = p.focused()
    wanted = _same(p, done[0]) if done else of_kind(kind, p)
    why = f"The task asks for {'an' if kind[0] in 'aeiou' else 'a'} {kind}."
    name = done[0] if done else ""
    return p.first(
        [
            lambda: p.focus(wanted, why),
            lambda: p.carry(wanted, f"I focused on the {name}; now it goes to the {box}."),
            lambda: p.go_to(room, f"The {box} is in the {room}."),
            lambda: p.put(_held(p, wanted, name), box, f"The task wants it in the {box}.", room),
        ]
    )


def of_kind(kind: str, p: Player) -> Match:
    """Matches things of a kind that everybody knows; otherwise things of that name."""
    if kind == "non-living thing":
        return lambda item: (
            is_portable(item.name)
            and not is_alive(item.name)
            and not _organic(item.name)
            and not item.contents
        )
    tests = {"living thing": is_alive, "animal": is_animal, "plant": is_plant}
    test = tests.get(kind)
    return named(kind) if test is None else lambda item: test(item.name)


def _organic(name: str) -> bool:
    return bool(set(words(name)) & {"apple", "banana", "orange", "potato", "box", "agent", "dead", "fruit"})


def _same(p: Player, name: str) -> Match:
    """Matches the thing focused on, which may have lost or won an adjective or gone by another name since."""
    names = [set(words(name.split(" in ")[0]))]
    for turn in p.view.did(rf"^pick up {re.escape(name)}"):
        names += [
            set(words(taken)) for taken in re.findall(r"You move the (.+?) to the inv", turn.observation)
        ]
    return lambda item: any(core <= set(words(item.name)) for core in names if core)


def _held(p: Player, wanted: Match, name: str) -> str:
    item = p.holds(wanted)
    if item:
        return item.name
    inside = next((t.action.removeprefix("pick up ") for t in reversed(p.view.did("^pick up "))), name)
    return inside


def measure(p: Player, asked: re.Match[str]) -> Choice | None:
    """measure the temperature of X ... If above T, place it in the A. If below T, place it in the B."""
    thing, room = asked[1], asked[2]
    target = named(thing)
    answers = re.findall(
        r"(above|below) ([-\d.]+) degrees celsius, (?:place it in|focus on) the ([\w ]+?)\.", p.view.task
    )
    read = [
        t for t in p.view.turns if (m := _READING.search(t.observation)) and t.action.startswith("use ") and m
    ]
    box = ""
    if read and answers:
        value = float(_READING.search(read[-1].observation)[1])  # type: ignore[index]
        box = next(
            (b for side, limit, b in answers if (value > float(limit)) == (side == "above")), answers[0][2]
        )
    boxes = re.search(r"boxes are located around the ([\w ]+)", p.view.task)
    near = boxes[1] if boxes else ""
    ends = [
        lambda: p.focus(named("thermometer"), "The task begins with the thermometer."),
        lambda: p.carry(named("thermometer"), "I measure with the thermometer."),
        lambda: p.focus(target, f"Now the {thing}.", room),
    ]
    if not read:
        ends.append(lambda: _use(p, target, thing, room))
    elif p.view.task.count("place it in"):
        ends += [
            lambda: p.carry(target, f"It measured {box and 'so it belongs in the ' + box}.", room),
            lambda: p.put(thing, box, f"The reading says: {box}.", near),
        ]
    return p.first(ends)


_READING = re.compile(r"measures a temperature of (-?[\d.]+) degrees")


def _use(p: Player, target: Match, thing: str, room: str) -> Choice | None:
    found = p.find(target, f"I measure the {thing}.", room)
    if isinstance(found, Choice):
        return found
    for name in (p.refer(found), found.name):
        action = f"use thermometer in inventory on {name}"
        if p.allowed(action):
            return Choice(action, f"I measure the {thing}.")
    raise Stuck("measuring")


def paint(p: Player, asked: re.Match[str]) -> Choice | None:
    """create COLOUR paint: pour what it is mixed from into one container, mix, focus."""
    colour = asked[1].strip()
    if "-" in colour:
        # A tertiary colour is mixed from its secondary and its primary one; the secondary is focused on first.
        second, first = colour.split("-") if colour.split("-")[0] in MIXED_PAINT else colour.split("-")[::-1]
        return p.first(
            [
                lambda: _mix_paint(p, second, MIXED_PAINT.get(second, ())),
                lambda: _mix_paint(p, colour, (second, first)),
            ]
        )
    return _mix_paint(p, colour, MIXED_PAINT.get(colour, ()))


def _mix_paint(p: Player, colour: str, parts: tuple[str, ...]) -> Choice | None:
    name = f"{colour} paint"
    why = f"{name.capitalize()} is mixed from {' and '.join(parts)}." if parts else f"I need {name}."
    if name in p.focused():
        return None
    if any(item.name == name for item in p.view.here):
        return p.look(why) or Choice(f"focus on {name}", f"The {name} is made.")
    if len(parts) != 2:
        return p.focus(named(name), why)
    first, second = (f"{part} paint" for part in parts)
    looked = p.look(why)
    if looked:
        return looked
    both = [i for i in p.view.here if first in i.contents and second in i.contents]
    if both:
        return Choice(f"mix {p.refer(both[0])}", why)
    pair: list[Item] = []
    for part in (first, second):
        found = p.find(lambda item, part=part: part in item.contents, why, "art studio")  # type: ignore[misc]
        if isinstance(found, Choice):
            leaving = found.action.startswith(("go ", "open door"))
            have = lambda item: first in item.contents  # noqa: E731
            return (p.carry(have, why) if pair and leaving else None) or found
        pair.append(found)
    found, other = pair
    for action in (
        f"pour {p.refer(found)} in {p.refer(other)}",
        f"pour {p.refer(other)} in {p.refer(found)}",
        f"pour {first} in {p.refer(other)}",
    ):
        if p.allowed(action):
            return Choice(action, why)
    raise Stuck(why)


def stages(p: Player, asked: re.Match[str]) -> Choice | None:
    """focus on the life stages of the X, starting from earliest to latest."""
    species = re.sub(r" plant$", "", asked[1])
    order = PLANT_STAGES if asked[1].endswith("plant") or is_plant(species) else ANIMAL_STAGES
    done = p.focused()
    if len(done) >= len(order):
        return Choice("wait1", "All stages are named; I let the world answer.")
    wanted = order[len(done)]
    core = set(words(species))

    def match(item: Item) -> bool:
        found = set(words(item.name))
        return core <= found and bool(found & set(wanted)) and "dead" not in found

    place = re.search(r"located (?:in the '?)?([\w ]+?)'?[.,]", p.view.task)
    near = place[1].strip() if place else "outside"
    why = f"The next stage of the {species} is {wanted[0]}."
    seen = any(core & set(words(item.name)) for item in p.view.room.items)
    if seen and not p.view.unseen and not any(match(item) for item in p.view.here):
        return Choice("wait1", f"{why} It has to grow first.")
    found = p.find(match, why, near)
    if isinstance(found, Choice):
        return found
    return Choice(f"focus on {found.name}" + (f" in {found.inside}" if found.inside else ""), why)


def lifespan(p: Player, asked: re.Match[str]) -> Choice | None:
    """find the animal with the longest (or shortest) life span: only what memory knows is focused on.

    How long animals live is not in the word list, so without experience the reader keeps its answer back:
    a wrong focus would cost more than it could win.
    """
    place = re.search(r"in the '([\w ]+)' location", p.view.task)
    choice = p.go_to(place[1], "The animals are there.") if place else None
    if choice:
        return choice
    known = p.lessons.focused
    beasts = [item for item in p.view.here if is_animal(item.name)]
    for item in sorted(beasts, key=lambda item: -known.get(item.name, -9)):
        if (
            known.get(item.name, -1) > 0
            and item.name not in p.focused()
            and p.allowed(f"focus on {item.name}")
        ):
            return Choice(f"focus on {item.name}", "Earlier experience speaks for this one.")
    for item in beasts:
        action = f"look at {item.name}"
        if p.allowed(action) and not p.view.tried(action):
            return Choice(action, "I do not know how old it gets; perhaps looking tells.")
    return (
        Choice("wait1", "I do not know which it is, and a wrong answer would end the task.")
        if beasts
        else None
    )


def plain_focus(p: Player, asked: re.Match[str]) -> Choice | None:
    """First, focus on the X: whatever else is asked, that much is clear."""
    thing = asked[1]
    if not content_words(thing) or thing in ("thing", "substance", "animal"):
        return None
    return p.focus(named(thing), f"The task says to focus on the {thing}.")


GOALS: list[tuple[re.Pattern[str], Goal]] = [
    (re.compile(pattern, re.IGNORECASE), goal)
    for pattern, goal in (
        (r"find an?(?:\(n\))? ([\w -]+)\. .*?move it to the ([\w ]+?) in the ([\w ]+)\.", find_and_move),
        (r"life stages of the ([\w ]+?),", stages),
        (r"(longest|shortest).*? life ?span", lifespan),
        (r"turn on the ([\w ]+?)(?: by powering it using a (\w+) power source)?\.", power),
        (
            r"determine if ([\w ]+?) is electrically conductive\. The .*? located around the ([\w ]+)\.",
            conductivity,
        ),
        (r"measure the (?:temperature) of ([\w ]+?), which is located around the ([\w ]+)\.", measure),
        (r"measure the (?:melting point) of ([\w ]+?), which is located around the ([\w ]+)\.", measure),
        (r"create ([\w-]+) paint", paint),
        (r"create the substance '([^']+)'", chemistry),
        (r"\b(boil|melt|freeze|change the state of matter of) ([\w ]+?)\.", change_state),
        (r"grow an? ([\w ]+?)(?: plant from seed)?\.", grow),
        (r"(?:^|[.] )(?:First, |Next, |When you are done, )?focus on the ([\w ]+?)[.,]", plain_focus),
    )
]


def pursue(p: Player) -> Choice | None:
    """The next action towards what the task asks for, or None where no goal is recognised or one is stuck."""
    for pattern, goal in GOALS:
        asked = pattern.search(p.view.task)
        if asked:
            try:
                choice = goal(p, asked)
            except Stuck:
                continue
            if choice:
                return choice
    return None
