"""What `python -m scripts.check env=webarena` says: packages, browser, sites, log-ins, reset server, judge."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator, Mapping

from envs.base import Check, EnvironmentFailed, SetupError
from envs.webarena import sites, tasks
from envs.webarena.browser import browser_version, executable, nltk_data
from envs.webarena.environment import WebArena

OPENAI = "https://api.openai.com/v1"
START = "start the site, or correct {}"


def checks(environ: Mapping[str, str] = os.environ, timeout: float = 10.0) -> list[Check]:
    """One line each; a browser is started for the log-ins and the small sites."""
    found = [*_engine()]
    works = all(check.ok for check in found)
    if works:
        found.append(_mini())
    found += [_site(name, environ, timeout) for name in sites.VARIABLES]
    found += _log_ins() if works and sites.VARIABLES.keys() <= environ.keys() else []
    return [*found, _reset_server(environ, timeout), _judge(environ, timeout)]


def _engine() -> Iterator[Check]:
    versions = ", ".join(f"{name} {found}" for name, found in tasks.versions().items())
    yield Check("WebArena: packages", tasks.installed(), versions, tasks.INSTALL)
    if tasks.installed():
        there = executable().exists()
        told = f"{browser_version()} at {executable()}" if there else f"none at {executable()}"
        yield Check("WebArena: browser", there, told, tasks.INSTALL)
        data = nltk_data() / "tokenizers" / "punkt_tab"
        yield Check("WebArena: NLTK's punkt_tab", data.exists(), str(data), tasks.INSTALL)


def _mini() -> Check:
    name = "WebArena: first task of webarena_mini"
    environment = WebArena("webarena_mini", slow_mo=0)
    try:
        opening = environment.open(environment.tasks()[0]).observation.text
        return Check(name, True, f"opens: {opening.splitlines()[0]}")
    except (EnvironmentFailed, SetupError) as error:
        return Check(name, False, str(error), tasks.INSTALL)
    finally:
        environment.close()


def _site(variable: str, environ: Mapping[str, str], timeout: float) -> Check:
    name = f"WebArena: site {sites.VARIABLES[variable]}"
    address = environ.get(variable, "").strip()
    if not address:
        return Check(name, False, f"{variable} is not set", f"export {variable}=http://...")
    try:
        status, _ = sites.fetch(address, timeout)
    except (OSError, ValueError) as error:
        return Check(name, False, f"{address} does not answer: {error}", START.format(variable))
    return Check(name, status < 500, f"{address} answers {status}", START.format(variable))


def _log_ins() -> list[Check]:
    environment = WebArena("webarena", slow_mo=0)
    try:
        failed = environment.log_ins()
    except (EnvironmentFailed, SetupError) as error:
        return [Check("WebArena: log-ins", False, str(error), "mend the lines above")]
    finally:
        environment.close()
    remedy = "reset the sites, so that the benchmark's accounts have their passwords back"
    return [
        Check(f"WebArena: log-in to {site}", site not in failed, failed.get(site, "works"), remedy)
        for site in ("shopping", "shopping_admin", "gitlab", "reddit")
    ]


def _reset_server(environ: Mapping[str, str], timeout: float) -> Check:
    name = "WebArena: reset server"
    server = environ.get(sites.RESET, "").strip()
    if not server:
        return Check(
            name,
            False,
            f"{sites.RESET} is not set: reset by hand between runs",
            f"export {sites.RESET}=http://...",
        )
    try:
        status, text = sites.fetch(f"{server.rstrip('/')}/status", timeout)
    except (OSError, ValueError) as error:
        return Check(name, False, f"{server} does not answer: {error}", START.format(sites.RESET))
    ok = status == 200 and text.strip() == sites.READY
    return Check(name, ok, f"{server} answers {status} {text.strip()[:80]}", "wait until the reset is done")


def _judge(environ: Mapping[str, str], timeout: float) -> Check:
    """The endpoint that OPENAI_* names; another one is named by env.judge.* of a run."""
    name = "WebArena: judge model's endpoint"
    key = environ.get("OPENAI_API_KEY", "").strip()
    base = environ.get("OPENAI_BASE_URL", "").strip() or OPENAI
    if not key:
        return Check(name, False, "OPENAI_API_KEY is not set", "export OPENAI_API_KEY=..., or see env.judge")
    request = urllib.request.Request(f"{base.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            count = len(json.load(answer).get("data", []))
    except (OSError, ValueError) as error:
        return Check(name, False, f"{base}: {error}", "correct OPENAI_API_KEY or OPENAI_BASE_URL")
    return Check(name, True, f"{base} offers {count} models")
