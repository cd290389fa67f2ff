"""What a call costs, by our own dated table (configs/prices.yaml). An unknown model has no price, not zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from envs.base import SetupError

TABLE = Path(__file__).resolve().parent.parent / "configs" / "prices.yaml"


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    cached: float
    """Input that the provider read from its prompt cache."""
    output: float


@dataclass(frozen=True)
class PriceTable:
    """Prices by model name, as written in a backbone's `model`."""

    date: str
    """The day on which the prices were looked up."""
    prices: Mapping[str, Price]

    def cost(self, model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        """US dollars of one call, None if the price of `model` is unknown. `cached_tokens` are part of the input."""
        price = self.prices.get(model)
        if price is None:
            return None
        cached = min(cached_tokens, input_tokens)
        dollars = (input_tokens - cached) * price.input + cached * price.cached + output_tokens * price.output
        return dollars / 1_000_000


@lru_cache(maxsize=4)
def load_prices(path: Path = TABLE) -> PriceTable:
    """The price table at `path`. Raises SetupError naming the file and the entry that is wrong."""
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SetupError(f"the price table {path} cannot be read ({error.strerror}): restore it") from None
    except yaml.YAMLError as error:
        raise SetupError(f"the price table {path} is not valid YAML: {error}") from None
    if not isinstance(table, dict) or not isinstance(table.get("models"), dict) or "date" not in table:
        raise SetupError(f"the price table {path} needs the keys `date` and `models`")
    prices = {str(name): _price(path, str(name), entry) for name, entry in table["models"].items()}
    return PriceTable(str(table["date"]), prices)


def with_price(table: PriceTable, model: str, entry: Any) -> PriceTable:
    """`table` with the price of `model` as a mapping like those of the file. Raises SetupError."""
    return PriceTable(table.date, {**table.prices, model: _price("backbone.price", model, entry)})


def _price(source: Path | str, name: str, entry: Any) -> Price:
    """One entry. Without a cached rate, cached input costs what other input costs."""
    try:
        cached = entry.get("cached", entry["input"])
        price = Price(float(entry["input"]), float(cached), float(entry["output"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise SetupError(
            f"{source} has the price {entry!r} for {name!r}: give `input` and `output` (and `cached`), "
            "US dollars per million tokens"
        ) from None
    if not 0 <= min(price.input, price.cached, price.output) < float("inf"):
        raise SetupError(f"{source} has the price {entry!r} for {name!r}: none may be negative or infinite")
    return price
