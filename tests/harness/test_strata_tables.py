"""STRATA's tables from runs put in by hand: every number is worked out in the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from harness.load import Run, runs
from harness.tables import strata_ablations, strata_composition
from harness.tables.base import FEWER_SEEDS, FEWER_TASKS, Table
from harness.tables.strata_ablations import LAYOUTS
from harness.tables.strata_measures import measures, purity, regret
from memories.strata.graph import Node
from memories.strata.markdown import document_name, write_node
from memories.strata.state import Entry, State
from tests.harness.synthetic import SUCCESS, Row, make_run, score, success

CONFIGS = Path(__file__).parents[2] / "configs"
COUNTERS = {
    "workflows": 3.0,
    "metas": 1.0,
    "atomics": 2.0,
    "contrast_pairs": 1.0,
    "deletions": 2.0,
    "bridges_spared": 1.0,
    "metas_created": 2.0,
    "metas_updated": 2.0,
    "metas_churned": 1.0,
}


def workflow(number: int, source: int) -> Node:
    return Node(f"w{number:05d}-x", "workflow", "x", "x", "1. x", sources=(source,))


def documents(nodes: Sequence[Node], entries: Sequence[Entry]) -> Mapping[str, str]:
    state = State()
    for entry in entries:
        state.add(entry)
    return {document_name(node): write_node(node) for node in nodes} | state.documents()


def cells(table: Table, key: str) -> list[float | None]:
    place = [column.key for column in table.columns].index(key)
    return [row[place].value for row in table.rows]


def test_purity_is_the_share_of_the_largest_family() -> None:
    # 2 of 3 and 1 of 1
    assert purity([["a", "a", "b"], ["c"]]) == pytest.approx(100 * (2 / 3 + 1) / 2)
    assert purity([]) is None


def test_regret_is_the_share_of_deletions_whose_family_comes_again() -> None:
    family = {1: "a", 2: "b", 3: "a", 4: "c", 5: "b"}
    release = {number: number for number in family}
    # deleted at task 3: one made by task 1 (family a, last at 3: no) and one by task 2 (family b, again at 5)
    assert regret([(3, 1), (3, 2)], family, release) == 50.0
    # in another order the last task of family a comes after task 3
    assert regret([(3, 1)], family, {5: 1, 3: 2, 1: 3, 2: 4, 4: 5}) == 100.0
    assert regret([], family, release) is None


@pytest.fixture
def one_run(tmp_path: Path) -> Run:
    nodes = [workflow(1, 1), workflow(2, 2), workflow(3, 3)]
    meta = Node("m00004-x", "meta", "x", "x", "x", members=tuple(node.id for node in nodes), sources=(3,))
    record = [
        Entry(3, "deleted", ("w00009-x", "0.1", "-", "1 2")),
        Entry(4, "deleted", ("w00010-x", "0.1", "w00001-x", "2")),
        Entry(4, "score", ("op:a", "0.5", "create")),
    ]
    rows = [
        score(100, injected_lines=10, scenario="a"),
        score(0, injected_lines=20, scenario="b"),
        score(
            50, injected_lines=0, scenario="a", changes={"workflow/w00009-x.md": write_node(workflow(9, 1))}
        ),
        score(
            50,
            injected_lines=10,
            scenario="b",
            counters=COUNTERS,
            changes={**documents([*nodes, meta], record), "workflow/w00009-x.md": None},
        ),
    ]
    make_run(tmp_path, rows, memory="strata")
    [run] = runs(tmp_path)
    # `family` is what purity and regret go by; the second meta column is which tasks held one.
    run.tasks["family"] = ["a", "b", "a", "b"]
    run.tasks["items"] = [[], [["m00004-x", "meta"]], [["w00001-x", "workflow"]], [["m00004-x", "meta"]]]
    return run


def test_the_measures_of_a_run(one_run: Run) -> None:
    found = measures(one_run)
    assert found is not None
    # families of the members: a, b, a; deletions at tasks 3 and 4 made by tasks 1 and 2, none recurs later
    assert (found.purity, found.support, found.regret) == (pytest.approx(200 / 3), 3.0, 0.0)
    assert (found.injection, found.injected_lines, found.churn) == (50.0, 10.0, 25.0)
    assert (found.workflows, found.metas, found.deletions, found.bridges) == (3.0, 1.0, 2.0, 1.0)


def test_a_memory_that_counts_nothing_of_the_kind_has_no_measures(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)], memory="flat")
    assert measures(runs(tmp_path)[0]) is None


def pass_of(
    folder: Path, memory: str, setting: str, seed: int, solved: Sequence[int], **counters: float
) -> None:
    rows: list[Row] = [success(value) for value in solved[:-1]]
    made = [workflow(1, 1)]
    rows.append(success(solved[-1], counters=COUNTERS | counters, changes=documents(made, [])))
    make_run(folder, rows, memory=memory, setting=setting, seed=seed, metrics=(SUCCESS,), backbone="pro")


def test_an_ablation_beside_the_paper(tmp_path: Path) -> None:
    for seed, solved in enumerate(([1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 0, 0])):
        pass_of(tmp_path, "strata", "alfworld", seed, solved, contrast_pairs=4.0 + seed)
        pass_of(tmp_path, "strata", "webarena", seed, [1, 0], contrast_pairs=1.0)
        pass_of(tmp_path, "strata_no_contrast", "alfworld", seed, [1, 0, 0, 0], contrast_pairs=0.0)
        pass_of(tmp_path, "strata_no_contrast", "webarena", seed, [1, 0], contrast_pairs=0.0)
    made = {t.name: t for t in strata_ablations.table(runs(tmp_path), "strata")}
    assert set(made) == {"strata_mechanisms_pro", "strata_contrast_pro"}
    table = made["strata_contrast_pro"]
    assert [row[0].text for row in table.rows] == ["none", "by rule (STRATA)"]
    # alfworld: 25 and the mean of 75, 100, 50; webarena 50 each
    assert cells(table, "alfworld") == [25.0, 75.0]
    assert cells(table, "alfworld_paper") == [89.5, 98.6]
    assert cells(table, "average") == [37.5, 62.5]
    assert cells(table, "average_paper") == [66.4, 72.9]
    assert cells(table, "change") == [-25.0, None]
    # pairs are summed over settings: 0, and 5 + 1
    assert cells(table, "contrast_pairs") == [0.0, 6.0]
    assert any("heat_and_place" in note for note in table.notes)
    mechanisms = made["strata_mechanisms_pro"]
    assert cells(mechanisms, "change_paper") == [None, -6.5]
    assert any("w/o contrast edges -9.1 on ALFWorld" in note for note in mechanisms.notes)
    alone = strata_ablations.table([run for run in runs(tmp_path) if run.setting == "alfworld"], "strata")
    assert cells(alone[0], "change_paper") == [None, -9.1]
    without = strata_ablations.table(runs(tmp_path), None)
    assert all(not column.key.endswith("_paper") for table in without for column in table.columns)


def test_a_row_without_a_setting_has_no_average(tmp_path: Path) -> None:
    pass_of(tmp_path, "strata", "alfworld", 0, [1, 1])
    pass_of(tmp_path, "strata", "webarena", 0, [1, 0])
    pass_of(tmp_path, "strata_no_meta", "alfworld", 0, [1, 0])
    [mechanisms, meta] = strata_ablations.table(runs(tmp_path))
    assert cells(mechanisms, "average") == [75.0, None]
    assert cells(mechanisms, "webarena") == [50.0, None]
    assert cells(meta, "metas") == [None, 2.0]


def test_composition_has_a_row_a_setting(tmp_path: Path) -> None:
    for setting in ("webarena", "alfworld"):
        pass_of(tmp_path, "strata", setting, 0, [1, 0], workflows=7.0)
        pass_of(tmp_path, "strata_no_meta", setting, 0, [1, 0], workflows=9.0)
    [table] = strata_composition.table(runs(tmp_path), "strata")
    assert [row[0].text for row in table.rows] == ["WebArena", "ALFWorld"]
    assert cells(table, "workflows") == [7.0, 7.0]
    assert cells(table, "workflows_paper") == [112.0, None]
    assert cells(table, "contrast_pairs_paper") == [2.0, 6.0]
    # two tasks and one seed are fewer than the paper's
    assert all(row[1].marks == (FEWER_TASKS, FEWER_SEEDS) for row in table.rows)


def test_every_row_has_a_configuration_and_its_experiment_runs_it() -> None:
    for layout in LAYOUTS:
        assert all((CONFIGS / "memory" / f"{memory}.yaml").is_file() for memory in layout.rows)
        text = (CONFIGS / "experiment" / f"strata_{layout.name}.yaml").read_text(encoding="utf-8")
        assert text.startswith("# @package _global_\n")
        assert f"python -m scripts.run +experiment=strata_{layout.name}" in text
        swept = yaml.safe_load(text)["hydra"]["sweeper"]["params"]["memory"].split(",")
        assert set(swept) == set(layout.rows)
