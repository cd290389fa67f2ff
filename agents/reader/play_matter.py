"""Substances: changing their state, mixing by a recipe, and growing plants, as far as the reader can."""

from __future__ import annotations

import re

from agents.reader.player import Choice, Player, Stuck, named
from agents.reader.scene import Item
from agents.reader.words import COOLERS, HEATERS, POTS, words


def change_state(p: Player, asked: re.Match[str]) -> Choice | None:
    """boil, melt or freeze X: focus on it, put it into a pot, heat or cool the pot, wait."""
    verb, thing = asked[1], asked[2].strip()
    why = f"The task is to {verb} {thing}."
    drawn = None
    if thing == "water":
        drawn = _draw_water(p, why)
        if drawn:
            return drawn
    choice = p.focus(named(thing), why)
    if choice:
        return choice
    cold = verb == "freeze" or (verb.startswith("change") and thing in ("water", "juice"))
    device = _device(p, COOLERS if cold else HEATERS, why)
    if isinstance(device, Choice):
        return _carry_along(p, thing, device)
    vessel = next((i for i in p.view.here if any(named(thing)(Item(c)) for c in i.contents)), None)
    load = vessel.name if vessel and _is_pot(vessel) else thing
    ends = [lambda: _place(p, load, device, why)]
    if device.closed and cold:
        ends.insert(0, lambda: _once(p, f"open {device.name}", why))
    if not cold:
        ends.append(lambda: _once(p, f"activate {device.name}", why))
    else:
        ends.append(lambda: _once(p, f"close {device.name}", why))
    ends.append(lambda: Choice("wait", "It takes time."))
    return p.first(ends)


def chemistry(p: Player, asked: re.Match[str]) -> Choice | None:
    """create the substance X: find and read the recipe, gather what it names into one container, mix."""
    product = asked[1]
    why = f"The recipe for {product} says what is needed."
    if any(item.name == product for item in p.view.here):
        return p.focus(named(product), f"The {product} is made.")
    text = next((t.observation for t in p.view.turns if t.action.startswith("read ") and not t.failed), "")
    if not text:
        return p.carry(named("recipe"), why, "kitchen") or Choice("read recipe", why)
    needed = re.search(r"you need to mix (.*?)\.", text)
    parts = [part.strip() for part in re.split(r",| and ", needed[1])] if needed else []
    pot = p.find(
        lambda i: _is_pot(i) and not set(i.contents) - set(parts), f"{why} I need a container.", "kitchen"
    )
    if isinstance(pot, Choice):
        return pot
    for part in parts:
        if not p.view.did(rf"^(?:move|pour) .*{re.escape(part)}.* (?:to|in) "):
            found = p.find(lambda i, part=part: i.name == part or part in i.contents, f"{why} I need {part}.")  # type: ignore[misc]
            if isinstance(found, Choice):
                return p.carry(lambda i: i.name == pot.name, why) or found
            for action in (f"move {part} to {pot.name}", f"pour {found.name} in {pot.name}"):
                if p.allowed(action):
                    return Choice(action, why)
            raise Stuck(part)
    return _once(p, f"mix {pot.name}", why) or p.look(why)


def grow(p: Player, asked: re.Match[str]) -> Choice | None:
    """grow a X from seed: fetch the seeds, plant them in pots with water, and wait."""
    thing = asked[1].replace(" plant", "")
    place = re.search(r"[Ss]eeds can be found in the ([\w ]+)\.", p.view.task)
    why = f"A {thing} grows from its seed."
    jar = named("seed jar")
    planted = p.view.did(rf"^move {re.escape(thing)} seed.* to flower pot")
    if not planted:
        if not p.holds(jar) and not p.holds(named(f"{thing} seed")):
            return p.carry(lambda i: jar(i) or named(f"{thing} seed")(i), why, place[1] if place else "")
        pot = p.find(lambda i: i.name.startswith("flower pot"), why, "greenhouse")
        if isinstance(pot, Choice):
            return pot
        source = "in seed jar" if p.holds(jar) else "in inventory"
        action = f"move {thing} seed {source} to {pot.name}"
        if p.allowed(action):
            return Choice(action, why)
        raise Stuck(action)
    pot_name = planted[0].action.rpartition(" to ")[2]
    if "focus on a seed" in p.view.task and not p.focused():
        return Choice(f"focus on {thing} seed in {pot_name}", f"The task begins with the {thing} seed.")
    watered = p.view.did(rf"^pour jug in {re.escape(pot_name)}")
    if len(watered) <= len(p.view.did("^wait")) // 5:
        for action in ("activate sink", "move jug to sink"):
            last = p.view.did(f"^{action}$")
            if len(last) <= len(watered) and p.allowed(action):
                return Choice(action, "The seed needs water.")
        return Choice(f"pour jug in {pot_name}", "The seed needs water.")
    return Choice("wait", "It takes time to grow.")


def _is_pot(item: Item) -> bool:
    return any(set(words(pot)) <= set(words(item.name)) for pot in POTS) and "flower" not in item.name


def _draw_water(p: Player, why: str) -> Choice | None:
    """Have water in a pot."""
    if any(_is_pot(item) and "water" in item.contents for item in p.view.here) or p.focused():
        return None
    found = p.find(lambda i: _is_pot(i) and not i.contents, f"{why} I need a pot.", "kitchen")
    if isinstance(found, Choice):
        return found
    if p.view.did(r"^move .* to sink$"):
        return _once(p, "activate sink", why) or p.look(why)
    return _place(p, found.name, Item("sink"), why)


def _device(p: Player, names: tuple[str, ...], why: str) -> Item | Choice:
    for name in names:
        item = next(
            (i for i in p.view.here if i.name == name and not p.view.failed(f"activate {name}")), None
        )
        if item:
            return item
    return p.find(lambda i: i.name in names, why, "kitchen")


def _carry_along(p: Player, thing: str, way: Choice) -> Choice:
    if any(named(thing)(item) for item in p.view.room.items):
        try:
            return p.carry(named(thing), f"The {thing} comes along.") or way
        except Stuck:
            return way
    return way


def _place(p: Player, load: str, device: Item, why: str) -> Choice | None:
    action = f"move {load} to {device.name}"
    if p.view.did(rf"^{re.escape(action)}$"):
        return None
    if p.view.failed(action, 2):
        raise Stuck(action)
    return Choice(action, why)


def _once(p: Player, action: str, why: str) -> Choice | None:
    return None if p.view.tried(action) else Choice(action, why)
