"""An answer in any form: fields filled by extraction from the prompt's blocks, within what the schema allows.

Works on the JSON schema of a pydantic model: enums, bounds, lengths, patterns, unions, nested and recursive
models. Rules beside each memory (agents.reader.answers) are sharper; this one is always there.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from agents.reader.answers import Prompt
from agents.reader.words import content_words, words

Schema = Mapping[str, Any]
_DEPTH = 6
_REQUESTS = ("reply_form",)
"""Blocks that describe the answer, not what it is about."""
_LIST = 3
"""Entries of a list that the schema does not ask more or fewer of [ours]."""


def fill(schema: type[BaseModel], prompt: Prompt, rng: random.Random) -> Any:
    """Plain data that `schema` accepts, as far as a JSON schema can tell."""
    described = schema.model_json_schema(by_alias=True)
    return _Filler(prompt, rng, described.get("$defs", {})).value(described, "", 0)


class _Filler:
    def __init__(self, prompt: Prompt, rng: random.Random, definitions: Schema) -> None:
        self.rng = rng
        self.definitions = definitions
        self.blocks = {n: t for n, t in prompt.blocks.items() if n not in _REQUESTS}
        self.task = prompt.block("task")
        self.text = "\n".join(text for texts in self.blocks.values() for text in texts) or prompt.text
        self.sentences = [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n", self.text) if len(s.strip()) > 2]
        self.used: set[str] = set()

    def value(self, schema: Schema, name: str, depth: int) -> Any:
        if "$ref" in schema:
            schema = {**self.definitions[schema["$ref"].rsplit("/", 1)[-1]], **_without_ref(schema)}
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if union in schema:
                return self.value(self.option(schema[union], depth), name, depth)
        if "allOf" in schema:
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                merged |= self.definitions.get(str(part.get("$ref", "")).rsplit("/", 1)[-1], part)
            return self.value(merged, name, depth)
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = kind[0] if isinstance(kind, list) else kind
        return getattr(self, f"_{kind}")(schema, name, depth)

    def option(self, options: Sequence[Schema], depth: int) -> Schema:
        """The first option that is not null; null where the form contains itself too deeply."""
        null = next((option for option in options if option.get("type") == "null"), None)
        others = [option for option in options if option.get("type") != "null"]
        if null is not None and (depth >= _DEPTH or not others):
            return null
        flat = [option for option in others if "$ref" not in option]
        return (flat or others)[0] if depth >= _DEPTH else others[0]

    def choice(self, options: Sequence[Any]) -> Any:
        """The option that the text speaks of most; chance settles ties."""
        found = words(self.text)
        counts = [found.count(str(option).lower()) for option in options]
        best = [option for option, count in zip(options, counts, strict=True) if count == max(counts)]
        return self.rng.choice(best)

    def _object(self, schema: Schema, name: str, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            key: self.value(field, key, depth + 1)
            for key, field in schema.get("properties", {}).items()
            if key in required or depth < _DEPTH - 2
        }

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.value(item, name, depth + 1) for item in schema["prefixItems"]]
        least, most = schema.get("minItems", 0), schema.get("maxItems", max(_LIST, schema.get("minItems", 0)))
        number = least if depth >= _DEPTH - 2 else max(least, min(_LIST, most))
        entries: list[Any] = []
        for _ in range(4 * number):
            entry = self.value(schema.get("items", {"type": "string"}), name, depth + 1)
            if entry not in entries or (not schema.get("uniqueItems") and len(entries) < least):
                entries.append(entry)
            if len(entries) == number:
                break
        return entries

    def _string(self, schema: Schema, name: str, depth: int) -> str:
        least, most = int(schema.get("minLength", 0)), int(schema.get("maxLength", 400))
        pattern = schema.get("pattern")
        for text in self.candidates(
            name, schema.get("description", ""), short=most < 30 or pattern is not None
        ):
            text = text[:most].strip() if least <= len(text[:most].strip()) else text[:most]
            if len(text) >= least and (pattern is None or re.search(pattern, text)):
                self.used.add(text)
                return text
        return ("unknown " * (least // 8 + 1))[: max(least, min(most, 7))]

    def candidates(self, name: str, description: str, short: bool) -> list[str]:
        """Texts for a field, the likeliest first: a block of its name, then what speaks of its words."""
        own = [text.strip() for text in self.blocks.get(name, ())]
        about = content_words(f"{name.replace('_', ' ')} {description}") | content_words(self.task)
        ranked = sorted(self.sentences, key=lambda s: (s in self.used, -len(about & content_words(s))))
        terms = sorted(content_words(self.task or self.text), key=lambda word: (word in self.used, word))
        texts = [*own, *ranked[:20]]
        if short or name.endswith(("tags", "keywords", "name", "title", "id", "ids")):
            texts = [*terms, *texts]
        fresh = [text for text in texts if text not in self.used]
        return [*fresh, *texts, "-".join(terms[:4]), "_".join(terms[:4]), "a", "1"]

    def _integer(self, schema: Schema, name: str, depth: int) -> int:
        low, high = _bounds(schema, 1)
        step = int(schema.get("multipleOf", 1))
        value = math.ceil(low) if low > -math.inf else math.floor(min(0, high))
        value = -(-value // step) * step
        return 1 * step if value < step <= high and low <= step and value == 0 else value

    def _number(self, schema: Schema, name: str, depth: int) -> float:
        low, high = _bounds(schema, 1e-6)
        if low > -math.inf and high < math.inf:
            return (low + high) / 2
        return float(low if low > -math.inf else min(0.0, high))

    def _boolean(self, schema: Schema, name: str, depth: int) -> bool:
        return bool(content_words(name.replace("_", " ")) & content_words(self.text))

    def _null(self, schema: Schema, name: str, depth: int) -> None:
        return None


def _without_ref(schema: Schema) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$ref"}


def _bounds(schema: Schema, margin: float) -> tuple[float, float]:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if "exclusiveMinimum" in schema:
        low = max(low, schema["exclusiveMinimum"] + margin)
    if "exclusiveMaximum" in schema:
        high = min(high, schema["exclusiveMaximum"] - margin)
    return low, high
