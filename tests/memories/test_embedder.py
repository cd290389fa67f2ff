"""The embedders: the real model, the hashing one, and an API over a real local connection."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from agents.tokens import TOKENIZER
from envs.base import SetupError
from memories.base import Embedder, EmbeddingFailed
from memories.embedder import Api, Hashing, MiniLM
from tests.memories.helpers import HOSTILE


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def cosine(embedder: Embedder, one: str, other: str) -> float:
    vectors = embedder.embed([one, other])
    return float(vectors[0] @ vectors[1])


def test_minilm_gives_the_known_cosines(minilm: MiniLM) -> None:
    """The first as measured beforehand, by other code with the same weights."""
    assert cosine(minilm, "agent holds object", "object in inventory") == pytest.approx(0.40, abs=0.02)
    assert cosine(minilm, "boil water", "heat water until it boils") > 0.7
    assert cosine(minilm, "boil water", "play the next song") < 0.3


def test_minilm_vectors_are_units_and_do_not_depend_on_their_batch(minilm: MiniLM) -> None:
    texts = ["boil water", *HOSTILE, "word " * 600, "\ud800 half a pair"]
    together = minilm.embed(texts)
    assert together.shape == (len(texts), 384)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    alone = MiniLM()
    for text, vector in zip(reversed(texts), together[::-1], strict=True):
        assert alone.embed([text])[0].tobytes() == vector.tobytes()
    assert minilm.embed([]).shape == (0, 384)


def test_minilm_reads_256_tokens(minilm: MiniLM) -> None:
    """254 words and the two marks of start and end; what follows changes nothing."""
    words = ["water"] * 254
    same, other = minilm.embed([" ".join(words), " ".join([*words, "song", "song"])])
    assert same.tobytes() == other.tobytes()
    shorter = minilm.embed([" ".join([*words[:250], "song"])])[0]
    assert shorter.tobytes() != same.tobytes()


def test_minilm_refuses_changed_files(tmp_path: Path) -> None:
    changed = tmp_path / "tokenizer.json"
    shutil.copy(TOKENIZER, changed)
    changed.write_bytes(changed.read_bytes() + b"\n")
    with pytest.raises(SetupError, match="sha256"):
        MiniLM(tokenizer=changed)
    with pytest.raises(SetupError, match="missing"):
        MiniLM(model=tmp_path / "model.onnx")


def test_hashing_counts_words() -> None:
    """Two of three words shared, no collision in 256 places: cosine 2/3."""
    assert cosine(Hashing(256), "boil the water", "Water, the song") == pytest.approx(2 / 3)
    assert cosine(Hashing(256), "", "!") == 1.0
    assert Hashing(8).embed([]).shape == (0, 8)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """Speaks the embeddings protocol: the vector of a text is [its length, 1]; `plan` holds statuses to fail with."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            httpd.asked.append((self.headers.get("Authorization"), body["input"]))
            status = httpd.plan.pop(0) if httpd.plan else 200
            rows = [
                {"object": "embedding", "index": n, "embedding": [len(t), 1]}
                for n, t in enumerate(body["input"])
            ]
            answer = {
                "object": "list",
                "model": body["model"],
                "data": rows[::-1],
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
            content = json.dumps(
                answer if status == 200 else {"error": {"message": "no sk-secret", "code": status}}
            ).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.plan, httpd.asked = [], []
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def test_api(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIAL_KEY", "sk-secret")
    waits: list[float] = []
    base = f"http://127.0.0.1:{server.server_port}/v1"
    api = Api("openai/some-model", 2, base, "TRIAL_KEY", batch=2, retries=2, sleep=waits.append)
    server.plan = [429, 500, 200]
    vectors = api.embed(["abc", "", "abc", "abcd"])
    assert np.allclose(vectors, np.array([[3, 1], [1, 1], [3, 1], [4, 1]]) / np.sqrt([[10], [2], [10], [17]]))
    assert len(waits) == 2
    assert [asked for _, asked in server.asked] == [["abc", " "]] * 3 + [["abcd"]]
    assert {key for key, _ in server.asked} == {"Bearer sk-secret"}
    with pytest.raises(EmbeddingFailed, match=r"vectors of length \[2\] .* set embedder.dimension"):
        Api("openai/some-model", 3, base, "TRIAL_KEY").embed(["abc"])
    server.plan = [401]
    with pytest.raises(EmbeddingFailed) as failed:
        api.embed(["abc"])
    assert "sk-secret" not in str(failed.value)
    server.plan = [500, 500, 500]
    with pytest.raises(EmbeddingFailed, match="gave no vectors"):
        api.embed(["abc"])
    monkeypatch.delenv("TRIAL_KEY")
    with pytest.raises(SetupError, match="TRIAL_KEY"):
        Api("openai/some-model", 2, base, "TRIAL_KEY")
