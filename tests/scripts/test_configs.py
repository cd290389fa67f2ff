"""Every configuration composes, and every experiment names what exists."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.utils import get_class
from omegaconf import OmegaConf

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
GROUPS = ("env", "agent", "backbone", "memory", "embedder", "judge", "logger")
FILES = [(group, path.stem) for group in GROUPS for path in sorted((CONFIGS / group).glob("*.yaml"))]
EXPERIMENTS = sorted(path.stem for path in (CONFIGS / "experiment").glob("*.yaml"))


@pytest.mark.parametrize(("group", "name"), FILES, ids=lambda value: value)
def test_each_file_composes_and_names_itself_and_a_class(group: str, name: str) -> None:
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose("run", [f"{group}={name}"])
    values = OmegaConf.to_container(config[group], resolve=True)
    assert isinstance(values, dict) and values["name"] == name
    if group not in ("agent", "backbone"):
        assert get_class(values["_target_"])


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_composes_names_what_exists_and_says_its_command(name: str) -> None:
    text = (CONFIGS / "experiment" / f"{name}.yaml").read_text()
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    assert f"+experiment={name}" in head or f"ENV={name.removeprefix('demo_')}" in head
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose("run", [f"+experiment={name}"], return_hydra_config=True)
    assert config.hydra.mode.name == "MULTIRUN"
    for key, value in (config.hydra.sweeper.params or {}).items():
        if key in GROUPS:
            for option in str(value).split(","):
                assert (CONFIGS / key / f"{option.strip()}.yaml").exists(), (key, option)


def test_names_are_not_those_of_the_standard_library() -> None:
    import sys

    root = CONFIGS.parent
    for room in ("envs", "agents", "memories", "harness", "scripts"):
        for path in (root / room).rglob("*.py"):
            assert path.stem not in sys.stdlib_module_names - {"__init__"}, path


def test_the_readme_names_every_memory_and_experiment() -> None:
    readme = (CONFIGS.parent / "README.md").read_text()
    for path in (CONFIGS / "memory").glob("*.yaml"):
        if "defaults" not in yaml.safe_load(path.read_text()):
            assert f"| `{path.stem}` |" in readme, path.stem
    for name in EXPERIMENTS:
        if not name.startswith("demo"):
            assert f"`{name}`" in readme, name
