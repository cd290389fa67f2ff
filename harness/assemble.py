"""From a resolved configuration to a run: what it is, where it lies, and the parts it is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import NonNegativeInt

from agents.loop import LoopOptions
from envs.base import Environment, SetupError
from harness import provenance
from harness.budget import Budget, Caps, Ledger
from harness.embeddings import JournalEmbedder
from harness.journal import Journal
from harness.keys import refuse_secrets
from harness.options import check_parameters, check_value, checked
from harness.progress import LineProgress, Running
from harness.recorder import JournalRecorder
from harness.stream import Parts, StreamOptions, stream
from harness.variant import variant

TOKENIZER = "all-MiniLM-L6-v2 WordPiece (bundled)"
FOLDER_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
NOT_FOR_CONSTRUCTORS = ("name", "label", "budget_tokens", "per_setting")
"""Keys of a group's file that describe it; everything else goes to the constructor."""
PLAIN = {"seed": NonNegativeInt, "results_dir": str, "recorded": str | None, "dry_run": bool}
"""Options that belong to no group."""


@dataclass
class Plan:
    """What a configuration asks for, before anything is started or paid."""

    config: Mapping[str, Any]
    memory: Mapping[str, Any]
    """The memory's configuration with the values for this setting put in."""
    environment: Environment
    options: StreamOptions
    caps: Caps
    agent: LoopOptions
    results: Path
    folder: Path
    meta: dict[str, str]

    @property
    def name(self) -> str:
        """For progress lines."""
        return (
            f"{self.meta['setting']}/{self.meta['backbone']}/{self.meta['memory']} seed {self.meta['seed']}"
        )


def plan(config: Mapping[str, Any], default: Mapping[str, Any]) -> Plan:
    """Read a resolved configuration. `default`: the same groups without further overrides.

    Starts no engine and makes no call. Raises SetupError.
    """
    refuse_secrets(config)
    for key, hint in PLAIN.items():
        check_value(hint, config.get(key), key)
    environment: Environment = build(config["env"], "env")
    options = checked(StreamOptions, config["stream"], "stream")
    caps = checked(Caps, config["budget"], "budget")
    agent = checked(LoopOptions, config["agent"], "agent")
    check_value(NonNegativeInt | None, config["memory"].get("budget_tokens"), "memory.budget_tokens")
    memory, default_memory = (for_setting(c["memory"], environment.setting) for c in (config, default))
    for group, section in (("memory", memory), ("judge", config["judge"]), ("embedder", config["embedder"])):
        if section.get("_target_"):  # what is refused must not leave a run behind
            check_parameters(section["_target_"], section, group)
    name = variant({**config, "memory": memory}, {**default, "memory": default_memory})
    seed = config["seed"]
    results = Path(config["results_dir"])
    backbone = config["backbone"]
    for option, given in (("backbone.name", backbone["name"]), ("memory.name", memory["name"])):
        if not FOLDER_NAME.fullmatch(str(given)):
            raise SetupError(
                f"{option}={given!r} is to be the name of a folder: give letters, digits and . _ + - (a letter or "
                "digit first)."
            )
    folder = results / environment.setting / backbone["name"] / memory["name"] / name / f"seed_{seed}"
    meta = {
        "setting": environment.setting,
        "backbone": backbone["name"],
        "backbone_label": str(backbone.get("label") or backbone["name"]),
        "memory": memory["name"],
        "memory_label": str(memory.get("label") or memory["name"]),
        "variant": name,
        "seed": str(seed),
        "judge": str(config["judge"]["name"]),
        "metrics": json.dumps([asdict(metric) for metric in environment.metrics]),
        "categories": json.dumps(dict(environment.categories)),
        "stream": json.dumps({key: value for key, value in asdict(options).items() if value is not None}),
        "tokenizer": TOKENIZER,
        "reader": str(int(backbone.get("kind") == "reader")),
        "paid": str(int(backbone.get("kind") != "reader")),
        "config": as_yaml(config),
    }
    return Plan(config, memory, environment, options, caps, agent, results, folder, meta)


