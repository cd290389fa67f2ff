"""Do one run, or with -m a sweep of runs. The same command resumes.

python -m scripts.run env=scienceworld memory=reasoningbank backbone=deepseek-v3.2 seed=0
python -m scripts.run -m memory=none,flat,reasoningbank seed=0,1,2 hydra/launcher=joblib
python -m scripts.run +experiment=demo
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill, indent
from typing import Any

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import hydra
from omegaconf import DictConfig, OmegaConf

from envs.base import SetupError
from scripts.names import check_words, ours

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
GROUPS = ("env", "agent", "backbone", "memory", "embedder", "judge", "logger")
OUTCOMES, SWEEP = "MEMTRIAL_OUTCOMES", "MEMTRIAL_SWEEP"
"""Environment variables: the file in which each job says how it ended, and whether there are several."""
ESTIMATE = "estimate"
"""In that file: a line of a dry run, with tasks, tokens and US dollars."""


@hydra.main(config_path=str(CONFIGS), config_name="run", version_base="1.3")
def job(config: DictConfig) -> str:
    """One run. Says how it ended instead of raising, so that a sweep goes on."""
    from hydra.core.hydra_config import HydraConfig

    choices = HydraConfig.get().runtime.choices
    name = " ".join(f"{group}={choices[group]}" for group in ("env", "backbone", "memory"))
    name += f" seed={OmegaConf.select(config, 'seed')}"
    how, why = run(config, {group: choices[group] for group in GROUPS})
    _log([name, how, why])
    return how


def _log(row: list[str]) -> None:
    """Tell the process that sums up a sweep: how a job ended, or what it is estimated to cost."""
    if path := os.environ.get(OUTCOMES):
        with Path(path).open("a") as log:
            log.write(json.dumps(row) + "\n")


def run(config: DictConfig, choices: Mapping[str, str]) -> tuple[str, str]:
    """The run that a composed configuration describes: (how it ended, why)."""
    from agents.base import BackboneFailed, BudgetExhausted

    try:
        _run(config, choices)
    except BudgetExhausted as error:
        return _ended("stopped by its budget", str(error))
    except BackboneFailed as error:
        return _ended(
            "failed",
            f"{error} The run stopped; nothing that was received is lost. Start the same command again.",
        )
    except SetupError as error:
        return _ended("failed", str(error))
    except KeyboardInterrupt:
        return _ended("interrupted", "Stopped by the keyboard. The same command goes on from here.")
    except OSError as error:
        return _ended("failed", f"{error}. What was committed is safe; the same command goes on from there.")
    except Exception as error:
        if os.environ.get("MEMTRIAL_DEBUG"):
            raise
        return _ended(
            "failed", f"{_where(error)} What was committed is safe. MEMTRIAL_DEBUG=1 shows the traceback."
        )
    return "done", ""


def _where(error: Exception) -> str:
    """An unforeseen error in one sentence: what, and the line it came from."""
    from traceback import extract_tb

    last = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} (in {last.name}, {last.filename}:{last.lineno})."


def _ended(how: str, why: str) -> tuple[str, str]:
    print(
        fill(f"memtrial: {how}: {why}", 100, break_long_words=False, break_on_hyphens=False), file=sys.stderr
    )
    return how, why


def _run(config: DictConfig, choices: Mapping[str, str]) -> None:
    from harness.assemble import build, execute, plan

    resolved = _resolved(config)
    planned = plan(resolved, _untouched(resolved, choices))
    if config.dry_run:
        from harness.estimate import estimate

        found = estimate(planned)
        print(found.text)
        _log([planned.name, ESTIMATE, json.dumps([found.tasks, found.tokens, found.usd])])
        return
    logger = build(resolved["logger"], "logger") if resolved["logger"]["name"] != "none" else None
    execute(planned, _progress(), logger)
    print(f"{planned.name}: {planned.folder}")


def _resolved(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain values. Raises SetupError naming a value that the user must give."""
    from omegaconf.errors import OmegaConfBaseException

    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        key = getattr(error, "full_key", "") or "?"
        raise SetupError(f"{key} has no value. Give one on the command line: {key}=...") from None
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def _untouched(resolved: Mapping[str, Any], choices: Mapping[str, str]) -> dict[str, Any]:
    """The same groups as their files have them: what a variant's readable name is told against."""
    composed = hydra.compose("run", [f"{group}={name}" for group, name in choices.items()])
    values = OmegaConf.to_container(composed, resolve=True)
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()} | {"seed": resolved["seed"]}


