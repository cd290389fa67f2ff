"""Electrical circuits: a source, two wires or three, and what is to be powered or tested."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.reader.player import Choice, Player, Stuck, named
from agents.reader.scene import Item
from agents.reader.words import POWER, RENEWABLE, words


def power(p: Player, asked: re.Match[str]) -> Choice | None:
    """turn on the DEVICE (by powering it using a (non)renewable power source)."""
    device, kind = asked[1], asked[2] or ""
    why = f"The {device} needs power."
    choice = p.focus(named(device), f"The task begins with the {device}.")
    if choice:
        return choice
    source = _source(p, kind, why)
    if isinstance(source, Choice):
        return source
    wires = _wires(p, 2, why)
    if isinstance(wires, Choice):
        return wires
    found = p.find(named(device), why)
    if isinstance(found, Choice):
        return found
    one, other = wires
    return p.first(
        [
            lambda: _connect(p, f"{source.name} anode", f"{one} terminal 1", why),
            lambda: _connect(p, f"{source.name} cathode", f"{other} terminal 1", why),
            lambda: _connect(p, f"{one} terminal 2", f"cathode in {device}", why),
            lambda: _connect(p, f"{other} terminal 2", f"anode in {device}", why),
            lambda: _activate(p, source),
            lambda: Choice("wait1", "The current needs a moment."),
        ]
    )


def conductivity(p: Player, asked: re.Match[str]) -> Choice | None:
    """determine if X is conductive: put it into a circuit with a lamp, and see whether the lamp shines."""
    thing, room = asked[1], asked[2]
    boxes = dict(
        re.findall(r"electrically (conductive|nonconductive), place it in the ([\w ]+?)\.", p.view.task)
    )
    why = f"I test the {thing} in a circuit with a lamp."
    choice = p.focus(named(thing), f"The task begins with the {thing}.", room)
    if choice:
        return choice
    wired = len(p.view.did(rf"^connect {re.escape(thing)} terminal"))
    waited = bool(wired >= 2 and p.view.did("^wait"))
    if waited and not p.view.unseen:
        lamps = [item for item in p.view.room.items if "light bulb" in item.name]
        box = boxes["conductive" if any(lamp.on for lamp in lamps) else "nonconductive"]
        return p.first(
            [
                lambda: p.carry(named(thing), f"The lamp says: {box}."),
                lambda: p.put(thing, box, f"The lamp says: {box}."),
            ]
        )
    found = p.find(named("light bulb"), why, "workshop")
    if isinstance(found, Choice):
        return found if not p.holds(named(thing)) and _here(p, thing) is None else _bring(p, thing, found)
    if p.holds(named(thing)):
        return Choice(f"put down {thing}", f"I lay the {thing} down to connect it.")
    if _here(p, thing) is None:
        return p.carry(named(thing), why, room)
    source = _source(p, "", why)
    if isinstance(source, Choice):
        return source
    wires = _wires(p, 3, why)
    if isinstance(wires, Choice):
        return wires
    first, second, third = wires
    lamp = found.name
    return p.first(
        [
            lambda: _connect(p, f"{source.name} anode", f"{first} terminal 1", why),
            lambda: _connect(p, f"{source.name} cathode", f"{second} terminal 1", why),
            lambda: _connect(p, f"{first} terminal 2", f"cathode in {lamp}", why),
            lambda: _connect(p, f"{third} terminal 2", f"anode in {lamp}", why),
            lambda: _connect(p, f"{thing} terminal 1", f"{second} terminal 2", why),
            lambda: _connect(p, f"{thing} terminal 2", f"{third} terminal 1", why),
            lambda: None if waited else Choice("wait1", "The current needs a moment."),
            lambda: p.look("Does the lamp shine?"),
        ]
    )


def _here(p: Player, thing: str) -> Item | None:
    return next((item for item in p.view.here if named(thing)(item)), None)


def _bring(p: Player, thing: str, way: Choice) -> Choice:
    """Carry the thing along before walking on."""
    return p.carry(named(thing), f"The {thing} comes along to the lamp.") or way


def _source(p: Player, kind: str, why: str) -> Item | Choice:
    def match(item: Item) -> bool:
        if not any(all(word in words(item.name) for word in source.split()) for source in POWER):
            return False
        renewable = any(word in item.name for word in RENEWABLE)
        if kind == "renewable":
            return renewable
        return not renewable and (kind != "nonrenewable" or "battery" not in item.name)

    if not kind:
        battery = next((item for item in p.view.here if item.name == "battery"), None)
        if battery:
            return battery
    return p.find(match, why, "workshop")


def _wires(p: Player, number: int, why: str) -> Sequence[str] | Choice:
    wires = sorted({item.name for item in p.view.here if words(item.name)[-1:] == ["wire"]})
    if len(wires) >= number:
        return wires[:number]
    place = next(
        (r for r, room in p.view.rooms.items() if sum("wire" in i.name for i in room.items) >= number),
        "workshop",
    )
    return p.go_to(place, f"{why} There are wires in the {place}.") or p.explore(why)


def _connect(p: Player, one: str, other: str, why: str) -> Choice | None:
    action = f"connect {one} to {other}"
    if p.view.did(rf"^{re.escape(action)}$"):
        return None
    if p.view.failed(action):
        raise Stuck(action)
    return Choice(action, why)


def _activate(p: Player, source: Item) -> Choice | None:
    action = f"activate {source.name}"
    if source.name == "battery" or source.on or p.view.tried(action):
        return None
    return Choice(action, f"The {source.name} has to run.")
