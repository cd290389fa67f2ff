"""Contrast edges: which workflows do opposite things (STRATA, contrast edges)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from memories.strata.settings import HandPair
from memories.strata.store import Store


def opposites_of(tags: Sequence[str], store: Store) -> tuple[str, ...]:
    """Ids of the workflows that one with `tags` is to be linked with, in creation order.

    By rule: opposite operators, whatever the objects. By hand: the pairs of patterns in the configuration.
    """
    s, lexicon = store.settings, store.settings.lexicon
    if s.contrast == "none":
        return ()
    if s.contrast == "hand":
        others = store.graph.live("workflow")
        return tuple(node.id for node in others if by_hand(tags, node.tags, s.hand_pairs))
    against = {op for mine in lexicon.directed(tags) for op in lexicon.opposite(mine)}
    words = against | {word for word, operator in lexicon.synonyms.items() if operator in against}
    found = store.with_operators(words)
    return tuple(node.id for node in found if against & lexicon.directed(node.tags))


def by_hand(one: Sequence[str], other: Sequence[str], pairs: Sequence[HandPair]) -> bool:
    """Whether a pair of patterns fits the two sets of tags, either way round.

    A pattern is a list of tags, `*` for anything; it fits if each of them is matched by a tag.
    """

    def fits(pattern: Sequence[str], tags: Sequence[str]) -> bool:
        return all(any(fnmatchcase(tag, wanted) for tag in tags) for wanted in pattern)

    return any(
        (fits(left, one) and fits(right, other)) or (fits(left, other) and fits(right, one))
        for left, right in pairs
    )
