"""The settings, the manifest against the engine, and what a wrong configuration says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from envs.base import SetupError
from envs.scienceworld import ScienceWorld, checks, jvm, manifest, settings
from envs.scienceworld.jvm import Simulator
from tests.envs.scienceworld_case import CASE

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "env"


def test_ninety_tasks_thirty_types_in_release_order() -> None:
    items = settings.items("scienceworld")
    # Types of each topic, counted in table 1 of Wang et al. (2022).
    types = [4, 3, 4, 4, 2, 3, 3, 2, 3, 2]
    expected = [f"{topic}-{n}" for topic, count in enumerate(types, 1) for n in range(1, count + 1)]
    assert [item.type_id for item in items] == [type_id for type_id in expected for _ in range(3)]
    assert Counter(item.info.categories for item in items) == {
        (f"S{topic}",): 3 * count for topic, count in enumerate(types, 1)
    }
    assert (items[0].info.id, items[0].info.family, items[0].info.scenario) == ("1-1/var21", "boil", "boil")
    assert len(ScienceWorld().tasks()) == 90


def test_strata_has_the_first_test_variation_of_23_types() -> None:
    items = settings.items("scienceworld_strata23")
    ninety = {item.type_id: item.variation for item in reversed(settings.items("scienceworld"))}
    left_out = {"5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2"}
    assert {item.type_id: item.variation for item in items} == {
        type_id: variation for type_id, variation in ninety.items() if type_id not in left_out
    }
    assert [item.task.number for item in items] == list(range(1, 24))
    assert "find-living-thing" in {item.name for item in items}


def test_the_manifest_is_the_engines() -> None:
    CASE.require()
    facts = [
        {**row, "tests": [{key: test[key] for key in ("variation", "instruction")} for test in row["tests"]]}
        for row in settings.rows()
    ]
    assert manifest.record(gold=False) == facts


def test_operations_are_the_verbs_of_gold_paths() -> None:
    CASE.require()
    simulator = Simulator(60)
    try:
        simulator.call("load", "lifespan-longest-lived", 93, "", True)
        gold = simulator.strings("getGoldActionSequence")
    finally:
        simulator.close()
    # The path walks through one door and focuses on one animal: its verbs can be read off.
    assert [action.split()[0] for action in gold] == ["open", "go", "focus", "wait1"]
    (item,) = [item for item in settings.items("scienceworld") if item.info.id == "7-1/var93"]
    assert item.info.operations == ("focus on", "go", "open", "wait")


def test_the_manifest_is_written_as_it_is_read() -> None:
    assert manifest.as_text(settings.rows()) == settings.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["scienceworld", "scienceworld_strata23"])
def test_configurations_construct_the_setting(name: str) -> None:
    config = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert config.pop("_target_") == "envs.scienceworld.ScienceWorld"
    assert config.pop("name") == name
    environment = ScienceWorld(**config)
    assert environment.setting == name
    assert environment.step_limit == 100


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"setting": "scienceworld_strata"}, "Did you mean 'scienceworld_strata23'"),
        ({"simplifications": ["openDoor"]}, "Did you mean 'openDoors'"),
        ({"step_limits": {"9-9": 10}}, "'9-9'"),
        ({"step_limits": {"9-3": 0}}, "step_limits.9-3 is 0"),
        ({"step_limit": 0}, "step_limit is 0"),
        ({"watchdog": -1}, "watchdog is -1"),
        ({"recycle_after": 0}, "recycle_after is 0"),
    ],
)
def test_a_wrong_option_is_named_with_what_to_do(options: dict[str, object], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        ScienceWorld(**options)  # type: ignore[arg-type]


def test_checks_pass_where_the_engine_is() -> None:
    CASE.require()
    assert [check.ok for check in checks.checks()] == [True, True, True]


def test_checks_name_the_remedy_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise SetupError("the package scienceworld is missing")

    monkeypatch.setattr(jvm, "jar", missing)
    (java, package) = checks.checks(start=False)
    assert (package.ok, package.remedy) == (False, jvm.REMEDY)
    assert java.ok == CASE.found()
