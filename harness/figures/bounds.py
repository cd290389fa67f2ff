"""The rules of the radars' axes, in decimals (binary fractions would round 0.5 steps wrongly)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_STEP, _HALF = Decimal(1), Decimal("0.5")
_LOW, _HIGH = Decimal(0), Decimal(100)


def decimal(value: float) -> Decimal:
    """A float as the decimal number that it is printed as, within nine places."""
    return round(Decimal(repr(float(value))), 9)


def spoke_bounds(values: Sequence[float]) -> tuple[Decimal, Decimal]:
    """[L, U] of one spoke from all values plotted on it (EvoWeave, appendix C).

    With minimum a and maximum b: p = max(0.15 (b - a), 0.5); a - p rounded down and b + p up, in steps
    of 1 when b - a >= 3, else 0.5; then clipped to [0, 100]. Values below 0 or above 100 are clipped
    first. Raises ValueError without a value.
    """
    if not values:
        raise ValueError("a spoke needs at least one value")
    inside = [min(max(decimal(value), _LOW), _HIGH) for value in values]
    low, high = min(inside), max(inside)
    margin = max(Decimal("0.15") * (high - low), _HALF)
    step = _STEP if high - low >= 3 else _HALF
    bottom = ((low - margin) / step).to_integral_value(ROUND_FLOOR) * step
    top = ((high + margin) / step).to_integral_value(ROUND_CEILING) * step
    return max(bottom, _LOW), min(top, _HIGH)


def radius(value: float, low: Decimal, high: Decimal) -> float:
    """(x - L) / (U - L), the value clipped to 0..100 first; within 0..1."""
    inside = min(max(decimal(value), _LOW), _HIGH)
    return float(min(max((inside - low) / (high - low), Decimal(0)), Decimal(1)))


def floor_of(values: Sequence[float]) -> int:
    """The non-zero floor at which every axis of a STRATA radar starts.

    The paper prints its floors but gives no rule. [ours]: the largest of 90, 80, ..., 10, 5, 1 below every
    value that is no outlier downward (Tukey: more than 1.5 interquartile ranges below the lower quartile);
    1 if there is none. Values below the floor are clipped to it and listed. Raises ValueError without a value.
    """
    if not values:
        raise ValueError("a radar needs at least one value")
    ordered = sorted(values)
    lower, upper = _quantile(ordered, 0.25), _quantile(ordered, 0.75)
    kept = [value for value in ordered if value >= lower - 1.5 * (upper - lower)]
    candidates = [*range(90, 0, -10), 5, 1]
    return next((floor for floor in candidates if floor < min(kept)), 1)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def spoke_label(value: Decimal) -> str:
    """A bound as printed: 62, 62.5."""
    return format(value.normalize(), "f")
