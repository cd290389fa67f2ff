"""Token counts by the one bundled tokenizer (all-MiniLM-L6-v2's WordPiece).

Caps and offline counts use it whatever the backbone; a table says so. Providers' own counts differ.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

TOKENIZER = Path(__file__).parent / "data" / "minilm" / "tokenizer.json"


@lru_cache(maxsize=1)
def tokenizer() -> Any:
    """The bundled tokenizer, without truncation, padding or special tokens."""
    from tokenizers import Tokenizer

    bundled = Tokenizer.from_file(str(TOKENIZER))
    bundled.no_truncation()
    bundled.no_padding()
    return bundled


@lru_cache(maxsize=8192)
def count(text: str) -> int:
    """Number of tokens of `text`."""
    return len(tokenizer().encode(text, add_special_tokens=False).ids) if text else 0


def head(text: str, limit: int) -> str:
    """The longest prefix of `text` with at most `limit` tokens."""
    return _piece(text, limit, first=True)


def tail(text: str, limit: int) -> str:
    """The longest suffix of `text` with at most `limit` tokens."""
    return _piece(text, limit, first=False)


def _piece(text: str, limit: int, *, first: bool) -> str:
    if limit <= 0:
        return ""
    offsets = tokenizer().encode(text, add_special_tokens=False).offsets
    if len(offsets) <= limit:
        return text
    return text[: offsets[limit - 1][1]] if first else text[offsets[-limit][0] :]


def head_and_tail(text: str, limit: int) -> str:
    """`text` within about `limit` tokens: its head and its tail, with a mark where the middle was cut."""
    total = count(text)
    if total <= limit:
        return text
    half = max(limit // 2, 1)
    return f"{head(text, half)}\n[... {total - 2 * half} tokens left out ...]\n{tail(text, half)}"
