"""EvoWeave's tables from runs put in by hand: every number is worked out in the test or in the paper."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.figures import evoweave_composition
from harness.load import Run, runs
from harness.metrics import Score
from harness.published import read
from harness.tables import evoweave_ablation, evoweave_classes, evoweave_graph, evoweave_overlap, names
from harness.tables.base import Table
from tests.harness.synthetic import TGC, Row, make_run, score, success

LETTERS = {"A": "none", "B": "flat", "C": "evoweave_c", "D": "evoweave_d", "E": "evoweave_e", "F": "evoweave"}


def cells(table: Table, key: str) -> list[float | None]:
    place = [column.key for column in table.columns].index(key)
    return [row[place].value for row in table.rows]


def texts(table: Table, key: str) -> list[str]:
    place = [column.key for column in table.columns].index(key)
    return [row[place].shown for row in table.rows]


def test_the_papers_own_numbers_give_the_papers_own_means_and_overalls() -> None:
    """Appendix D's tables in, table 2 out: to the two digits that are printed (its inputs are rounded too)."""
    rows = read("evoweave_ablation.csv")
    backbones = [
        {
            LETTERS[row["configuration"]]: {
                "appworld_test_normal": Score(float(row["test_normal_tgc"]), None, ()),
                "appworld_test_challenge": Score(float(row["test_challenge_tgc"]), None, ()),
            }
            for row in rows
            if row["backbone"] == backbone
        }
        for backbone in dict.fromkeys(row["backbone"] for row in rows if row["backbone"] != "macro")
    ]
    assert len(backbones) == 3
    means = evoweave_ablation.with_overall(evoweave_ablation.equal_means(backbones))
    for row in (row for row in rows if row["backbone"] == "macro"):
        found = means[LETTERS[row["configuration"]]]
        for setting, column in evoweave_ablation.PUBLISHED.items():
            mean = found[setting].mean
            assert mean is not None and abs(mean - float(row[column])) < 0.011, (row, setting)


def ablation_runs(folder: Path) -> list[Run]:
    """4 tasks a split; A solves 1 and 0, C 2 and 1, F 3 and 2."""
    for memory, normal, challenge in (("none", 1, 0), ("evoweave_c", 2, 1), ("evoweave", 3, 2)):
        for setting, solved in (("appworld_test_normal", normal), ("appworld_test_challenge", challenge)):
            make_run(
                folder,
                [success(int(n < solved)) for n in range(4)],
                memory=memory,
                setting=setting,
                metrics=(TGC,),
            )
    return runs(folder)


def test_the_ablation_table_has_overall_and_the_paper_beside_it(tmp_path: Path) -> None:
    [table] = evoweave_ablation.table(ablation_runs(tmp_path), "evoweave")
    assert texts(table, "configuration") == ["A: No memory", "C: Operation cards", "F: EvoWeave (full)"]
    assert cells(table, "appworld_test_normal") == [25, 50, 75]
    # (168 x 50 + 417 x 25) / 585 = 32.179...
    assert cells(table, "overall")[1] == pytest.approx((168 * 50 + 417 * 25) / 585)
    assert cells(table, "overall_paper") == [29.91, 31.46, 34.77]
    assert cells(table, "appworld_test_normal_difference") == pytest.approx(
        [25 - 47.02, 50 - 49.09, 75 - 54.05]
    )
    best = [row[1].bold for row in table.rows]
    assert best == [False, False, True]
    [plain] = evoweave_ablation.table(ablation_runs(tmp_path / "again"))
    assert not any(column.key.endswith("_paper") for column in plain.columns)
    assert "evoweave_ablation" in names()


def test_without_c_d_or_e_there_is_no_ablation(tmp_path: Path) -> None:
    make_run(tmp_path, [score(10)], memory="none")
    make_run(tmp_path, [score(20)], memory="evoweave")
    assert evoweave_ablation.table(runs(tmp_path)) == []


COUNTS = {
    "states": 20, "operations": 103, "api_nodes": 26, "api_links": 103,
    "code_nodes": 30, "code_links": 254, "role_nodes": 10, "role_links": 95,
}  # fmt: skip
"""The paper's ScienceWorld snapshot (appendix E)."""


