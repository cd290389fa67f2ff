"""What rooms of our own games hold: furniture, objects, and which object may lie where [ours].

Class names are ALFRED's, since the engine's demangler and domain know those. Which object goes where is
said through shared words: an object may lie in a place if the place takes one of the object's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CLEAN, HEAT, COOL, SLICE = "clean", "heat", "cool", "slice"
"""Words of an object that are also what can be done to it."""


@dataclass(frozen=True)
class Place:
    """A class of furniture or appliance."""

    takes: frozenset[str]
    opens: bool = False
    """It can be opened, and is closed at first."""


@dataclass(frozen=True)
class Room:
    """How many of each place a room has (fewest, most), which objects turn up, where a lamp may stand."""

    places: Mapping[str, tuple[int, int]]
    objects: tuple[str, ...]
    lamp_on: tuple[str, ...] = ()


def _takes(words: str, opens: bool = False) -> Place:
    return Place(frozenset(words.split()), opens)


def _names(words: str) -> tuple[str, ...]:
    return tuple(words.split())


PLACES: dict[str, Place] = {
    "ArmChair": _takes("book soft device"),
    "Bed": _takes("book soft device disc"),
    "Cabinet": _takes("dish pan bottle spice rag paper candle", opens=True),
    "Cart": _takes("bottle rag soap candle paper"),
    "CoffeeMachine": _takes("mug"),
    "CoffeeTable": _takes("book device small disc decor mug dish"),
    "CounterTop": _takes("food dish pan cutlery spice bottle rag soap candle paper tool mug"),
    "Desk": _takes("book device small disc mug dish decor"),
    "DiningTable": _takes("food dish pan cutlery spice tool book small decor"),
    "Drawer": _takes("cutlery spice small disc rag soap paper tool", opens=True),
    "Dresser": _takes("book device small disc decor"),
    "Fridge": _takes("food dish pan wine", opens=True),
    "GarbageCan": _takes("food paper soap disc"),
    "Microwave": _takes("heat", opens=True),
    "Safe": _takes("small disc decor", opens=True),
    "Shelf": _takes("book small disc decor dish spice bottle candle paper"),
    "SideTable": _takes("book device small disc mug decor paper"),
    "SinkBasin": _takes("clean"),
    "Sofa": _takes("book soft device small"),
    "StoveBurner": _takes("pan"),
    "Toilet": _takes("soap bottle candle paper rag"),
}

OBJECTS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "AlarmClock": "decor",
        "Apple": "food clean heat cool slice",
        "Book": "book",
        "Bowl": "dish clean cool",
        "Bread": "food heat cool slice",
        "ButterKnife": "cutlery clean",
        "CD": "disc",
        "Candle": "candle",
        "CellPhone": "device small",
        "Cloth": "rag clean",
        "CreditCard": "small",
        "Cup": "dish clean heat cool",
        "DishSponge": "rag clean",
        "Egg": "food clean heat cool slice",
        "Fork": "cutlery clean",
        "KeyChain": "small",
        "Knife": "cutlery clean",
        "Laptop": "device",
        "Lettuce": "food clean cool slice",
        "Mug": "mug dish clean heat cool",
        "Newspaper": "book paper",
        "Pan": "pan clean cool",
        "Pen": "small",
        "Pencil": "small",
        "PepperShaker": "spice",
        "Pillow": "soft",
        "Plate": "dish clean heat cool",
        "Pot": "pan clean cool",
        "Potato": "food clean heat cool slice",
        "RemoteControl": "device small",
        "SaltShaker": "spice",
        "SoapBar": "soap clean",
        "SoapBottle": "bottle",
        "Spatula": "tool cutlery clean",
        "Spoon": "cutlery clean",
        "SprayBottle": "bottle",
        "Statue": "decor",
        "TissueBox": "paper",
        "ToiletPaper": "paper",
        "Tomato": "food clean heat cool slice",
        "Vase": "decor",
        "Watch": "small decor",
        "WineBottle": "wine bottle cool",
    }.items()
}

ROOMS: dict[str, Room] = {
    "kitchen": Room(
        {
            "Cabinet": (3, 6),
            "CoffeeMachine": (1, 1),
            "CounterTop": (1, 3),
            "DiningTable": (0, 1),
            "Drawer": (1, 4),
            "Fridge": (1, 1),
            "GarbageCan": (1, 1),
            "Microwave": (1, 1),
            "Shelf": (0, 2),
            "SinkBasin": (1, 1),
            "StoveBurner": (2, 2),
        },
        _names(
            "Apple Bowl Bread ButterKnife Cup DishSponge Egg Fork Knife Lettuce Mug Pan "
            "PepperShaker Plate Pot Potato SaltShaker SoapBottle Spatula Spoon Tomato "
            "WineBottle"
        ),
    ),
    "bedroom": Room(
        {
            "ArmChair": (0, 1),
            "Bed": (1, 1),
            "Desk": (1, 2),
            "Drawer": (2, 5),
            "Dresser": (0, 1),
            "GarbageCan": (1, 1),
            "Safe": (0, 1),
            "Shelf": (1, 4),
            "SideTable": (1, 2),
        },
        _names(
            "AlarmClock Book Bowl CD CellPhone CreditCard KeyChain Laptop Mug Pen Pencil Pillow Statue Watch"
        ),
        lamp_on=("Desk", "SideTable", "Dresser"),
    ),
    "living room": Room(
        {
            "ArmChair": (1, 2),
            "Cabinet": (0, 2),
            "CoffeeTable": (1, 1),
            "Drawer": (1, 4),
            "Dresser": (0, 1),
            "GarbageCan": (1, 1),
            "Safe": (0, 1),
            "Shelf": (1, 3),
            "SideTable": (1, 2),
            "Sofa": (1, 1),
        },
        _names(
            "Book CreditCard KeyChain Laptop Newspaper Pillow Plate RemoteControl Statue TissueBox Vase Watch"
        ),
        lamp_on=("SideTable", "CoffeeTable"),
    ),
    "bathroom": Room(
        {
            "Cabinet": (2, 4),
            "Cart": (0, 1),
            "CounterTop": (1, 2),
            "Drawer": (1, 3),
            "GarbageCan": (1, 1),
            "Shelf": (0, 2),
            "SideTable": (0, 1),
            "SinkBasin": (1, 2),
            "Toilet": (1, 1),
        },
        _names("Candle Cloth DishSponge SoapBar SoapBottle SprayBottle TissueBox ToiletPaper"),
    ),
}


def fits(place: str, thing: str) -> bool:
    """Whether an object of class `thing` may lie in or on a place of class `place`."""
    return bool(PLACES[place].takes & OBJECTS[thing])
