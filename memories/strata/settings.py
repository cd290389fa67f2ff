"""Every parameter of STRATA. Values are the paper's unless marked [ours] in configs/memory/strata.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from memories.strata.forgetting import Ageing
from memories.strata.similarity import Weights
from memories.strata.tags import Lexicon
from memories.strata.thresholds import Mode

Contrast = Literal["rule", "hand", "none"]
MetaTags = Literal["round", "accumulate"]
HandPair = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Settings:
    """The parameters, checked. Docstrings of the groups stand in the modules that use them."""

    weights: Weights = field(default_factory=Weights)
    gate: float = 0.35
    layer_bias: float = 0.15
    top_k: int = 3
    contrasts_shown: int = 2
    bullets_shown: int = 5
    thresholds: Mode = "shrunk"
    kappa: float = 30.0
    p_low: float = 0.25
    p_high: float = 0.92
    low_prior: float = 0.33
    high_prior: float = 0.62
    opposites_apart: bool = False
    edge_kappa: float = 6.0
    edge_quantile: float = 0.5
    edge_prior: float = 0.40
    edge_across: float = 0.55
    meta: bool = True
    novelty_gate: bool = True
    meta_tags: MetaTags = "round"
    resolution: float = 1.5
    min_members: int = 2
    max_conductance: float = 0.6
    novelty: float = 0.6
    collection: bool = True
    bridges: bool = True
    cap: int = 40
    hysteresis: float = 0.15
    w_a: float = 0.35
    w_g: float = 0.65
    ageing: Ageing = field(default_factory=Ageing)
    contrast: Contrast = "rule"
    lexicon: Lexicon = field(default_factory=Lexicon)
    hand_pairs: Sequence[HandPair] = field(default_factory=tuple)
    episode_tokens: int = 6000
    seed: int = 0

    def __post_init__(self) -> None:
        choices = (
            ("thresholds", self.thresholds, ("shrunk", "per_group", "fixed")),
            ("contrast", self.contrast, ("rule", "hand", "none")),
            ("meta_tags", self.meta_tags, ("round", "accumulate")),
        )
        for name, value, allowed in choices:
            if value not in allowed:
                raise ValueError(f"memory.{name} is {value!r}: choose one of {', '.join(allowed)}")
        for name, least in (("top_k", 1), ("cap", 1), ("min_members", 2), ("bullets_shown", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"memory.{name} is {getattr(self, name)}: it must be at least {least}")
        for name in ("gate", "hysteresis", "p_low", "p_high"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"memory.{name} is {getattr(self, name)}: it must lie between 0 and 1")
