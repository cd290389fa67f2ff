"""The graph of cerebra fusion as plain values: nodes, edges, scores, and what consolidation does to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["success", "pattern", "playbook", "checklist"]
KINDS: tuple[Kind, ...] = ("success", "pattern", "playbook", "checklist")

MOST_LINES = 12
"""Lines of a node: a merge adds no more [ours]."""


@dataclass(frozen=True)
class Link:
    """An edge, seen from its newer end."""

    kind: Literal["same_task", "similar"]
    used: int = 0
    """Times that a neighbour was recalled over it."""
    succeeded: int = 0
    """How many of these episodes were judged successes."""


@dataclass(frozen=True)
class FusionNode:
    """One node. `links` lead to older nodes only, so that an edge is written once."""

    kind: Kind
    task: int
    """The task that it came from first."""
    about: str
    """The instruction of that task."""
    text: str
    support: int = 1
    """Episodes merged into it."""
    settled: bool = False
    """Whether a consolidation has compared it since it last changed."""
    links: Mapping[str, Link] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """What is embedded and matched."""
        return f"{self.about}\n{self.text}"


def fused(tfidf: float, cosine: float, share: float = 0.2) -> float:
    """0.2 TF-IDF + 0.8 embedding."""
    return round(share * tfidf + (1 - share) * cosine, 6)


def with_neighbours(
    hits: Sequence[tuple[str, float]],
    neighbours: Mapping[str, Iterable[str]],
    weight: float = 0.7,
    minimum: float = 0.22,
    most: int = 3,
) -> list[tuple[str, float, str]]:
    """(id, score, id of the hit it came by or "") best first: hits, then at most `most` of their neighbours.

    A neighbour takes its best hit's score times `weight`; nothing below `minimum` stays.
    """
    found = {id: (score, "") for id, score in hits if score >= minimum}
    around: dict[str, tuple[float, str]] = {}
    for id, score in hits:
        for other in neighbours[id] if id in found else ():
            reached = round(score * weight, 6)
            if other not in found and reached >= minimum and reached > around.get(other, (0.0, ""))[0]:
                around[other] = (reached, id)
    chosen = sorted(around.items(), key=lambda item: (-item[1][0], item[0]))[:most]
    ranked = sorted({**found, **dict(chosen)}.items(), key=lambda item: (-item[1][0], item[0]))
    return [(id, score, by) for id, (score, by) in ranked]


def useless(link: Link, least_used: int = 10, least_success: float = 0.2) -> bool:
    """An edge used often enough to judge it, and seldom for a success."""
    return link.used >= least_used and link.succeeded / link.used < least_success


def united(older: str, newer: str) -> str:
    """The older text's lines, then those of the newer that it lacks, within the cap."""
    lines = older.splitlines()
    known = {_plain(line) for line in lines}
    for line in newer.splitlines():
        if _plain(line) not in known and len(lines) < MOST_LINES:
            known.add(_plain(line))
            lines.append(line)
    return "\n".join(lines)


def taken_in(older: FusionNode, newer: FusionNode) -> FusionNode:
    """The older node after a merge. A procedure is no set of lines: the newer one replaces it whole."""
    support = older.support + newer.support
    if older.kind in ("success", "playbook"):
        source = replace(newer, support=support, links=older.links)
    else:
        source = replace(older, support=support, text=united(older.text, newer.text))
    return replace(source, settled=older.settled and source.content == older.content)


def joined(one: Link | None, other: Link) -> Link:
    """Two edges between the same ends as one."""
    if one is None:
        return other
    kind = "same_task" if "same_task" in (one.kind, other.kind) else "similar"
    return Link(
        "same_task" if kind == "same_task" else "similar",
        one.used + other.used,
        one.succeeded + other.succeeded,
    )


def _plain(line: str) -> str:
    return " ".join(line.casefold().split())
