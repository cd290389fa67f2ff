"""Tables from runs put in by hand: every number is worked out in the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.load import Run, runs
from harness.tables import (
    base,
    category,
    composition,
    judge,
    macro,
    main,
    names,
    paired,
    published,
    scores,
    stream,
    tables,
)
from harness.tables.base import Cell, Column, Table, rank
from harness.tables.efficiency import table as efficiency_tables
from harness.tables.inventory import table as inventory
from tests.harness.synthetic import SGC, SUCCESS, TGC, Row, make_run, score, success


def column(table: Table, key: str) -> list[Cell]:
    """The cells of a column."""
    place = [entry.key for entry in table.columns].index(key)
    return [row[place] for row in table.rows]


def values(table: Table, key: str) -> list[float | None]:
    return [cell.value for cell in column(table, key)]


def texts(table: Table, key: str) -> list[str]:
    return [cell.shown for cell in column(table, key)]


def test_best_is_bold_second_underlined_and_equals_share() -> None:
    cells = rank([Cell(value=v) for v in (1.0, 3.0, 2.0, 3.0)], "high")
    assert [cell.bold for cell in cells] == [False, True, False, True]
    assert [cell.underlined for cell in cells] == [False, False, True, False]
    low = rank([Cell(value=5.0), Cell(), Cell(value=4.0)], "low")
    assert [cell.bold for cell in low] == [False, False, True]
    # Shown as 1.00 both: neither is better.
    same = rank([Cell(value=1.001), Cell(value=1.002)], "high")
    assert not any(cell.bold or cell.underlined for cell in same)
    alone = rank([Cell(value=1.0), Cell(value=9.0, ranked=False)], "high")
    assert not any(cell.bold for cell in alone)


def test_numbers_are_shown_with_fixed_digits_and_no_negative_zero() -> None:
    assert Cell(value=2 / 3, sd=0.125, digits=2).shown == "0.67 ± 0.12"
    assert Cell(value=-0.001, signed=True).shown == "0.00"
    assert Cell(value=1.5, signed=True, digits=1).shown == "+1.5"
    assert Cell().shown == base.NOTHING


def test_a_row_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells under 1"):
        Table("t", "T", (), (Column("a", "A"),), ((Cell(), Cell()),))


def test_every_module_with_a_table_is_part_of_the_report() -> None:
    assert names()[0] == "main"
    assert set(names()) >= {
        "main",
        "macro",
        "efficiency",
        "category",
        "judge",
        "paired",
        "stream",
        "composition",
    }


def _two(tmp_path: Path) -> list[Run]:
    """none 20, 60 and one failed; flat 40, 80, 60. Two seeds of flat, the second 20 higher throughout."""
    make_run(tmp_path, [score(20), score(60), score(0, failure="backbone")], memory="none")
    make_run(tmp_path, [score(40), score(80), score(60)], memory="flat")
    make_run(tmp_path, [score(60), score(100), score(80)], memory="flat", seed=1)
    return runs(tmp_path)


def test_main_table_shows_both_conventions_counts_and_spread(tmp_path: Path) -> None:
    (table,) = main.table(_two(tmp_path))
    assert texts(table, "memory") == ["none", "flat"]
    assert values(table, "scienceworld_score") == pytest.approx([40.0, 70.0])
    assert values(table, "scienceworld_score_failed_as_0") == pytest.approx([80 / 3, 70.0])
    # Seeds 60 and 80: deviations of 10, over n - 1 = 1: sqrt(200).
    assert [cell.sd for cell in column(table, "scienceworld_score")] == [None, pytest.approx(200**0.5)]
    assert texts(table, "scienceworld_tasks") == ["3", "6"]
    assert texts(table, "scienceworld_failed") == ["1", "0"]
    assert texts(table, "scienceworld_seeds") == ["1", "2"]
    assert column(table, "scienceworld_score")[1].bold
    assert any("one seed" in note for note in table.notes)


def test_head_says_how_the_runs_were_made(tmp_path: Path) -> None:
    calls = [{"role": "act", "served": "deepseek-chat-1234"}]
    make_run(
        tmp_path,
        [Row({"success": 1.0, "score": 1.0}, calls=calls)],
        stream={"order": "shuffled(3)", "freeze_after": 45, "limit": 60, "window": 1},
        backbone_label="DeepSeek-V3.2",
        judge="strict",
    )
    (table,) = main.table(runs(tmp_path))
    text = "\n".join(table.head)
    for part in (
        "shuffled(3)",
        "frozen after 45",
        "first 60",
        "Seeds: 0",
        "DeepSeek-V3.2",
        "deepseek-chat-1234",
    ):
        assert part in text
    assert "Judge: strict" in text
    assert "Tokenizer: all-MiniLM-L6-v2 WordPiece" in text


def test_every_table_of_a_report_has_a_head_and_marks_the_reader(tmp_path: Path) -> None:
    for memory in ("none", "flat"):
        rows = [score(v, categories=["a"], counters={"entries": 1}, changes={"d": "x"}) for v in (10, 100)]
        make_run(tmp_path, rows, memory=memory, backbone="reader", reader="1", categories={"a": "A"})
    made = tables(runs(tmp_path))
    assert len(made) >= 9
    for table in made:
        assert len(table.head) == 5, table.name
        assert "offline reader (no language model)" in "\n".join(table.head), table.name
    assert len({table.name for table in made}) == len(made)


def test_an_unfinished_run_is_marked_and_never_the_best(tmp_path: Path) -> None:
    make_run(tmp_path, [score(10), score(10)], memory="none")
    make_run(tmp_path, [score(20), score(20)], memory="flat")
    make_run(tmp_path, [score(100)], memory="amem", total=2)
    (table,) = main.table(runs(tmp_path))
    cells = column(table, "scienceworld_score")
    assert [cell.bold for cell in cells] == [False, True, False]
    assert cells[2].marks == (base.FEWER_TASKS,)
    assert texts(table, "scienceworld_tasks")[2] == "1 of 2"
    assert any(note.startswith("Unfinished") and "1 of 2" in note for note in table.notes)


def test_settings_stand_side_by_side_and_a_missing_run_stays_empty(tmp_path: Path) -> None:
    make_run(tmp_path, [success(1)], memory="none", setting="alfworld", metrics=(SUCCESS,))
    make_run(tmp_path, [score(50)], memory="none")
    make_run(tmp_path, [score(70)], memory="flat")
    (table,) = main.table(runs(tmp_path))
    assert values(table, "alfworld_success_rate") == [100.0, None]
    assert texts(table, "alfworld_success_rate")[1] == base.NOTHING
    assert values(table, "scienceworld_score") == [50.0, 70.0]


def test_frozen_and_online_runs_do_not_share_a_table(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)])
    frozen = {"order": "release", "freeze_after": 5, "limit": None, "window": 1}
    make_run(tmp_path, [score(2)], memory="flat", stream=frozen)
    made = main.table(runs(tmp_path))
    assert [len(table.rows) for table in made] == [1, 1]
    assert len({table.name for table in made}) == 2


def test_chosen_tasks_are_named_and_kept_apart_from_whole_settings(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1), score(2)])
    for place, chosen in enumerate(([3, 7], [4, 8])):
        stream = {"order": "release", "retries": 1, "tasks": chosen, "retry_failed": False}
        make_run(tmp_path, [score(3), score(4)], variant=f"tasks-{place}", stream=stream)
    made = main.table(runs(tmp_path))
    assert [table.name for table in made] == [
        "main_deepseek-v3-2",
        "main_deepseek-v3-2-2-chosen-tasks",
        "main_deepseek-v3-2-2-chosen-tasks-2",
    ]
    assert made[1].head[0] == "Stream: release order, online, 2 chosen tasks (3, 7)"


def test_a_memory_from_another_run_is_said_without_its_path(tmp_path: Path) -> None:
    stream = {"order": "release", "freeze_after": 0, "memory_from": "/home/someone/run"}
    make_run(tmp_path, [score(1)], stream=stream)
    (table,) = main.table(runs(tmp_path))
    assert "frozen after 0 tasks, memory taken from another run" in table.head[0]
    assert not any("someone" in line for line in (*table.head, *table.notes, table.name))


def test_variants_of_one_memory_are_told_apart(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1)], memory="flat", variant="default-1")
    make_run(tmp_path, [score(2)], memory="flat", variant="k10-2")
    (table,) = main.table(runs(tmp_path))
    assert texts(table, "memory") == ["flat [default-1]", "flat [k10-2]"]


TGC_AS_MEAN = {"name": "tgc", "value": "score", "how": "mean", "label": "TGC"}


def test_macro_takes_overall_from_means_and_differences_before_rounding(tmp_path: Path) -> None:
    """The published TGC of configurations C, D and F, one task each, give the paper's 31.39 and 1.39."""
    tgc = {
        "flat": ((49.09, 38.50, 56.20), (24.36, 17.81, 31.99)),  # C
        "awm": ((52.75, 39.84, 59.63), (25.21, 19.80, 34.51)),  # D
        "evoweave": ((54.05, 40.60, 61.07), (27.00, 21.01, 35.97)),  # F
    }
    for memory, splits in tgc.items():
        for setting, row in zip(("appworld_test_normal", "appworld_test_challenge"), splits, strict=True):
            for backbone, value in zip(("deepseek-v3.2", "gpt-4.1-mini", "qwen"), row, strict=True):
                make_run(tmp_path, [score(value)], memory=memory, backbone=backbone, setting=setting,
                         metrics=(TGC_AS_MEAN,))  # fmt: skip
    (table,) = macro.table(runs(tmp_path))
    assert texts(table, "memory") == ["flat", "awm", "evoweave"]
    assert texts(table, "overall_tgc") == ["31.39", "33.47", "34.86"]
    assert texts(table, "overall_tgc_to_baseline")[2] == "+1.39"
    # The strongest other baseline: of flat it is awm, of awm flat; evoweave is no baseline.
    assert texts(table, "overall_tgc_to_baseline")[1] == "+2.08"
    assert [column.key for column in table.columns][-3:] == [
        "overall_tgc",
        "overall_tgc_to_none",
        "overall_tgc_to_baseline",
    ]


