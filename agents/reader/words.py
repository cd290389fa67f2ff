"""The reader's word list: what any dictionary says of things, and nothing of any task's answer [ours]."""

from __future__ import annotations

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ANIMALS = _set(
    """
    animal ant bear beaver bee bird jay butterfly cat chameleon chipmunk crocodile crow deer dog
    dolphin dove dragonfly duck eagle elephant fish fly fox frog gorilla hedgehog horse lizard moth
    mouse mosquito owl parrot pig rabbit rat salamander sheep snake spider squirrel toad tortoise turtle
    wolf worm zebra
    """
)
YOUNG = ("egg", "hatchling", "juvenile", "baby", "tadpole", "caterpillar", "pupa", "nymph", "larva")
PLANTS = _set(
    """
    bush cactus flower grass plant seed seedling shrub tree
    """
)
DEAD = ("dead",)

FIXED = _set(
    """
    agent air armchair basin bath bathtub bed bookshelf cabinet ceiling chair closet counter couch
    cupboard desk door drain drawer dresser fire fireplace floor fountain freezer fridge furnace ground
    hive mirror oven pit refrigerator shelf sink sofa soil stove table toilet wall water window wood
    """
)
"""Things that one does not carry about."""
STORES = _set(
    """
    bookshelf cabinet closet cupboard drawer dresser freezer fridge oven refrigerator
    """
)

MIXED_PAINT = {
    "orange": ("red", "yellow"),
    "green": ("blue", "yellow"),
    "violet": ("red", "blue"),
    "purple": ("red", "blue"),
}
RENEWABLE = ("solar", "wind")
POWER = ("battery", "generator", "solar panel", "wind mill", "windmill", "turbine")
HEATERS = ("stove", "oven", "blast furnace", "fire pit", "lighter")
COOLERS = ("ultra low temperature freezer", "freezer", "fridge")
POTS = ("metal pot", "ceramic cup", "tin cup", "glass cup", "pot", "bowl", "cup")
ANIMAL_STAGES = (("egg",), ("hatchling", "baby", "larva", "tadpole"), ("juvenile", "pupa"), ("adult",))
PLANT_STAGES = (("seed",), ("seedling",), ("adult",), ("reproducing",))

_COMMON = _set(
    """
    a about above actions after all also an and any are around as at be been below by can cause
    change complete create determine done find first focus for from has have how if in into is it
    its lesson like located made make may might move need next now of on once one or order out place
    put so some step steps strategy succeeded take task tasks that the their them then there these
    they thing this through to turn use using was what when where which while will with worked you
    your
    """
)


def words(text: str) -> list[str]:
    """Lower-case words of a text, in order."""
    return re.findall(r"[a-z0-9]+", text.lower())


def content_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, plural endings taken off."""
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words(text)
        if word not in _COMMON and not word.isdigit()
    )


def overlap(one: str, other: str) -> float:
    """Share of the shorter text's content words that the other has too, 0..1; 0 below three words."""
    first, second = content_words(one), content_words(other)
    least = min(len(first), len(second))
    return len(first & second) / least if least >= 3 else 0.0


def is_animal(name: str) -> bool:
    """Whether a thing of that name is a living animal."""
    found = set(words(name))
    return (
        bool(found & ANIMALS)
        and not found & set(DEAD)
        and not found & {"painting", "drawing", "hive", "book"}
    )


def is_plant(name: str) -> bool:
    """Whether a thing of that name is a living plant."""
    found = set(words(name))
    return bool(found & PLANTS) and not found & {*DEAD, "jar", "pot"}


def is_alive(name: str) -> bool:
    return is_animal(name) or is_plant(name)


def is_portable(name: str) -> bool:
    """Whether a thing of that name is one that a person carries about."""
    return not set(words(name)) & FIXED