def _progress() -> Any:
    from harness.progress import BarProgress, LineProgress

    alone = SWEEP not in os.environ and sys.stderr.isatty()
    return BarProgress if alone else LineProgress


def main() -> int:
    """Check the command's words, hand over to Hydra, and sum up a sweep at its end."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(help_text())
        return 0
    ours()
    # Hydra takes its flags only before or after all words; -m may stand anywhere here.
    sys.argv[1:] = sorted(sys.argv[1:], key=lambda word: word not in ("-m", "--multirun"))
    sys.argv[1:] = [quoted(word) for word in sys.argv[1:]]
    problem = check_words(sys.argv[1:], CONFIGS)
    if problem:
        print(f"memtrial: {problem}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="memtrial-") as folder:
        log = Path(folder) / "outcomes.jsonl"
        os.environ[OUTCOMES] = str(log)
        sweep = _is_sweep(sys.argv[1:])
        if sweep:
            os.environ[SWEEP] = "1"
        job()
        rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    estimates = [json.loads(what) for _, how, what in rows if how == ESTIMATE]
    rows = [row for row in rows if row[1] != ESTIMATE]
    if sweep:
        _sum_up(rows, estimates)
    return 0 if all(how == "done" for _, how, _ in rows) and (rows or not sweep) else 1


def quoted(word: str) -> str:
    """A word with its value quoted where Hydra's grammar would misread it.

    shuffled(7) would be a function of Hydra's own; the folders of runs hold `=`, `,` and `[`.
    """
    key, _, value = word.partition("=")
    order = key == "stream.order" and re.fullmatch(r"shuffled\(\d+\)", value)
    path = key in ("recorded", "results_dir", "stream.memory_from") and ("=" in value or Path(value).exists())
    if (order or path) and value and value[0] not in "'\"":
        escaped = value.replace('"', '\\"')
        return f'{key}="{escaped}"'
    return word


def help_text() -> str:
    """What can be asked for: the groups' names, and every option of a run with its comment."""
    parts = [(__doc__ or "").strip(), "Groups (group=name):"]
    for group in (*GROUPS, "experiment"):
        names = sorted(path.stem for path in (CONFIGS / group).glob("*.yaml"))
        sign = "+" if group == "experiment" else ""
        parts.append(fill(f"  {sign}{group}: {', '.join(names)}", 110, subsequent_indent="      "))
    options = (CONFIGS / "run.yaml").read_text().partition("\nseed:")[2].partition("\nhydra:")[0]
    parts += ["Options (option=value, section.option=value):", indent(f"seed:{options}".rstrip(), "  ")]
    parts.append(
        "A group's own options are the lines of its file: memory.k=5. --hydra-help shows Hydra's own flags."
    )
    return "\n".join(parts)


def _is_sweep(words: list[str]) -> bool:
    if {"-m", "--multirun", "hydra.mode=MULTIRUN"} & set(words):
        return True
    for word in words:
        group, _, name = word.lstrip("+").partition("=")
        path = CONFIGS / "experiment" / f"{name}.yaml"
        if group == "experiment" and path.exists() and "MULTIRUN" in path.read_text():
            return True
    return False


def _sum_up(rows: list[list[str]], estimates: list[list[Any]]) -> None:
    """How the runs of a sweep ended, those that ended alike together; of a dry run, what all would cost."""
    failed = [row for row in rows if row[1] != "done"]
    well = "planned" if estimates else "done"
    print(
        f"{len(rows)} run{'s' * (len(rows) != 1)}: {len(rows) - len(failed)} {well}, {len(failed)} not {well}.",
        file=sys.stderr,
    )
    alike: dict[tuple[str, str], list[str]] = {}
    for name, how, why in failed:
        alike.setdefault((how, why), []).append(name)
    for (how, why), names in alike.items():
        print(
            f"  {names[0]}{f' and {len(names) - 1} more' * (len(names) > 1)}: {how}: {why}", file=sys.stderr
        )
    if estimates:
        from harness.estimate import Estimate, total

        print(f"All planned runs: {total([Estimate('', *one) for one in estimates])}.", file=sys.stderr)
    elif failed:
        print("The same command goes on with those that are not done.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
