"""What can be told without the engine: paths and names that break it, incomplete data, ground truth for reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs.appworld import AppWorld, install, mini_scenarios, mini_world
from envs.appworld.data import Data
from envs.appworld.words import ACTION_HELP, OUTPUT_CHARACTERS, cut, opening
from envs.base import SetupError

EVALUATION = """
def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):
    with test("x"):
        test.case(models.changed_model_names(), "==", {"venmo.Transaction", 'spotify.Song'})
        models.start.phone.Contact.find_all()
        models.end.supervisor.Task.first()
"""
WHO = {"first_name": "A", "last_name": "B", "email": "a@b.cc", "phone_number": "5550000000"}


def make_root(root: Path, dataset: str, count: int, version: str = "0.1.0") -> Path:
    """A data root with `count` tasks, three a scenario, in the layout of the released one."""
    ids = [f"z{number // 3:06d}_{number % 3 + 1}" for number in reversed(range(count))]
    for id in ids:
        truth = root / "data" / "tasks" / id / "ground_truth"
        truth.mkdir(parents=True)
        spec = {
            "instruction": f" Do {id}. ",
            "supervisor": WHO,
            "db_version": version,
            "datetime": "2023-05-18",
        }
        (truth.parent / "specs.json").write_text(json.dumps(spec))
        (truth / "evaluation.py").write_text(EVALUATION)
    datasets = root / "data" / "datasets"
    datasets.mkdir(parents=True)
    (datasets / f"{dataset}.txt").write_text("\n".join(ids) + "\n")
    return root


@pytest.mark.parametrize("setting", ["appworld_test_normal", "appworld_mini"])
def test_the_trap_in_a_path_is_told_before_anything_starts(setting: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"'memory'.*agent-memory/root.*env\.root="):
        AppWorld(setting, root=tmp_path / "agent-memory" / "root")


def test_the_trap_in_a_name_is_told(tmp_path: Path) -> None:
    for name in ("my-memory", "", "a/b"):
        with pytest.raises(SetupError, match=r"env\.experiment="):
            AppWorld("appworld_mini", root=tmp_path, experiment=name)


def test_the_default_root_may_lie_on_a_trap_too(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="memory"):
        AppWorld("appworld_mini", venv=tmp_path / "memory" / "venv")


def test_a_link_leads_around_the_trap(tmp_path: Path) -> None:
    real = make_root(tmp_path / "memory", "test_normal", 168)
    (tmp_path / "link").symlink_to(real)
    root = install.refuse_trap(tmp_path / "link")
    assert len(Data(root, "test_normal", "appworld_test_normal").specs) == 168


@pytest.mark.parametrize(
    ("setting", "dataset", "count"),
    [("appworld_test_normal", "test_normal", 168), ("appworld_test_challenge", "test_challenge", 417)],
)
def test_real_data_is_counted_and_its_order_kept(
    setting: str, dataset: str, count: int, tmp_path: Path
) -> None:
    full = Data(make_root(tmp_path / "full", dataset, count), dataset, setting)
    assert [spec.id for spec in full.specs][:2] == [
        f"z{(count - 1) // 3:06d}_3",
        f"z{(count - 1) // 3:06d}_2",
    ]
    assert full.specs[0].instruction == f"Do {full.specs[0].id}."
    few = Data(make_root(tmp_path / "few", dataset, count - 1), dataset, setting)
    with pytest.raises(SetupError, match=rf"{count - 1} tasks.*{count}.*make appworld-data APPWORLD_ROOT="):
        _ = few.specs


def test_other_versions_missing_and_damaged_data_are_named(tmp_path: Path) -> None:
    old = Data(
        make_root(tmp_path / "old", "test_normal", 168, "0.2.0"), "test_normal", "appworld_test_normal"
    )
    with pytest.raises(SetupError, match=r"'0\.2\.0'.*0\.1\.0.*make appworld-data"):
        _ = old.specs
    with pytest.raises(SetupError, match=r"test_normal\.txt cannot be read.*make appworld-data"):
        _ = Data(tmp_path / "none", "test_normal", "appworld_test_normal").specs
    root = make_root(tmp_path / "damaged", "test_normal", 168)
    (root / "data" / "tasks" / "z000003_1" / "specs.json").write_text("{")
    with pytest.raises(SetupError, match=r"z000003_1/specs\.json is damaged"):
        _ = Data(root, "test_normal", "appworld_test_normal").specs


def test_a_missing_engine_is_told_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"0\.1\.3\.post1.*is not there.*make appworld"):
        AppWorld("appworld_test_normal", root=tmp_path, venv=tmp_path / "none").tasks()


@pytest.mark.parametrize("option", ["step_limit", "timeout", "servers", "recycle_after"])
def test_options_out_of_range_are_named(option: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"{option} is 0"):
        AppWorld("appworld_mini", root=tmp_path, **{option: 0})


def test_ground_truth_for_reports(tmp_path: Path) -> None:
    root = make_root(tmp_path, "test_normal", 168)
    data = Data(root, "test_normal", "appworld_test_normal")
    info = data.info("z000002_3")
    assert (info.scenario, info.family) == ("z000002", "z000002")
    assert info.operations == ("phone.Contact", "spotify.Song", "venmo.Transaction")
    # Without a list of required apps those of the test's models stand for it.
    assert info.categories == ("phone", "spotify", "venmo")
    (root / "data" / "tasks" / "z000002_3" / "ground_truth" / "required_apps.json").write_text(
        '["venmo", "phone"]'
    )
    assert data.info("z000002_3").categories == ("phone", "venmo")


def test_what_the_agent_is_told() -> None:
    for needed in (
        "apis.api_docs.show_app_descriptions()",
        "apis.api_docs.show_api_descriptions(app_name=",
        "apis.api_docs.show_api_doc(app_name=",
        "page_index",
        "apis.supervisor.complete_task(answer=",
        "apis.supervisor.complete_task()",
    ):
        assert needed in ACTION_HELP
    said = opening(mini_world.person("Ada"))
    assert said == ("Your supervisor is Ada Stone, email ada.stone@example.com, phone number 5550000001.")
    # What a task requires is ground truth: no prompt names it.
    for scenario in mini_scenarios.SCENARIOS:
        assert scenario.id not in ACTION_HELP


def test_output_is_cut_at_20000_characters() -> None:
    assert cut("a" * 20_000) == "a" * 20_000
    long = cut("a" * 20_001)
    assert len(long) == OUTPUT_CHARACTERS == 20_000
    assert long.startswith("aaa") and "cut at 20000 characters" in long
    cut("\ud800").encode("utf-8")


def test_mini_rows_refer_to_rows_that_come_before() -> None:
    seen: dict[str, int] = {}
    refers = {"playlist_id": "spotify.Playlist", "song_id": "spotify.Song", "project_id": "todoist.Project"}
    for model, rows in mini_world.records().items():
        app = model.split(".")[0]
        assert [row["id"] for row in rows] == list(range(1, len(rows) + 1))
        for row in rows:
            for key, value in row.items():
                if key in ("user_id", "sender_id", "receiver_id"):
                    assert value <= len(mini_world.records()[f"{app}.User"])
                elif key in refers:
                    assert value <= seen[refers[key]]
        seen[model] = len(rows)