def execute(
    plan: Plan,
    progress: Callable[[str, Running], LineProgress] = LineProgress,
    logger: Any = None,
) -> None:
    """Do the run, or what is left of it.

    Raises SetupError, BudgetExhausted and BackboneFailed with everything committed that was done.
    """
    from agents.backbone import build as build_backbone
    from agents.backbone_config import read_config

    config, environment = plan.config, plan.environment
    backbone_config = dict(config["backbone"])
    recorded = config.get("recorded")
    calls = backbone_config.get("calls", "record")
    if calls not in ("record", "replay"):
        raise SetupError(f"backbone.calls={calls!r} is unknown: give record, or replay to forbid new calls.")
    replay = calls == "replay"
    described = read_config(backbone_config)  # before there is a run
    if not replay:
        described.require_keys()
    journal = Journal(plan.folder, plan.meta)
    ledger = Ledger(plan.results, str(plan.folder.relative_to(plan.results)))
    shown: LineProgress | None = None
    try:
        for key in ("config", "stream", "memory_label", "backbone_label"):
            # What changes results is the variant, and fixed; limits, labels and addresses may change.
            journal.set_meta(key, plan.meta[key])
        usd, tokens, _ = journal.spent()
        recorder = JournalRecorder(
            journal,
            Budget(plan.caps, usd, tokens, ledger),
            forbid_new=replay,
            replies=_recorded(recorded) if recorded else None,
        )
        running = Running(environment.metrics[0], journal.spent, plan.meta["paid"] == "1")
        for failure, evaluation, metrics in journal.rows("SELECT failure, evaluation, metrics FROM tasks"):
            running.add(failure, evaluation, json.loads(metrics))
        shown = progress(plan.name, running)
        recorder.tell = shown.tell
        backbone = build_backbone(
            backbone_config, recorder, shown.tell, seed=config["seed"], require_keys=False
        )
        refuse_unpriced(backbone, plan.caps)
        parts = Parts(
            environment=environment,
            agent=plan.agent,
            backbone=backbone,
            judge=build(config["judge"], "judge", backbone=backbone),
            memory=build(plan.memory, "memory", _resources(plan, journal, backbone)),
            journal=journal,
            recorder=recorder,
            progress=_Mirror(shown, logger) if logger is not None else shown,
            budget_tokens=plan.memory.get("budget_tokens"),
        )
        _run(parts, plan, shown, logger)
    finally:
        if shown is not None:
            shown.close()
        if logger is not None:
            logger.close()
        environment.close()
        ledger.close()
        journal.close()


def _run(parts: Parts, plan: Plan, shown: LineProgress, logger: Any) -> None:
    journal = parts.journal
    session = journal.start_session(
        provenance.revision(), provenance.packages(), dict(parts.environment.provenance())
    )
    for note in journal.session_notes(session):
        shown.tell(f"since the last start: {note}")
    if logger is not None:
        logger.start(plan.meta, plan.folder)
    try:
        stream(parts, plan.options)
    except BaseException as error:
        journal.note(session, f"stopped: {type(error).__name__}: {error}".rstrip(": "))
        raise
    finally:
        journal.end_session(session)


class _Mirror:
    """Progress that also feeds a logger."""

    def __init__(self, progress: LineProgress, logger: Any) -> None:
        self.start, self.task, self.step, self.tell = (
            progress.start,
            progress.task,
            progress.step,
            progress.tell,
        )
        self._progress, self._logger = progress, logger

    def committed(self, record: Any) -> None:
        self._progress.committed(record)
        self._logger.task(record)


def build(section: Mapping[str, Any], group: str, *arguments: Any, **named: Any) -> Any:
    """The object that a group's configuration describes. Raises SetupError naming the group and value."""
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    target = section.get("_target_")
    if not target:
        raise SetupError(f"{group}={section.get('name', '?')} has no `_target_`: its file must name a class.")
    values = {key: value for key, value in section.items() if key not in NOT_FOR_CONSTRUCTORS}
    check_parameters(target, values, group)
    try:
        return instantiate({"_convert_": "all", **values}, *arguments, **named)
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, SetupError):
            raise cause from None
        reason = str(cause or error).strip().splitlines()[0]
        raise SetupError(
            f"{group}={section.get('name', '?')} cannot be made from {target}: {reason}. Check the options of "
            f"configs/{group}/{section.get('name', '?')}.yaml against what the class takes."
        ) from error


def _resources(plan: Plan, journal: Journal, backbone: Any) -> Any:
    from memories.base import Resources

    embedder = JournalEmbedder(build(plan.config["embedder"], "embedder"), journal)
    return Resources(
        backbone,
        embedder,
        tuple(plan.environment.capabilities()),
        plan.environment.form,
        int(plan.config["seed"]),
    )


def for_setting(memory: Mapping[str, Any], setting: str) -> dict[str, Any]:
    """A memory's configuration with its `per_setting` values for this setting put in."""
    values = dict((memory.get("per_setting") or {}).get(setting) or {})
    return {**{key: value for key, value in memory.items() if key != "per_setting"}, **values}


def refuse_unpriced(backbone: Any, caps: Caps) -> None:
    """A money budget needs a price for every model of the run. Raises SetupError."""
    if backbone.unpriced and (caps.usd is not None or caps.sweep_usd is not None):
        cap = "budget.usd" if caps.usd is not None else "budget.sweep_usd"
        raise SetupError(
            f"{cap} cannot be kept: the price of {sorted(backbone.unpriced)[0]!r} is unknown. Add it to "
            "configs/prices.yaml or as backbone.price, or cap tokens instead with budget.tokens=..."
        )


def _recorded(path: str) -> Path:
    found = Path(path)
    found = found / "run.sqlite" if found.is_dir() else found
    if not found.is_file():
        raise SetupError(f"recorded={path!r} is no recorded run: name a run's folder or its run.sqlite.")
    return found


def as_yaml(config: Mapping[str, Any]) -> str:
    """A resolved configuration as text."""
    import yaml

    return str(yaml.safe_dump(dict(config), sort_keys=True, allow_unicode=True))
