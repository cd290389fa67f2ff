"""`embedder=api`: any provider's embedding model, through litellm."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from envs.base import SetupError
from memories.base import EmbeddingFailed, Vectors

Send = Callable[[list[str]], list[list[float]]]


class Api:
    """Vectors of `model`, normalised. Identical texts of one call are sent once.

    `dimension` is what the model gives (a reply of another length is an error); `api_key_env` names
    the environment variable that holds the key, or is empty for a server that wants none.
    """

    def __init__(
        self,
        model: str,
        dimension: PositiveInt,
        api_base: str | None = None,
        api_key_env: str = "",
        batch: PositiveInt = 64,
        timeout: PositiveFloat = 60.0,
        retries: NonNegativeInt = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if api_key_env and not os.environ.get(api_key_env):
            raise SetupError(f"embedder=api needs a key: set the environment variable {api_key_env}")
        self.name = model
        self.dimension = dimension
        self._api_base, self._api_key_env = api_base, api_key_env
        self._batch, self._timeout, self._retries, self._sleep = batch, timeout, retries, sleep

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension). Raises EmbeddingFailed after all retries."""
        distinct = list(dict.fromkeys(texts))
        vectors: dict[str, Vectors] = {}
        for start in range(0, len(distinct), self._batch):
            part = distinct[start : start + self._batch]
            vectors.update(zip(part, self._unit(self._retried(part), len(part)), strict=True))
        return (
            np.stack([vectors[text] for text in texts])
            if texts
            else np.empty((0, self.dimension), np.float32)
        )

    def _retried(self, texts: list[str]) -> list[list[float]]:
        import tenacity

        attempts = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._retries + 1),
            wait=tenacity.wait_exponential(multiplier=1, max=60),
            retry=tenacity.retry_if_exception(_passing),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return attempts(self._send, texts)
        except Exception as error:
            raise EmbeddingFailed(
                f"{self.name} gave no vectors for {len(texts)} texts: {self._clean(error)}"
            ) from None

    def _send(self, texts: list[str]) -> list[list[float]]:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        litellm: Any = import_module("litellm")

        # It reads a max_retries of 0 as "the default", and would retry beneath our own retries.
        litellm.DEFAULT_MAX_RETRIES = 0
        reply: Any = litellm.embedding(
            model=self.name,
            # Providers refuse the empty text.
            input=[text.encode("utf-8", "replace").decode() or " " for text in texts],
            api_base=self._api_base,
            api_key=os.environ.get(self._api_key_env, "none")
            if self._api_base or self._api_key_env
            else None,
            timeout=self._timeout,
            max_retries=0,
            caching=False,
            encoding_format="float",
        )
        rows = sorted(reply.data, key=lambda row: row["index"])
        return [row["embedding"] for row in rows]

    def _unit(self, rows: list[list[float]], expected: int) -> Vectors:
        shapes = {len(row) for row in rows}
        if len(rows) != expected or shapes != {self.dimension}:
            raise EmbeddingFailed(
                f"{self.name} gave {len(rows)} vectors of length {sorted(shapes)} for {expected} texts, "
                f"expected length {self.dimension}: set embedder.dimension to what the model gives"
            )
        matrix = np.array(rows, dtype=np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(matrix).all() or not lengths.all():
            raise EmbeddingFailed(f"{self.name} gave a vector that is zero or not finite")
        unit: Vectors = (matrix / lengths).astype(np.float32)
        return unit

    def _clean(self, error: Exception) -> str:
        key = os.environ.get(self._api_key_env, "") if self._api_key_env else ""
        text = f"{type(error).__name__}: {error}"
        return text.replace(key, "***") if key else text


def _passing(error: BaseException) -> bool:
    """Whether another attempt may help: connection lost, timed out, 429 or 5xx."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return status in (408, 409, 429) or status >= 500
    return isinstance(error, (OSError, TimeoutError))
