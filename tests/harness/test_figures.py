"""The radars' rules by hand-worked examples, and the files that are drawn."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.figures import figures
from harness.figures.bounds import floor_of, radius, spoke_bounds, spoke_label
from harness.figures.radar import Radar, Series, clipped, inseparable, radar
from harness.figures.stream import figures as stream_figures
from harness.load import runs
from harness.metrics import Score
from harness.tables.panels import panels
from tests.harness.synthetic import make_run, score


def _bounds(*values: float) -> tuple[str, str]:
    low, high = spoke_bounds(values)
    return spoke_label(low), spoke_label(high)


def test_the_papers_example() -> None:
    # b - a = 11.5, p = 1.725: 62.975 down to 62, 77.925 up to 78; (76.2 - 62) / 16 = .8875.
    assert _bounds(64.7, 70.0, 76.2) == ("62", "78")
    assert radius(76.2, Decimal(62), Decimal(78)) == 0.8875


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((50.0, 52.9), ("49.5", "53.5")),  # b - a < 3: p = .5; 49.5, 53.4 in halves
        ((50.0, 53.0), ("49", "54")),  # b - a = 3: p = .5 (.45 is less); 49.5, 53.5 in ones
        ((50.2, 50.2), ("49.5", "51")),  # one value: 49.7 and 50.7 in halves
        ((61.5, 61.5), ("61", "62")),  # already on a half: stays
        ((0.3, 2.0), ("0", "2.5")),  # -.2 clipped at 0
        ((90.0, 99.9), ("88", "100")),  # p = 1.485: 88.515; 101.385 clipped at 100
        ((100.0, 100.0), ("99.5", "100")),
        ((0.0, 0.0), ("0", "0.5")),
        ((-80.0, 20.0), ("0", "23")),  # clamped first: 0 to 20, p = 3
        ((40.0, 60.0), ("37", "63")),  # p = 3: exactly on the step
    ],
)
def test_bounds_by_hand(values: tuple[float, ...], expected: tuple[str, str]) -> None:
    assert _bounds(*values) == expected


def test_bounds_are_decimal_where_binary_fractions_would_miss_the_step() -> None:
    # 0.15 x (20.7 - 0.7) = 3: .7 + ... in floats 20.7 - 0.7 is 20 and 0.7 - 3 below 0; 76.7 - 71.7 = 5, p = .75.
    assert _bounds(71.75, 76.75) == ("71", "78")  # 71.0 and 77.5: 71.0 stays, 77.5 goes up
    # 1.1 - .5 is .6000000000000001 in floats, 2.6 + .5 is 3.1: halves .5 and 3.5; 1.0 exactly for 1.5 - .5.
    assert _bounds(1.5, 2.5) == ("1", "3")
    # A mean of thirds of the kind 64.99999999999999 is read as 65.
    assert _bounds(64.99999999999999, 65.00000000000001) == ("64.5", "65.5")


def test_a_value_outside_the_scale_is_drawn_at_its_end() -> None:
    assert radius(-50.0, Decimal(0), Decimal(23)) == 0.0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_every_value_lies_within_its_spoke(values: list[float]) -> None:
    low, high = spoke_bounds(values)
    assert Decimal(0) <= low < high <= Decimal(100)
    step = Decimal(1) if low % 1 == 0 and high % 1 == 0 else Decimal("0.5")
    assert low % step == 0
    assert high % step == 0
    assert all(0 <= radius(value, low, high) <= 1 for value in values)
    assert radius(max(values), low, high) > radius(min(values), low, high) or max(values) - min(values) < 1e-6


def test_no_value_no_spoke() -> None:
    with pytest.raises(ValueError, match="at least one"):
        spoke_bounds([])


def test_floor_is_below_all_but_outliers() -> None:
    assert floor_of([64.7, 70.0, 76.2]) == 60
    assert floor_of([60.0, 70.0]) == 50  # below, not at
    # Quartiles 81.75 and 90.5, so that -100 is an outlier and 80 is not.
    assert floor_of([-100, 80, 82, 85, 88, 90, 92, 95]) == 70
    assert floor_of([7.0, 9.0]) == 5
    assert floor_of([0.0, 3.0]) == 1


def _radar(*rows: tuple[str, tuple[float, ...]]) -> Radar:
    series = tuple(
        Series(name, name, tuple(Score(value, None, ()) for value in values)) for name, values in rows
    )
    return Radar(("find-living", "boil"), series)


def test_values_below_the_floor_are_listed() -> None:
    data = _radar(("hermes", (-100.0, 60.0)), ("amem", (80.0, 49.0)))
    assert clipped(data, 50) == ["hermes on find-living: -100.0", "amem on boil: 49.0"]


def test_the_two_best_of_a_spoke_may_be_inseparable() -> None:
    # 4 < sqrt(9 + 16) = 5 < 6; the third does not matter.
    third = Score(10.0, 50.0, ())
    assert inseparable([Score(80.0, 3.0, ()), third, Score(84.0, 4.0, ())])
    assert not inseparable([Score(80.0, 3.0, ()), third, Score(86.0, 4.0, ())])
    assert not inseparable([Score(80.0, None, ()), Score(81.0, 1.0, ())])
    assert not inseparable([Score(80.0, 1.0, ())])


CATEGORIES = {"s1": "State & <b>$x$</b>", "s2": "Plants", "s3": "Genetics", "s4": "Not run"}


def _runs(folder: Path) -> None:
    for memory, up in (("none", 0), ("flat", 5), ("reasoningbank", 9), ("amem", 2)):
        for seed in (0, 1):
            rows = [
                score(20 + up + 3 * n + seed, categories=[f"s{1 + n % 3}"], changes={"d": "x" * n})
                for n in range(9)
            ]
            make_run(folder, rows, memory=memory, seed=seed, categories=CATEGORIES)


def test_radar_takes_category_means_and_leaves_empty_categories_out(tmp_path: Path) -> None:
    _runs(tmp_path)
    (panel,) = panels(runs(tmp_path))
    data = radar(panel, clamp=True, leave_out=("none", "flat"))
    assert data.spokes == ("State & <b>$x$</b>", "Plants", "Genetics")
    assert [series.memory for series in data.series] == ["reasoningbank", "amem"]
    # reasoningbank, s1: tasks 0, 3, 6: 29, 38, 47, mean 38; seed 1: 39. sd of 38, 39: sqrt(.5).
    assert data.series[0].scores[0].mean == pytest.approx(38.5)
    assert data.series[0].scores[0].sd == pytest.approx(0.5**0.5)


def test_figures_are_written_as_pdf_and_png_and_are_the_same_each_time(tmp_path: Path) -> None:
    _runs(tmp_path / "runs")
    first = figures(runs(tmp_path / "runs"), tmp_path / "one")
    second = figures(runs(tmp_path / "runs"), tmp_path / "two")
    names = [drawn.png.stem.split("_deepseek")[0] for drawn in first]
    assert names == ["radar_evoweave", "radar_strata", "stream"]
    for one, two in zip(first, second, strict=True):
        assert one.pdf.read_bytes().startswith(b"%PDF")
        assert one.png.read_bytes().startswith(b"\x89PNG\r\n")
        assert one.pdf.read_bytes() == two.pdf.read_bytes()
        assert one.png.read_bytes() == two.png.read_bytes()
        assert "Stream: release order, online" in one.caption
        assert "Judge: default" in one.caption


def test_two_categories_make_no_radar_and_one_task_no_curve(tmp_path: Path) -> None:
    make_run(tmp_path / "runs", [score(1, categories=["a"])], categories={"a": "A", "b": "B"})
    assert figures(runs(tmp_path / "runs"), tmp_path / "out") == []
    assert stream_figures(runs(tmp_path / "runs"), tmp_path / "out") == []