def test_both_bars_are_normalised_by_themselves(tmp_path: Path) -> None:
    """20 of 123 and 103 of 123; the capability layer sums to 518."""
    make_run(tmp_path, [score(0), score(0, counters=COUNTS)], memory="evoweave")
    make_run(tmp_path, [score(0, counters={"episodes": 1})], memory="flat")
    [table] = evoweave_graph.table(runs(tmp_path), "evoweave")
    shares = dict(zip(texts(table, "component"), cells(table, "share"), strict=True))
    assert shares["states"] == pytest.approx(2000 / 123) and shares["operations"] == pytest.approx(
        10300 / 123
    )
    assert shares["code links"] == pytest.approx(25400 / 518) and shares["api nodes"] == pytest.approx(
        2600 / 518
    )
    assert sum(value or 0 for value in shares.values()) == pytest.approx(200)
    assert cells(table, "count") == cells(table, "paper")
    [drawn] = evoweave_composition.figures(runs(tmp_path), tmp_path / "figures")
    assert drawn.png.stat().st_size > 5000 and drawn.pdf.is_file()


def test_an_empty_layer_has_no_shares() -> None:
    assert evoweave_graph.shares(dict.fromkeys(COUNTS, 0.0)) == dict.fromkeys(COUNTS, 0.0)


def test_overlap_is_the_mean_pairwise_jaccard_similarity() -> None:
    """{a,b}/{b,c} 1/3, {a,b}/{a,b} 1, {b,c}/{a,b} 1/3: mean 5/9. Order and repetition do not count."""
    assert evoweave_overlap.overlap([["a", "b"], ["b", "c"], ["b", "a", "b"]]) == pytest.approx(500 / 9)
    assert evoweave_overlap.overlap([["a"], []]) is None and evoweave_overlap.overlap([]) is None


def annotated(path: Path, tasks: Sequence[tuple[Sequence[str], list[Any]]]) -> None:
    """Put operation proxies and events into a run's tasks."""
    connection = sqlite3.connect(path)
    for number, (operations, events) in enumerate(tasks, 1):
        connection.execute(
            "UPDATE tasks SET operations = ?, events = ? WHERE number = ?",
            (json.dumps(list(operations)), json.dumps(events), number),
        )
    connection.commit()
    connection.close()


CITED = [["retrieved", "op00001", "plan"], ["referenced", "op00001", "agent"]]
SHOWN = [["retrieved", "op00001", "plan"]]


def test_overlap_and_references_by_type_weigh_types_equally_and_never_cross_them(tmp_path: Path) -> None:
    """S1: tasks 1 and 2 share 1 of 3; S2: tasks 3, 4, 5, all alike. Means: overlap (33.3 + 100) / 2.

    References: 1 of 2 in S1; of S2's tasks one failed, so 0 of 2.
    """
    rows = [score(1, categories=[kind]) for kind in ("S1", "S1", "S2", "S2")]
    failed = Row(None, categories=["S2"], failure="environment")
    path = make_run(
        tmp_path, [*rows, failed], memory="evoweave", categories={"S1": "Matter", "S2": "Heat", "S3": "None"}
    )
    annotated(path, [(["a", "b"], CITED), (["b", "c"], SHOWN), (["x"], SHOWN), (["x"], []), (["x"], CITED)])
    make_run(tmp_path, rows, memory="flat", categories={"S1": "Matter", "S2": "Heat"})
    [table] = evoweave_overlap.table(runs(tmp_path), "evoweave")
    assert texts(table, "type") == ["Matter", "Heat", "equal mean of types", "equal mean of types"]
    assert cells(table, "overlap") == pytest.approx([100 / 3, 100, 200 / 3, 90.2])
    assert cells(table, "referenced") == pytest.approx([50, 0, 25, 92.1])


def test_composition_classes_by_hand() -> None:
    stream = [["a"], ["b"], ["a", "b"], ["a", "b", "x"], ["a", "y"], ["a", "b"], []]
    assert evoweave_classes.classes(stream) == ["none", "none", "novel", "several", "one", "known", "none"]


def test_scores_by_class_and_by_and_joins(tmp_path: Path) -> None:
    """Classes none, none, novel, known with scores 10, 20, 40, 80; task 3's plan joins two steps."""
    rows = [score(value) for value in (10, 20, 40, 80)]
    join = [["plan", "", "s1. read\ns2. list\ns3. split (after s1, s2)"]]
    chain = [["plan", "", "s1. read\ns2. split (after s1)"]]
    operations = [["a"], ["b"], ["a", "b"], ["a", "b"]]
    path = make_run(tmp_path, rows, memory="evoweave")
    annotated(path, list(zip(operations, [chain, chain, join, chain], strict=True)))
    path = make_run(tmp_path, [score(value) for value in (0, 0, 0, 50)], memory="none")
    annotated(path, [(each, []) for each in operations])
    [table] = evoweave_classes.table(runs(tmp_path))
    assert texts(table, "class") == [
        "no overlap",
        "novel combination",
        "known combination",
        evoweave_classes.AND,
    ]
    assert texts(table, "tasks") == ["2", "1", "1", "1"]
    assert cells(table, "m0") == [0, 0, 50, 0] and cells(table, "m1") == [15, 40, 80, 40]