def test_macro_leaves_a_memory_empty_that_lacks_a_backbone(tmp_path: Path) -> None:
    for backbone in ("deepseek-v3.2", "qwen"):
        make_run(tmp_path, [score(50)], backbone=backbone)
    make_run(tmp_path, [score(90)], memory="flat", backbone="qwen")
    (table,) = macro.table(runs(tmp_path))
    assert values(table, "scienceworld_score") == [50.0, None]
    assert any("flat" in note and "every backbone" in note for note in table.notes)


def test_macro_marks_differences_below_one_combined_sd(tmp_path: Path) -> None:
    # A backbone: seeds 40, 60: sd 14.14; two backbones: sqrt(200 + 200) / 2 = 10. Combined: 14.14.
    for memory, up in (("none", 0), ("flat", 10), ("awm", 20)):
        for backbone in ("a", "b"):
            for seed, value in enumerate((40, 60)):
                make_run(tmp_path, [score(value + up)], memory=memory, backbone=backbone, seed=seed)
    (table,) = macro.table(runs(tmp_path))
    cells = column(table, "scienceworld_score_to_none")
    assert [cell.value for cell in cells] == [None, 10.0, 20.0]
    assert [cell.marks for cell in cells] == [(), (base.NOT_SEPARABLE,), ()]


