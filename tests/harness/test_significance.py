"""Statistics against numbers worked out by hand, or by scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.significance import clustered_bootstrap, holm, mcnemar, mean, sample_sd, separable


def test_sample_sd_divides_by_n_less_one() -> None:
    # Mean 4, squared deviations 4 + 0 + 4 = 8, over 2: variance 4.
    assert sample_sd([2.0, 4.0, 6.0]) == pytest.approx(2.0)
    assert sample_sd([5.0]) is None
    assert math.isnan(mean([]))


def test_separable_gives_the_gaps_that_strata_calls_clear_and_unclear() -> None:
    # sqrt(2.3^2 + 2.6^2) = 3.471 < 4.3; sqrt(1.6^2 + 2.2^2) = 2.720 < 4.6; sqrt(.9^2 + 1.9^2) = 2.102 < 2.3
    assert separable(46.5 - 42.2, 2.3, 2.6)
    assert separable(45.6 - 41.0, 1.6, 2.2)
    assert separable(98.6 - 96.3, 0.9, 1.9)
    # sqrt(2.5^2 + 2.9^2) = 3.829 > 1.2
    assert separable(78.4 - 77.2, 2.5, 2.9) is False
    assert separable(77.2 - 78.4, 2.5, 2.9) is False
    assert separable(5.0, None, 1.0) is None


def test_mcnemar_by_hand() -> None:
    # 5 discordant pairs, 1 against 4: 2 (1 + 5) / 32.
    assert mcnemar(1, 4) == pytest.approx(0.375)
    assert mcnemar(0, 6) == pytest.approx(2 / 64)
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(3, 3) == 1.0
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)


@given(st.integers(0, 60), st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(first: int, second: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(first, first + second, 0.5).pvalue
    assert mcnemar(first, second) == pytest.approx(expected, rel=1e-9)
    assert mcnemar(first, second) == mcnemar(second, first)


def test_mcnemar_of_thousands_of_pairs_is_a_number() -> None:
    assert 0 <= mcnemar(1000, 3000) < 1e-100
    assert mcnemar(2000, 2000) == 1.0


def test_holm_by_hand() -> None:
    # Sorted .01 .03 .04: 3 x .01 = .03; 2 x .03 = .06; 1 x .04 = .04, kept at .06 by the step before.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_holm_only_raises_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    ranked = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)
    assert max(adjusted) <= min(1.0, len(p_values) * max(p_values))


def test_bootstrap_of_two_clusters_has_the_distribution_worked_out_by_hand() -> None:
    # Draws aa, ab, ba, bb: means 0, .5, .5, 1. So 2.5 % is 0, 97.5 % is 1 and P(mean <= 0) = 1/4: p = 1/2.
    found = clustered_bootstrap({"a": [0.0], "b": [1.0]})
    assert (found.difference, found.low, found.high) == (0.5, 0.0, 1.0)
    assert found.p == pytest.approx(0.5, abs=0.03)


def test_bootstrap_draws_whole_scenarios() -> None:
    # Ten equal pairs in each of two scenarios are two draws, not twenty: the interval spans -1 to 1.
    together = clustered_bootstrap({"a": [1.0] * 10, "b": [-1.0] * 10})
    apart = clustered_bootstrap({str(n): [1.0 if n < 10 else -1.0] for n in range(20)})
    assert (together.low, together.high) == (-1.0, 1.0)
    assert -1.0 < apart.low < 0 < apart.high < 1.0


def test_bootstrap_weighs_scenarios_by_their_pairs() -> None:
    # (3 x 1 + 1 x 0) / 4, where a mean of scenario means would be .5.
    assert clustered_bootstrap({"a": [1.0, 1.0, 1.0], "b": [0.0]}).difference == pytest.approx(0.75)


def test_bootstrap_repeats_with_its_seed_and_says_when_there_is_nothing() -> None:
    pairs = {str(n): [float(n % 7) - 3] for n in range(30)}
    assert clustered_bootstrap(pairs, seed=3) == clustered_bootstrap(pairs, seed=3)
    assert clustered_bootstrap(pairs, seed=3) != clustered_bootstrap(pairs, seed=4)
    with pytest.raises(ValueError, match="no task in common"):
        clustered_bootstrap({"a": []})


def test_bootstrap_of_no_difference_claims_nothing() -> None:
    found = clustered_bootstrap({"a": [0.0, 0.0], "b": [0.0]})
    assert (found.low, found.high, found.p) == (0.0, 0.0, 1.0)
