"""A local server that speaks the OpenAI chat protocol, with faults on demand: the paid network's stand-in.

    with OpenAIServer(["hello", Fault(429, headers={"Retry-After": "7"}), "again"]) as server:
        ... api_base=server.url ...
        server.requests  # bodies received, in order

A script item is a text, a `Chat`, a `Fault`, `DROP` (the connection is closed without an answer), `Slow`,
or a function of the request's body that gives one of these. The script's end answers 500.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Chat:
    """A chat completion. `usage` None leaves the usage out."""

    text: str | None
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    )
    finish: str = "stop"
    model: str = "served-model-2026"
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message, e.g. reasoning_content."""


@dataclass(frozen=True)
class Fault:
    """An HTTP error with a body, or any body that is not a completion (status 200)."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Slow:
    """An answer that comes after `seconds`."""

    seconds: float
    text: str = "late"


class Drop:
    """The connection is closed without an answer."""


DROP = Drop()
Item = str | Chat | Fault | Slow | Drop
Script = Iterable[Item | Callable[[dict[str, Any]], Item]]


def error(message: str, code: str | None = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error body as OpenAI writes it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class OpenAIServer:
    """The server, on a free loopback port, while its `with` block lasts."""

    def __init__(
        self, script: Script | Callable[[dict[str, Any]], Item] = (), models: Iterable[str] = ("m",)
    ):
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.models = list(models)
        self.models_status = 200
        self._every = script if callable(script) else None
        self._script = iter(()) if callable(script) else iter(script)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The `api_base` to use."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> OpenAIServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> Item:
        """The next item of the script for a request."""
        item = self._every or next(self._script, Fault(500, error("the script is at its end")))
        return item(body) if callable(item) else item

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.headers_seen()
                models = [{"id": name, "object": "model"} for name in outer.models]
                self.respond(outer.models_status, {"object": "list", "data": models}, {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                with outer._lock:
                    outer.requests.append(body)
                    self.headers_seen()
                    item = outer.answer(body)
                if isinstance(item, Slow):
                    time.sleep(item.seconds)
                    item = item.text
                if isinstance(item, Drop):
                    self.close_connection = True
                    return
                if isinstance(item, Fault):
                    self.respond(
                        item.status, item.body if item.body is not None else error("broken"), item.headers
                    )
                else:
                    self.respond(200, completion(Chat(item) if isinstance(item, str) else item), {})

            def headers_seen(self) -> None:
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})

            def respond(self, status: int, content: Any, headers: Mapping[str, str]) -> None:
                body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                    self.wfile.flush()
                except OSError:
                    self.close_connection = True  # the client has gone: it timed out

        return Handler


def completion(chat: Chat) -> dict[str, Any]:
    """A chat completion's body."""
    message = {"role": "assistant", "content": chat.text, **chat.message}
    body: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": chat.model,
        "choices": [{"index": 0, "finish_reason": chat.finish, "message": message}],
    }
    if chat.usage is not None:
        body["usage"] = dict(chat.usage)
    return body