def test_beside_the_paper_says_what_is_fewer(tmp_path: Path) -> None:
    # Raw -20 and 100 are 0 and 100 on EvoWeave's scale: 50. DeepSeek, none: 64.70 +- 2.52.
    for seed in (0, 1):
        make_run(tmp_path, [score(-20), score(100)], memory="none", seed=seed)
    (table,) = published.table(runs(tmp_path), "evoweave")
    assert values(table, "paper") == [64.70]
    assert values(table, "ours") == [50.0]
    assert values(table, "difference") == pytest.approx([-14.70])
    assert texts(table, "remarks") == ["2 of 90 tasks; 2 of 5 (inferred) seeds"]
    assert published.table(runs(tmp_path), None) == []


def test_another_backbone_is_shown_without_a_difference(tmp_path: Path) -> None:
    make_run(tmp_path, [score(50)], backbone="reader", reader="1")
    make_run(tmp_path, [score(50)], backbone="reader", reader="1", memory="hermes")
    (table,) = published.table(runs(tmp_path), "evoweave")
    assert texts(table, "paper_backbone") == ["deepseek-v3.2", "gpt-4.1-mini", "qwen", base.NOTHING]
    assert values(table, "paper") == [64.7, 40.0, 66.1, None]
    assert values(table, "difference") == [None] * 4
    assert texts(table, "remarks")[3] == "not in the paper"


