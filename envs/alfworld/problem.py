"""A room and a goal as a PDDL problem for ALFWorld's domain, with names as the engine's demangler reads them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from envs.alfworld.rooms import CLEAN, COOL, HEAT, OBJECTS, PLACES, SLICE, fits

_DONE_TO = {CLEAN: "cleanable", HEAT: "heatable", COOL: "coolable", SLICE: "sliceable"}
# The domain's actions name these types, so every problem declares them.
_NEEDED_PLACES = ("Fridge", "Microwave", "SinkBasin")
_NEEDED_THINGS = ("ButterKnife", "Knife")
_START = "loc_bar_0_bar_0_bar_0_bar_30"
_GOAL_WORDS = {
    "pick_and_place_simple": "",
    "pick_clean_then_place_in_recep": "(cleanable ?o) (isClean ?o) ",
    "pick_heat_then_place_in_recep": "(heatable ?o) (isHot ?o) ",
    "pick_cool_then_place_in_recep": "(coolable ?o) (isCool ?o) ",
}


@dataclass(frozen=True)
class Thing:
    """An object: its class, and the index of the place it lies in or on."""

    name: str
    at: int


@dataclass(frozen=True)
class Layout:
    """A furnished room: the classes of its places, and its objects."""

    places: tuple[str, ...]
    things: tuple[Thing, ...]


def pddl(name: str, layout: Layout, type_: str, goal: str, target: str) -> str:
    """The problem `name`: `layout`, all closed, the agent away from every place, and the goal of `type_`."""
    places = _numbered(layout.places)
    things = _numbered([thing.name for thing in layout.things])
    spots = [f"loc_bar_{i}_bar_0_bar_0_bar_30" for i in range(1, len(places) + 1)]
    place_types = sorted({*layout.places, *_NEEDED_PLACES})
    thing_types = sorted({thing.name for thing in layout.things} | {*_NEEDED_THINGS})
    objects = [
        "agent1 - agent",
        *(f"{thing} - object" for thing in things),
        *(f"{place} - receptacle" for place in places),
        *(f"{kind}Type - otype" for kind in thing_types),
        *(f"{kind}Type - rtype" for kind in place_types),
        *(f"{spot} - location" for spot in [_START, *spots]),
    ]
    facts = [f"(atLocation agent1 {_START})"]
    for place, kind, spot in zip(places, layout.places, spots, strict=True):
        facts += [f"(receptacleType {place} {kind}Type)", f"(receptacleAtLocation {place} {spot})"]
        facts += [f"(openable {place})"] if PLACES[kind].opens else []
    for kind in sorted(set(layout.places)):
        facts += [f"(canContain {kind}Type {o}Type)" for o in thing_types if o in OBJECTS and fits(kind, o)]
    for name_, thing in zip(things, layout.things, strict=True):
        facts += [
            f"(objectType {name_} {thing.name}Type)",
            f"(inReceptacle {name_} {places[thing.at]})",
            f"(objectAtLocation {name_} {spots[thing.at]})",
        ]
        if thing.name == "DeskLamp":
            facts.append(f"(toggleable {name_})")
            continue
        words = OBJECTS[thing.name]
        facts += [
            f"(pickupable {name_})",
            *(f"({_DONE_TO[word]} {name_})" for word in _DONE_TO if word in words),
        ]
    return "\n".join(
        [
            f"(define (problem {name})",
            "(:domain alfred)",
            "(:objects",
            *(f"  {line}" for line in objects),
            ")",
            "(:init",
            *(f"  {line}" for line in facts),
            ")",
            f"(:goal {_goal(type_, goal, target)})",
            ")\n",
        ]
    )


def _goal(type_: str, thing: str, place: str) -> str:
    """The goal condition of a task type, as the released games state it."""
    if type_ == "look_at_obj_in_light":
        return (
            "(and (exists (?l - object ?r - receptacle ?a - agent ?p - location)"
            " (and (objectType ?l DeskLampType) (toggleable ?l) (isToggled ?l) (inReceptacle ?l ?r)"
            " (receptacleAtLocation ?r ?p) (atLocation ?a ?p)))"
            f" (exists (?o - object ?a - agent) (and (objectType ?o {thing}Type) (holds ?a ?o))))"
        )
    if type_ == "pick_two_obj_and_place":
        there = f"(objectType {{0}} {thing}Type) (inReceptacle {{0}} ?r)"
        return (
            f"(exists (?r - receptacle ?o1 - object ?o2 - object) (and (receptacleType ?r {place}Type)"
            f" (not (= ?o1 ?o2)) {there.format('?o1')} {there.format('?o2')}))"
        )
    return (
        f"(exists (?r - receptacle ?o - object) (and {_GOAL_WORDS[type_]}(objectType ?o {thing}Type)"
        f" (receptacleType ?r {place}Type) (inReceptacle ?o ?r)))"
    )


def _numbered(kinds: tuple[str, ...] | list[str]) -> list[str]:
    """A name for each, such as `Mug_bar_02`; the demangler makes `mug 2` of it (order within a class is its own)."""
    count: Counter[str] = Counter()
    names = []
    for kind in kinds:
        count[kind] += 1
        # The demangler cuts at the first `_bar_` and appends `basin` itself.
        stem = "Sink" if kind == "SinkBasin" else kind
        names.append(f"{stem}_bar_{count[kind]:02d}" + ("_bar_SinkBasin" if kind == "SinkBasin" else ""))
    return names
