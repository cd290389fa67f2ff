"""Metrics of runs: percentages, scenarios, failed tasks in both conventions, means over backbones."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.base import Metric, SetupError
from harness import published
from harness.load import runs
from harness.metrics import Outcome, Score, groups, macro, outcomes, overall, reduce, score
from tests.harness.synthetic import SGC, TGC, Row, make_run
from tests.harness.synthetic import score as scored
from tests.harness.synthetic import success as succeeded


def _outcomes(*values: float | None, scenarios: str = "") -> list[Outcome]:
    return [Outcome(scenarios[n] if scenarios else str(n), value) for n, value in enumerate(values)]


def test_percent_leaves_failed_tasks_out_or_counts_them_as_failures() -> None:
    tasks = _outcomes(1, 0, 1, None)
    assert reduce(tasks, "percent", failures_count=False) == pytest.approx(200 / 3)
    assert reduce(tasks, "percent", failures_count=True) == pytest.approx(50.0)


def test_a_failed_task_counts_as_a_score_of_zero() -> None:
    tasks = _outcomes(-100, 40, None)
    assert reduce(tasks, "mean", failures_count=False) == pytest.approx(-30.0)
    assert reduce(tasks, "mean", failures_count=True) == pytest.approx(-20.0)


def test_scenarios_need_every_task_and_one_with_a_failed_task_is_undecided() -> None:
    # a: passed; b: one task wrong; c: one task failed for other reasons.
    tasks = _outcomes(1, 1, 1, 0, 1, None, scenarios="aabbcc")
    assert reduce(tasks, "percent_of_scenarios", failures_count=False) == pytest.approx(50.0)
    assert reduce(tasks, "percent_of_scenarios", failures_count=True) == pytest.approx(100 / 3)


def test_nothing_is_made_up_where_there_is_no_task() -> None:
    for how in ("mean", "percent", "percent_of_scenarios"):
        assert reduce(_outcomes(None), how, failures_count=False) is None
        assert reduce([], how, failures_count=True) is None
    with pytest.raises(ValueError, match="median"):
        reduce(_outcomes(1.0), "median", failures_count=True)


def test_a_task_without_evaluation_is_failed_whatever_its_failure_says(tmp_path: Path) -> None:
    make_run(tmp_path, [scored(50), Row(None), scored(10, failure="backbone")])
    (run,) = runs(tmp_path)
    assert [outcome.value for outcome in outcomes(run, "score")] == [50.0, None, None]


def test_scores_are_clamped_for_evoweave_only_where_asked(tmp_path: Path) -> None:
    make_run(tmp_path, [scored(-100), scored(60)])
    (group,) = groups(runs(tmp_path))
    metric = group.first.metrics[0]
    assert score(group, metric).mean == pytest.approx(-20.0)
    assert score(group, metric, clamp=True).mean == pytest.approx(30.0)


def test_mean_and_sample_sd_over_seeds(tmp_path: Path) -> None:
    for seed, values in enumerate(([10, 30], [40, 60], [60, 80])):
        make_run(tmp_path, [scored(value) for value in values], seed=seed)
    (group,) = groups(runs(tmp_path))
    found = score(group, group.first.metrics[0])
    # Seeds 20, 50, 70: mean 46.667; deviations 711.11 + 11.11 + 544.44 over 2 = 633.33.
    assert found.mean == pytest.approx(140 / 3)
    assert found.sd == pytest.approx((1900 / 3) ** 0.5)
    assert group.seeds == (0, 1, 2)


def test_tgc_and_sgc_of_one_run(tmp_path: Path) -> None:
    rows = [
        succeeded(value, scenario=name)
        for name, value in zip("aaabbbccc", (1, 1, 1, 1, 0, 1, 0, 0, 0), strict=True)
    ]
    make_run(tmp_path, rows, setting="appworld_test_normal", metrics=(TGC, SGC))
    (group,) = groups(runs(tmp_path))
    tgc, sgc = (score(group, Metric(**entry)) for entry in (TGC, SGC))
    assert tgc.mean == pytest.approx(500 / 9)
    assert sgc.mean == pytest.approx(100 / 3)


def test_overall_weighs_the_splits_by_their_tasks() -> None:
    # (168 x 100 + 417 x 0) / 585
    assert overall(100.0, 0.0) == pytest.approx(28.7179487)


def test_overall_from_means_gives_the_papers_digits_where_a_mean_of_overalls_does_not() -> None:
    """EvoWeave's ablation: 31.39 for C, and F less D 1.39, come only from means over backbones."""
    by_row = {(row["backbone"], row["configuration"]): row for row in published.read("evoweave_ablation.csv")}
    backbones = ("deepseek-v3.2", "gpt-4.1-mini", "qwen")

    def of(configuration: str) -> float:
        splits = [
            macro({b: Score(float(by_row[b, configuration][column]), None, ()) for b in backbones}).mean
            for column in ("test_normal_tgc", "test_challenge_tgc")
        ]
        normal, challenge = (value for value in splits if value is not None)
        return overall(normal, challenge)

    assert f"{of('C'):.2f}" == "31.39"
    assert f"{of('F') - of('D'):.2f}" == "1.39"
    overalls = [float(by_row[b, "C"]["overall_tgc"]) for b in backbones]
    assert f"{sum(overalls) / 3:.2f}" == "31.38"


def test_macro_spread_is_that_of_a_mean_of_independent_means() -> None:
    found = macro({"a": Score(10.0, 3.0, ()), "b": Score(20.0, 4.0, ())})
    assert (found.mean, found.sd) == (15.0, 2.5)  # sqrt(9 + 16) / 2
    assert macro({"a": Score(10.0, 3.0, ()), "b": Score(20.0, None, ())}).sd is None


def test_variants_and_backbones_are_not_mixed(tmp_path: Path) -> None:
    for variant in ("default-1", "other-2"):
        for seed in (0, 1):
            make_run(tmp_path, [scored(1)], variant=variant, seed=seed)
    assert [len(group.runs) for group in groups(runs(tmp_path))] == [2, 2]


def test_the_papers_columns_are_those_of_their_files() -> None:
    for paper in published.PAPERS:
        assert {(value.setting, value.metric) for value in published.main_values(paper)} <= published.COLUMNS
    evoweave = published.main_values("evoweave")
    assert {(value.setting, value.metric) for value in evoweave} == published.COLUMNS
    assert len(evoweave) == 8 * 3 * 7


def test_missing_published_values_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    with pytest.raises(SetupError, match=r"absent\.csv"):
        published.read("absent.csv")