def test_strata_scienceworld_is_compared_on_its_own_tasks_only(tmp_path: Path) -> None:
    make_run(tmp_path, [score(70)], backbone="pro")
    make_run(tmp_path, [score(70)], backbone="pro", setting="scienceworld_strata23")
    own, other = sorted(published.table(runs(tmp_path), "strata"), key=lambda table: -len(table.name))
    assert values(own, "difference") == pytest.approx([70 - 80.6])
    assert texts(own, "remarks") == ["1 of 23 tasks; 1 of 3 seeds"]
    assert values(other, "difference") == [None]


def test_mini_settings_are_compared_with_nothing(tmp_path: Path) -> None:
    make_run(tmp_path, [success(1)], setting="webarena_mini", metrics=(SUCCESS,))
    assert published.table(runs(tmp_path), "evoweave") == []


def test_efficiency_by_hand(tmp_path: Path) -> None:
    # Two good tasks; a third failed and costs money but no average. An old attempt of task 1 only costs.
    act = {"role": "act", "input_tokens": 1000, "cached_tokens": 500, "output_tokens": 20, "cost": 0.02}
    late = {"role": "judge", "input_tokens": 70, "output_tokens": 10, "cost": 0.01}
    retried = {"role": "act", "input_tokens": 9999, "cost": 0.03, "attempt": 2}
    rows = [
        score(10, calls=[act, act, late, retried], rounds=2, steps=2, seconds=8.0, injected_tokens_calls=60,
              injected_tokens=30, injected_lines=6),
        score(20, calls=[{**act, "role": "plan", "cached_tokens": 0}], rounds=6, steps=4, seconds=24.0,
              injected_tokens_calls=180, injected_tokens=30, injected_lines=2),
        score(0, failure="backbone", calls=[{**act, "cost": 0.10}], rounds=50),
    ]  # fmt: skip
    make_run(tmp_path, rows, memory="flat")
    make_run(tmp_path, [score(1, injected_tokens_calls=480, rounds=1)], memory="awm")
    tokens, work, saving = efficiency_tables(runs(tmp_path))
    assert values(tokens, "injected_tokens")[0] == 120.0
    assert values(tokens, "injected_tokens_per_call")[0] == 30.0  # 240 over 8 rounds
    assert values(tokens, "injected_tokens_once")[0] == 30.0
    assert values(tokens, "injected_lines")[0] == 4.0
    assert values(tokens, "input_tokens")[0] == 1500.0
    assert values(tokens, "cache_reuse_percent")[0] == pytest.approx(100 / 3)
    assert values(tokens, "learning_input_tokens")[0] == 35.0
    assert values(work, "seconds_per_round")[0] == 4.0
    assert values(work, "latency_seconds")[0] == 16.0
    assert [values(work, f"calls_{role}")[0] for role in ("act", "plan", "judge")] == [1.0, 0.5, 0.5]
    assert values(work, "cost_usd")[0] == pytest.approx(0.20 / 3)
    # 100 (1 - 120 / 480) and 100 (1 - 480 / 120).
    assert values(saving, "against_2")[0] == pytest.approx(75.0)
    assert values(saving, "against_1")[1] == pytest.approx(-300.0)


def test_an_unknown_price_is_unknown_not_zero(tmp_path: Path) -> None:
    make_run(tmp_path, [score(1, calls=[{"cost": None}, {"cost": 0.5}])])
    work = efficiency_tables(runs(tmp_path))[1]
    assert texts(work, "cost_usd") == ["unknown"]


