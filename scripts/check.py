"""What works on this machine, and the command that mends each thing that does not.

python -m scripts.check                       # everything that is set up
python -m scripts.check env=webarena          # one environment
python -m scripts.check backbone=deepseek-v3.2
python -m scripts.check backbone=local backbone.model=NAME backbone.api_base=http://127.0.0.1:8000/v1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envs.base import Check, SetupError

ENVIRONMENTS = {
    "scienceworld": "scienceworld",
    "alfworld": "alfworld",
    "appworld": "appworld",
    "webarena": "webarena",
}
"""First part of an environment's name -> the package in envs/ that can check itself."""
RELEASED = ("released games", "data of ", ": site ", "log-in", "reset server", "judge model")
"""Parts of the names of checks that only the released benchmarks need, not our own mini settings."""
CONFIGS = Path(__file__).resolve().parent.parent / "configs"


def basics() -> Iterator[Check]:
    """Python, and what the base installation needs."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("python", sys.version_info >= (3, 11), version, "install Python 3.11 or newer")
    for package, name in (("hydra", "hydra-core"), ("litellm", "litellm"), ("onnxruntime", "onnxruntime")):
        found = find_spec(package) is not None
        yield Check(f"package {name}", found, "installed" if found else "missing", "make setup")
    yield embedder()


def embedder() -> Check:
    """The default embedder's two files, by their hashes."""
    try:
        from memories.embedder.minilm import MiniLM

        MiniLM().embed(["a text"])
    except Exception as error:  # whatever is wrong with it, the check says so and goes on
        return Check("embedder minilm", False, str(error), "make setup")
    return Check("embedder minilm", True, "model and tokenizer as expected")


def of_environment(name: str) -> Iterator[Check]:
    """What an environment's own package checks."""
    package = ENVIRONMENTS.get(name.split("_")[0])
    if package is None or find_spec(f"envs.{package}.checks") is None:
        yield Check(f"env {name}", True, "needs no engine")
        return
    checks: Callable[..., list[Check]] = import_module(f"envs.{package}.checks").checks
    for check in checks():
        if not (name.endswith("_mini") and any(part in check.name for part in RELEASED)):
            yield check


def of_backbone(name: str, options: Mapping[str, Any] | None = None) -> Iterator[Check]:
    """Key and endpoint of a backbone, with `options` in place of its file's."""
    from agents.backbone_checks import check
    from agents.backbone_config import load_config

    yield from check({**load_config(name), **(options or {})})


def main(words: list[str] | None = None) -> int:
    """Print a line a check; exit code 1 if something that was asked for does not work."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", nargs="*", metavar="env=NAME|backbone=NAME")
    bad = 0
    try:
        for check in _asked(parser.parse_args(words).what):
            print(f"{'ok  ' if check.ok else 'MEND'}  {check.name}: {check.detail}", flush=True)
            if not check.ok:
                bad += 1
                print(f"      -> {check.remedy}", flush=True)
    except SetupError as error:
        print(f"memtrial: {error}", file=sys.stderr)
        return 2
    print(
        "all of it works" if not bad else f"{bad} to mend; what is not needed for your runs may stay as it is"
    )
    return 1 if bad else 0


def _asked(words: list[str]) -> Iterator[Check]:
    import yaml

    from scripts.names import check_words

    problem = check_words([word for word in words if "=" in word], CONFIGS)
    strange = [word for word in words if word.split("=")[0].split(".")[0] not in ("env", "backbone")]
    if problem or strange:
        raise SetupError(problem or f"{strange[0]!r} is no check: write env=NAME or backbone=NAME.")
    if not words:
        yield from basics()
        for name in ENVIRONMENTS:
            if (CONFIGS.parent / "envs" / ENVIRONMENTS[name]).is_dir():
                yield from of_environment(name)
        for path in sorted((CONFIGS / "backbone").glob("*.yaml")):
            yield from of_backbone(path.stem)
    pairs = [word.partition("=")[::2] for word in words]
    options = {key: value for key, value in pairs if "." in key}
    outside = [key for key in options if key.count(".") != 1 or not key.startswith("backbone.")]
    if outside or (options and "backbone" not in dict(pairs)):
        raise SetupError(
            f"{(outside or list(options))[0]} changes nothing here: give backbone=NAME and its options."
        )
    changed = {key.removeprefix("backbone."): yaml.safe_load(value) for key, value in options.items()}
    for group, name in pairs:
        if group == "env":
            yield from of_environment(name)
        elif group == "backbone":
            yield from of_backbone(name, changed)


if __name__ == "__main__":
    sys.exit(main())
