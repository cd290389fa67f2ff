"""Structured tags: one space for queries and nodes (STRATA, "Graph" and "Similarity").

A tag is `app:NAME`, `op:NAME` or `obj:NAME`. They say which application, operation and target object an
experience is about, which an embedding of the text does not keep apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

KINDS = ("app", "op", "obj")
NO_GROUP = "none"

_TAG = re.compile(r"(app|op|obj):\w[\w.+-]*")
_WORD = re.compile(r"[^\W_]+")
_SUFFIXES = ("ing", "ed", "es", "s", "e")


def clean_tag(text: str) -> str | None:
    """`text` in the grammar (lower case, blanks as `_`), or None if it is no tag."""
    kind, _, name = text.strip().strip("`'\"").lower().partition(":")
    tag = f"{kind.strip()}:{'_'.join(name.split())}"
    return tag if _TAG.fullmatch(tag) else None


def read_tags(texts: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """The tags among `texts` in their order, each once, and how many texts were none."""
    tags: dict[str, None] = {}
    rejected = 0
    for text in texts:
        tag = clean_tag(text)
        if tag is None:
            rejected += 1
        else:
            tags[tag] = None
    return tuple(tags), rejected


def leading_tag(tags: Sequence[str]) -> str:
    """The group g of a node: its first `app:` tag, else its first `op:` tag, else `none` [ours]."""
    for prefix in ("app:", "op:"):
        for tag in tags:
            if tag.startswith(prefix):
                return tag
    return NO_GROUP


def names(tags: Iterable[str], kind: str) -> tuple[str, ...]:
    """The names of the tags of one kind: `names(("op:heat", "obj:tin"), "op") == ("heat",)`."""
    return tuple(tag[len(kind) + 1 :] for tag in tags if tag.startswith(f"{kind}:"))


@dataclass(frozen=True)
class Lexicon:
    """Opposite operators and the words that mean them (section on contrast edges).

    The pairs are the paper's; the synonyms are [ours].
    """

    opposites: Sequence[Sequence[str]] = (("heat", "cool"), ("create", "delete"))
    synonyms: Mapping[str, str] = field(
        default_factory=lambda: {"melt": "heat", "boil": "heat", "freeze": "cool"}
    )

    def operators(self, tags: Iterable[str]) -> frozenset[str]:
        """The operators of `tags`, synonyms replaced."""
        return frozenset(self.synonyms.get(op, op) for op in names(tags, "op"))

    def opposite(self, operator: str) -> frozenset[str]:
        """The operators opposite to `operator` (itself in the lexicon's words)."""
        pairs = [tuple(pair) for pair in self.opposites]
        return frozenset(b for a, b in [*pairs, *(pair[::-1] for pair in pairs)] if a == operator)

    def directed(self, tags: Iterable[str]) -> frozenset[str]:
        """The operators of `tags` that have an opposite, without those whose opposite is there too."""
        held = self.operators(tags)
        return frozenset(op for op in held if (against := self.opposite(op)) and not against & held)

    def opposed(self, one: Iterable[str], other: Iterable[str]) -> bool:
        """Whether the two sets of tags hold opposite operators; a side that holds both is skipped."""
        directed = self.directed(other)
        return any(self.opposite(op) & directed for op in self.directed(one))


def stem(word: str) -> str:
    """A word without a plural or verb ending: enough to match `freezing` with `freeze` [ours]."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def tags_by_rule(text: str, vocabulary: Iterable[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Tags of a query without a backbone: the fallback [ours].

    Every tag in use whose words all occur in `text`, then the lexicon's operators that occur in it.
    """
    found = {stem(word) for word in _WORD.findall(text.lower())}
    tags = [
        tag
        for tag in sorted(vocabulary)
        if all(stem(word) in found for word in _WORD.findall(tag.partition(":")[2]))
    ]
    words = {op for pair in lexicon.opposites for op in pair} | set(lexicon.synonyms)
    tags += [f"op:{lexicon.synonyms.get(word, word)}" for word in sorted(words) if stem(word) in found]
    return read_tags(tags)[0]
