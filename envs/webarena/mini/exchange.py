"""What a small site is asked and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

ACCOUNTS: Mapping[str, tuple[str, str]] = {
    "reddit": ("MarvelsGrantMan136", "test1234"),
    "gitlab": ("byteblaze", "hello1234"),
    "shopping": ("emma.lopez@gmail.com", "Password.123"),
    "shopping_admin": ("admin", "admin1234"),
}
"""The benchmark's public accounts, with which its own code logs in."""

State = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One request to one site."""

    method: str
    path: str
    """Without the final slash, `/` for the start page."""
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    """Who is logged in to this site."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Site -> address: for pages that link to other sites."""

    @property
    def parts(self) -> list[str]:
        """The path's parts."""
        return [part for part in self.path.split("/") if part]


@dataclass(frozen=True)
class Response:
    """One answer."""

    body: str = ""
    status: int = 200
    location: str = ""
    """Where to go instead (303)."""
    log_in: str | None = None
    """Who is logged in from now on."""
    plain: bool = False


Site = Callable[[State, Request], Response]


def go(location: str) -> Response:
    """See another page."""
    return Response(status=303, location=location)


def log_in(site: str, request: Request, name: str, password: str, target: str) -> Response:
    """Check a login form."""
    if (request.form.get(name), request.form.get(password)) == ACCOUNTS[site]:
        return Response(status=303, location=target, log_in=ACCOUNTS[site][0])
    return Response("<!doctype html><title>Login</title><p>Wrong name or password.</p>", 403)
