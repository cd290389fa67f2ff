"""Which run is which: the part of a configuration that changes results, its hash, and a readable name."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

OPERATIONAL: Mapping[str, frozenset[str]] = {
    "backbone": frozenset(
        {"api_base", "api_key_env", "timeout", "retries", "calls", "label", "name", "price"}
    ),
    "stream": frozenset({"limit", "retries", "on_backbone_failure", "retry_failed"}),
    "memory": frozenset({"label", "per_setting"}),
    "env": frozenset(
        {
            "watchdog",
            "recycle_after",
            "jvm_options",
            "port",
            "ports",
            "cache",
            "run",
            "reset_timeout",
            "api_base",
            "api_key_env",
        }
    ),
    "embedder": frozenset({"api_base", "api_key_env", "timeout", "batch"}),
    "agent": frozenset(),
    "judge": frozenset(),
}
"""By section, the options that do not change results. The other sections (budget, logger, paths) do not
count at all, nor does the seed, which is a folder of its own."""


def what_counts(config: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a resolved configuration that change results, as {"section.option": value}."""
    found: dict[str, Any] = {}
    for section, operational in OPERATIONAL.items():
        for key, value in flatten(config.get(section) or {}).items():
            if not operational & set(key.split(".")):
                found[f"{section}.{key}"] = value
    return found


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys; lists stay values."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def variant(config: Mapping[str, Any], default: Mapping[str, Any]) -> str:
    """Folder name of a variant: what differs from `default` (the same groups, untouched), and a hash.

    e.g. `default-1a2b3c4d`, `k=5,freeze_after=20-9f8e7d6c`.
    """
    counts = what_counts(config)
    before = what_counts(default)
    differing = {key: value for key, value in counts.items() if before.get(key, ...) != value}
    differing.update({key: "unset" for key in before if key not in counts})
    short = {key: key.split(".", 1)[1] for key in differing}
    shared = {name for name, count in Counter(short.values()).items() if count > 1}
    text = ",".join(
        f"{key if short[key] in shared else short[key]}={_short(value)}"
        for key, value in sorted(differing.items())
    )
    name = re.sub(r"[^A-Za-z0-9=,._()\[\]-]", "_", text)[:80] or "default"
    digest = hashlib.sha256(json.dumps(counts, sort_keys=True, default=str).encode()).hexdigest()
    return f"{name}-{digest[:8]}"


def _short(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return str(value)
    shown = [str(item) for item in value]
    if len(shown) > 6:
        shown = [*shown[:2], f"{len(shown) - 3}_more", shown[-1]]
    return "[" + "-".join(shown) + "]"