def test_categories_overlap_and_webarena_has_its_cross_site_row(tmp_path: Path) -> None:
    labels = {"map": "Map", "reddit": "Reddit"}
    rows = [
        success(1, categories=["map"]),
        success(0, categories=["map"]),
        success(1, categories=["map"]),
        success(1, categories=["reddit"]),
        success(0),
    ]
    make_run(tmp_path, rows, setting="webarena", metrics=(SUCCESS,), categories=labels)
    (table,) = category.table(runs(tmp_path))
    assert texts(table, "category")[:3] == ["Map", "Reddit", "Cross-site (no category)"]
    assert texts(table, "tasks") == ["3", "1", "1", "4", "5"]
    # (3 x 66.67 + 1 x 100) / 4 = 75; over all five tasks 60.
    assert values(table, "memory_1") == pytest.approx([200 / 3, 100.0, 0.0, 75.0, 60.0])


def test_overlapping_categories_count_a_task_in_each(tmp_path: Path) -> None:
    rows = [success(1, categories=["gmail", "phone"]), success(0, categories=["phone"])]
    make_run(tmp_path, rows, setting="appworld_test_normal", metrics=(TGC, SGC),
             categories={"gmail": "Gmail", "phone": "Phone", "venmo": "Venmo"})  # fmt: skip
    (table,) = category.table(runs(tmp_path))
    assert texts(table, "category")[:2] == ["Gmail", "Phone"]
    assert values(table, "memory_1")[:2] == [100.0, 50.0]
    assert any("overlap" in note for note in table.notes)
    assert any("Venmo" in note for note in table.notes)


def test_judge_confusion_and_rates(tmp_path: Path) -> None:
    verdicts = [
        ("success", 1),
        ("success", 1),
        ("success", 0),
        ("failure", 1),
        ("failure", 0),
        ("unreadable", 1),
    ]
    rows = [success(was, verdict=said) for said, was in verdicts] + [
        success(1, verdict=None, failure="refusal")
    ]
    make_run(tmp_path, rows, setting="alfworld", metrics=(SUCCESS,))
    (table,) = judge.table(runs(tmp_path))
    assert [cell.text for cell in table.rows[0][1:7]] == ["2", "1", "1", "1", "1", "0"]
    # Agrees on 3 of 6; 2 of 3 said were; 2 of 4 that were said.
    assert [cell.value for cell in table.rows[0][7:]] == pytest.approx([50.0, 200 / 3, 50.0])


def test_paired_comparison_by_hand(tmp_path: Path) -> None:
    none = [success(v, scenario=s) for v, s in zip((1, 1, 0, 0, 0, 0, 0, 1), "aabbccdd", strict=True)]
    flat = [success(v, scenario=s) for v, s in zip((1, 0, 1, 1, 1, 1, 0, 1), "aabbccdd", strict=True)]
    make_run(tmp_path, none, memory="none", setting="alfworld", metrics=(SUCCESS,))
    make_run(tmp_path, flat, memory="flat", setting="alfworld", metrics=(SUCCESS,))
    (table,) = paired.table(runs(tmp_path))
    row = {column.key: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}
    assert (row["memory"].text, row["against"].text) == ("flat", "none")
    assert [row[key].text for key in ("pairs", "wins", "losses", "ties")] == ["8", "4", "1", "3"]
    assert row["difference"].value == pytest.approx(37.5)
    assert row["p_mcnemar"].value == pytest.approx(0.375)  # 4 against 1
    assert row["negative_transfer"].text == "1 of 3"


def test_pairs_are_the_same_task_and_seed_and_never_failed(tmp_path: Path) -> None:
    make_run(tmp_path, [score(10), score(20, failure="backbone"), score(30)], memory="none")
    make_run(tmp_path, [score(10)], memory="none", seed=7)
    # A shuffled stream: task 3 comes first.
    make_run(tmp_path, [score(35, number=3), score(50, number=2), score(5, number=1)], memory="flat")
    (table,) = paired.table(runs(tmp_path))
    row = {column.key: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}
    # Task 1: 10 to 5; task 3: 30 to 35; task 2 failed; seed 7 has no partner.
    assert [row[key].text for key in ("pairs", "wins", "losses")] == ["2", "1", "1"]
    assert row["difference"].value == 0.0


