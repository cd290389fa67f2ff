"""A data root as its files say it: tasks in release order, api documentation, and ground truth for reports."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from envs.appworld.install import COUNTS, DATA_VERSION, fetch
from envs.base import Capability, SetupError, TaskInfo

APPS: Mapping[str, str] = {
    "amazon": "Amazon",
    "phone": "Phone",
    "file_system": "File System",
    "spotify": "Spotify",
    "venmo": "Venmo",
    "gmail": "Gmail",
    "splitwise": "Splitwise",
    "simple_note": "Simple Note",
    "todoist": "Todoist",
    "supervisor": "Supervisor",
}
"""Categories: the apps that a task requires. Memberships overlap; the paper has Supervisor as one of its own."""
_MODEL = re.compile(r"""["']([a-z_]+\.[A-Z]\w+)["']|\bmodels\.(?:start|end)\.([a-z_]+\.[A-Z]\w+)""")
_NO_APPS = ("admin", "api_docs", "supervisor")


@dataclass(frozen=True)
class Spec:
    """A task as its specs.json has it."""

    id: str
    instruction: str
    supervisor: Mapping[str, str]
    """first_name, last_name, email, phone_number."""


class Data:
    """The tasks of one dataset file of a root. Raises SetupError where something is missing or wrong."""

    def __init__(self, root: Path, dataset: str, setting: str) -> None:
        self.folder = root / "data"
        self._dataset, self._setting = dataset, setting
        self._remedy = f"Run: {fetch(root)}"

    @cached_property
    def specs(self) -> tuple[Spec, ...]:
        """All tasks in the order of the dataset file, which is the release order."""
        path = self.folder / "datasets" / f"{self._dataset}.txt"
        ids = [line.strip() for line in self._text(path).splitlines() if line.strip()]
        expected = COUNTS.get(self._setting)
        if expected is not None and len(ids) != expected:
            raise SetupError(
                f"{path} lists {len(ids)} tasks, but {self._setting} has {expected}. {self._remedy}"
            )
        return tuple(self._spec(id) for id in ids)

    def _spec(self, id: str) -> Spec:
        path = self.folder / "tasks" / id / "specs.json"
        found = self._json(path)
        if found.get("db_version") != DATA_VERSION:
            raise SetupError(
                f"{path} is of data version {found.get('db_version')!r}, but the engine and published numbers need "
                f"{DATA_VERSION}. {self._remedy}"
            )
        who = found.get("supervisor") or found["main_user"]
        names = ("first_name", "last_name", "email", "phone_number")
        return Spec(id, found["instruction"].strip(), {name: str(who[name]) for name in names})

    def info(self, id: str) -> TaskInfo:
        """Ground truth of a task, for reports: scenario, required apps, and the database models of its test."""
        truth = self.folder / "tasks" / id / "ground_truth"
        test = self._text(truth / "evaluation.py")
        named = {first or second for first, second in _MODEL.findall(test)}
        models = sorted(model for model in named if model.split(".")[0] not in _NO_APPS)
        path = truth / "required_apps.json"
        # Test splits come without a list of required apps: those whose models the test names stand for it [ours].
        apps = self._json(path) if path.exists() else {model.split(".")[0] for model in models}
        scenario = id.rpartition("_")[0]
        return TaskInfo(
            id=id,
            scenario=scenario,
            family=scenario,
            categories=tuple(app for app in APPS if app in apps),
            operations=tuple(models),
        )

    def capabilities(self) -> Sequence[Capability]:
        """The public index of all APIs; a definition is what `show_api_doc` gives."""
        found = []
        for path in sorted((self.folder / "api_docs" / "standard").glob("*.json")):
            for name, doc in self._json(path).items():
                shown = {key: value for key, value in doc.items() if key != "canary_string"}
                summary = " ".join(str(doc["description"]).split())
                found.append(Capability(f"{path.stem}.{name}", summary, json.dumps(shown, indent=1)))
        if not found:
            raise SetupError(
                f"{self.folder / 'api_docs' / 'standard'} holds no documentation. {self._remedy}"
            )
        return found

    def digest(self) -> str:
        """sha256 over ids, instructions and tests, in order."""
        found = hashlib.sha256()
        for spec in self.specs:
            test = self._text(self.folder / "tasks" / spec.id / "ground_truth" / "evaluation.py")
            found.update(f"{spec.id}\n{spec.instruction}\n{test}\n".encode())
        return found.hexdigest()

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise SetupError(
                f"{self._setting} needs AppWorld's data, but {path} cannot be read ({error.strerror}). {self._remedy}"
            ) from error

    def _json(self, path: Path) -> Any:
        try:
            return json.loads(self._text(path))
        except ValueError as error:
            raise SetupError(f"{path} is damaged ({error}). {self._remedy}") from error
