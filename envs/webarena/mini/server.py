"""All small sites behind loopback ports, with one state that a reset puts back.

As `proxy`, the sites are reached under names that no real host has (RFC 6761), through one port that is
the browser's proxy: addresses stay the same from run to run, every site has its own cookies, and nothing
else can be reached. With ports, each site has one of its own, as the real ones do.

    python -m envs.webarena.mini.server      # the sites on ports, and the WA_* lines that name them
"""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Mapping
from functools import cache
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from envs.webarena.mini import admin, forum, hosting, maps, shop, wiki
from envs.webarena.mini.exchange import Request, Response, Site, State

SITES: Mapping[str, tuple[Site, str]] = {
    "shopping": (shop.site, "shop"),
    "shopping_admin": (admin.site, "shop"),
    "reddit": (forum.site, "forum"),
    "gitlab": (hosting.site, "hosting"),
    "map": (maps.site, "map"),
    "wikipedia": (wiki.site, "wiki"),
    "homepage": (wiki.home, "wiki"),
}
"""Site -> its pages, and the part of the state that they show."""
PREFIX = {"shopping_admin": "/admin"}
"""What a site's address has behind its host."""
NAMES = {
    "shop.test": "shopping",
    "back-office.test": "shopping_admin",
    "forum.test": "reddit",
    "code.test": "gitlab",
    "map.test": "map",
    "wiki.test": "wikipedia",
    "home.test": "homepage",
}
"""Hosts behind the proxy."""


@cache
def _initial() -> str:
    return files("envs.webarena.mini").joinpath("data.json").read_text(encoding="utf-8")


class MiniSites:
    """The sites, running until `close`. `proxy` as above."""

    def __init__(self, proxy: bool = True) -> None:
        self.state: State = {}
        self.hits: list[tuple[str, str, str]] = []
        """(site, method, path) of every request, in order."""
        self._lock = threading.Lock()
        self.reset()
        names = ["*"] if proxy else list(SITES)
        self._servers = {name: _Server(self, name) for name in names}
        if proxy:
            self.addresses = {site: f"http://{host}{PREFIX.get(site, '')}" for host, site in NAMES.items()}
        else:
            self.addresses = {site: f"{self._servers[site].url}{PREFIX.get(site, '')}" for site in names}

    @property
    def proxy(self) -> str:
        """Address of the proxy."""
        return self._servers["*"].url

    @property
    def variables(self) -> dict[str, str]:
        """The WA_* variables that name these sites."""
        found = {f"WA_{site.upper()}": address for site, address in self.addresses.items()}
        return {**found, "WA_FULL_RESET": self.addresses["homepage"]}

    def reset(self) -> None:
        """Put every site back to its start."""
        with self._lock:
            self.state = copy.deepcopy(json.loads(_initial()))

    def answer(self, site: str, request: Request) -> Response:
        """One request, alone: the sites' state is shared."""
        pages, part = SITES[site]
        if site == "homepage" and request.path == "/reset":
            self.reset()
            return Response("Reset initiated", plain=True)
        with self._lock:
            self.hits.append((site, request.method, request.path))
            try:
                return pages(self.state[part], request)
            except (LookupError, ValueError):  # a form that lacks a field, a number that is none
                return Response("400 Bad Request", 400, plain=True)

    def stop(self, site: str) -> None:
        """Take one site off the net (ports only)."""
        self._servers[site].close()

    def close(self) -> None:
        """End all servers. Idempotent."""
        for server in self._servers.values():
            server.close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    stopped = False

    def handle_error(self, *_: Any) -> None:
        """A browser that is closed while it loads a page breaks its connections: nothing to tell."""


class _Server:
    def __init__(self, sites: MiniSites, name: str) -> None:
        handler = type("Handler", (_Handler,), {"sites": sites, "site": name})
        self._server = _Listener(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._open = True
        serve = {"poll_interval": 0.05}
        threading.Thread(target=self._server.serve_forever, kwargs=serve, daemon=True).start()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._server.stopped = True
            self._server.shutdown()
            self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    sites: MiniSites
    site: str
    server: _Listener

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self._serve(dict(parse_qsl(self.rfile.read(length).decode(errors="replace"), keep_blank_values=True)))

    def do_CONNECT(self) -> None:
        self._send(Response("There is no such site.", 502, plain=True), "")

    def _serve(self, form: Mapping[str, str]) -> None:
        if self.server.stopped:  # a connection that was kept open
            self.close_connection = True
            return
        url = urlsplit(self.path)
        site = self.site if self.site != "*" else NAMES.get(url.hostname or "", "")
        if not site:
            return self._send(Response("There is no such site.", 502, plain=True), "")
        # Ports of one host share their cookies: the cookie's name carries the site.
        cookie = f"user_{site}"
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        request = Request(
            self.command,
            "/" + unquote(url.path).strip("/"),
            dict(parse_qsl(url.query, keep_blank_values=True)),
            form,
            cookies[cookie].value if cookie in cookies else None,
            self.sites.addresses,
        )
        self._send(self.sites.answer(site, request), cookie)

    def _send(self, response: Response, cookie: str) -> None:
        body = response.body.encode("utf-8", "replace")
        self.send_response(response.status)
        kind = "plain" if response.plain else "html"
        self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if response.location:
            self.send_header("Location", response.location)
        if response.log_in:
            self.send_header("Set-Cookie", f'{cookie}="{response.log_in}"; Path=/')
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    for variable, address in MiniSites(proxy=False).variables.items():
        print(f"export {variable}={address}", flush=True)
    threading.Event().wait()