def test_holm_runs_over_all_rows_of_a_table(tmp_path: Path) -> None:
    outcome = {"none": [0] * 8, "flat": [1] * 6 + [0] * 2, "awm": [1] * 8}
    for memory, results in outcome.items():
        make_run(
            tmp_path, [success(v) for v in results], memory=memory, setting="alfworld", metrics=(SUCCESS,)
        )
    (table,) = paired.table(runs(tmp_path))
    # none-flat 2/64, none-awm 2/256, flat-awm 2/4: times 2, 3 and 1.
    assert values(table, "p_mcnemar") == pytest.approx([2 / 64, 2 / 256, 0.5])
    assert values(table, "p_mcnemar_holm") == pytest.approx([4 / 64, 6 / 256, 0.5])


def test_stream_curve_by_hand(tmp_path: Path) -> None:
    rows = [
        score(10, changes={"a": "x" * 5, "b": "y" * 3}),
        score(90, failure="backbone"),
        score(30, changes={"a": "x" * 9}, injected_tokens=8),
        score(50, changes={"b": None}),
        score(70),
    ]
    make_run(tmp_path, rows, memory="flat")
    short, whole = stream.table(runs(tmp_path))
    assert whole.data_only
    assert not short.data_only
    assert values(whole, "cumulative") == [10.0, 10.0, 20.0, 30.0, 40.0]
    assert values(whole, "moving") == [None, None, None, None, 40.0]
    assert values(whole, "memory_characters") == [8.0, 8.0, 12.0, 9.0, 9.0]
    assert values(whole, "injected_tokens") == [0.0, 0.0, 8.0, 0.0, 0.0]


def test_composition_is_the_counters_after_the_last_task(tmp_path: Path) -> None:
    for seed, last in enumerate((4, 6)):
        rows = [score(1, counters={"entries": 1}), score(1, counters={"entries": last, "merges": 2})]
        make_run(tmp_path, rows, memory="flat", seed=seed)
    (table,) = composition.table(runs(tmp_path))
    assert texts(table, "counter") == ["entries", "merges"]
    assert values(table, "value") == [5.0, 2.0]
    assert column(table, "value")[0].sd == pytest.approx(2**0.5)


def test_inventory_counts_failures_by_kind(tmp_path: Path) -> None:
    rows = [score(1), Row(None), score(2, failure="backbone"), score(3, failure="context_overflow")]
    make_run(tmp_path, rows, total=9)
    (table,) = inventory(runs(tmp_path))
    assert texts(table, "failed") == ["1 backbone, 1 context overflow, 1 not evaluated"]
    assert texts(table, "tasks") == ["4 of 9"]


def test_a_report_of_runs_without_a_task_is_no_error(tmp_path: Path) -> None:
    make_run(tmp_path, [], total=3, categories={"a": "A"})
    for paper in (None, "evoweave", "strata"):
        assert tables(runs(tmp_path), paper)


def test_further_scores_have_a_table_of_their_own(tmp_path: Path) -> None:
    clamped = {"name": "score_clamped", "value": "clamped", "how": "mean", "label": "Score, at least 0"}
    raw = {"name": "score", "value": "raw", "how": "mean", "label": "Score"}
    rows = [
        Row({"success": 0.0, "raw": -100.0, "clamped": 0.0}),
        Row({"success": 0.0, "raw": 50.0, "clamped": 50.0}),
    ]
    make_run(tmp_path, rows, metrics=(raw, clamped))
    found = runs(tmp_path)
    (table,) = main.table(found)
    assert [entry.key for entry in table.columns][:2] == ["memory", "scienceworld_score"]
    assert "score_clamped" not in " ".join(entry.key for entry in table.columns)
    (whole,) = scores.table(found)
    assert values(whole, "score") == [-25.0]
    assert values(whole, "score_clamped") == [25.0]
