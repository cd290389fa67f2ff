"""Who may use the real sites: addresses, the reset, and that no run inherits another's changes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from envs.base import EnvironmentFailed, SetupError
from envs.webarena import sites
from envs.webarena.sites import Use

SITES = {name: f"http://{name.lower()}" for name in sites.VARIABLES}


def never(_: str) -> None:
    raise AssertionError("no reset was due")


@pytest.fixture
def claim(tmp_path: Path) -> Callable[..., Use]:
    def claimed(
        run: str,
        number: int,
        server: str | None = None,
        allowed: bool = False,
        reset: Callable[[str], None] = never,
    ) -> Use:
        use = Use(run, SITES, tmp_path)
        use.claim(number, server, allowed, reset)
        return use

    return claimed


def test_a_second_run_on_unreset_sites_is_refused(claim: Callable[..., Use]) -> None:
    first = claim("runs/none/0", 1)
    first.note(2)
    with pytest.raises(SetupError, match=r"runs/none/0 \(2 tasks") as refused:
        claim("runs/flat/0", 1)
    assert "WA_FULL_RESET" in str(refused.value) and "env.allow_unreset=true" in str(refused.value)
    assert str(first.path) in str(refused.value)
    claim("runs/flat/0", 1, allowed=True)
    with pytest.raises(SetupError, match="runs/flat/0"):
        claim("runs/none/0", 3)


def test_a_run_that_is_resumed_goes_on_without_a_reset(claim: Callable[..., Use]) -> None:
    first = claim("runs/none/0", 5)
    first.note(9)
    claim("runs/none/0", 9, server="http://reset")  # the task that was interrupted
    claim("runs/none/0", 2, server="http://reset")  # the next in a shuffled order


def test_the_same_run_from_its_start_is_a_second_run(claim: Callable[..., Use]) -> None:
    claim("runs/none/0", 1).note(2)
    with pytest.raises(SetupError, match="not reset since"):
        claim("runs/none/0", 1)


def test_the_reset_server_is_called_once_for_a_second_run(claim: Callable[..., Use]) -> None:
    called: list[str] = []
    claim("a", 1, server="http://reset", reset=called.append)
    assert called == []
    claim("b", 1, server="http://reset", reset=called.append).note(2)
    assert called == ["http://reset"]
    claim("b", 3, server="http://reset", reset=called.append)
    assert called == ["http://reset"]


def test_a_failed_reset_leaves_the_other_runs_mark(claim: Callable[..., Use]) -> None:
    def broken(_: str) -> None:
        raise EnvironmentFailed("the reset server is gone")

    claim("a", 1)
    with pytest.raises(EnvironmentFailed):
        claim("b", 1, server="http://reset", reset=broken)
    with pytest.raises(SetupError, match="the run a"):
        claim("b", 1)


def test_sites_in_use_by_a_living_run_are_not_reset(claim: Callable[..., Use]) -> None:
    use = claim("a", 1)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        use.path.write_text(use.path.read_text().replace(f'"pid": {os.getpid()}', f'"pid": {other.pid}'))
        with pytest.raises(SetupError, match="in use by the run a"):
            claim("b", 1, server="http://reset")
        other.communicate(b"\n")
    claim("b", 1, server="http://reset", reset=lambda _: None)


def test_other_sites_have_a_mark_of_their_own(tmp_path: Path) -> None:
    Use("a", SITES, tmp_path).claim(1, None, False, never)
    Use("b", {**SITES, "WA_MAP": "http://elsewhere"}, tmp_path).claim(1, None, False, never)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_mark_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    use = Use("a", SITES, tmp_path)
    use.path.write_text("{")
    use.claim(1, None, False, never)


def test_addresses_that_are_missing_are_named() -> None:
    assert sites.addresses({**SITES, "WA_MAP": "http://map/ "})["WA_MAP"] == "http://map"
    with pytest.raises(SetupError, match="WA_MAP, WA_HOMEPAGE not set") as missing:
        sites.addresses({k: v for k, v in SITES.items() if k not in ("WA_MAP", "WA_HOMEPAGE")})
    assert "env=webarena_mini" in str(missing.value)


@pytest.fixture
def reset_server() -> Iterator[tuple[str, list[str], list[tuple[int, str]]]]:
    """Its address, what it was asked, and what it will answer to /status."""
    asked: list[str] = []
    answers: list[tuple[int, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            asked.append(self.path)
            status, text = (200, "Reset initiated") if self.path == "/reset" else answers.pop(0)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked, answers
    server.shutdown()
    server.server_close()


def test_a_reset_waits_until_the_sites_are_ready(
    reset_server: tuple[str, list[str], list[tuple[int, str]]],
) -> None:
    address, asked, answers = reset_server
    answers += [(200, "Reset ongoing"), (200, "Reset ongoing"), (200, sites.READY)]
    sites.reset(f"{address}/", pause=0.01)
    assert asked == ["/reset", "/status", "/status", "/status"]


def test_a_reset_that_does_not_end_is_an_environment_failure(
    reset_server: tuple[str, list[str], list[tuple[int, str]]],
) -> None:
    address, _, answers = reset_server
    answers += [(200, "Reset ongoing")] * 50
    with pytest.raises(EnvironmentFailed, match=r"not done after 0.05 s: Reset ongoing"):
        sites.reset(address, timeout=0.05, pause=0.02)
    with pytest.raises(EnvironmentFailed, match="does not answer"):
        sites.reset("http://127.0.0.1:9")
