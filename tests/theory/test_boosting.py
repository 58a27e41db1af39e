"""Weak learners made strong: the identities behind the bound, and its worked numbers."""

import math

import numpy as np
import pytest

import thetahat as th
from thetahat import theory


def test_worked_numbers():
    assert theory.boosting_factor(0.1) == pytest.approx(2 / 3)
    assert theory.boosting_rounds(0.01, 0.01) == 23026
    # Twice as many rounds, log(1/ε)/γ², suffice all the more.
    assert math.ceil(math.log(100) / 0.01**2) == 46052
    assert theory.boosting_error_bound(0.01, 46052) < theory.boosting_error_bound(0.01, 23026)
    assert theory.boosting_error_bound(0.01, 23026) <= 0.01


@pytest.mark.parametrize("edge", [0.01, 0.1, 0.3, 0.49])
def test_a_round_shrinks_the_total_weight_as_the_proof_says(edge):
    beta = theory.boosting_factor(edge)
    factor = (0.5 - edge) + beta * (0.5 + edge)
    assert factor == pytest.approx(1 - 2 * edge)
    if edge == 0.1:
        assert factor == pytest.approx(0.8)
    assert factor / math.sqrt(beta) == pytest.approx(math.sqrt(1 - 4 * edge**2))
    for rounds in (0, 1, 7, 100):
        bound = theory.boosting_error_bound(edge, rounds)
        assert bound == pytest.approx((1 - 4 * edge**2) ** (rounds / 2))
        assert bound <= math.exp(-2 * rounds * edge**2)


@pytest.mark.parametrize("edge", [0.05, 0.2])
def test_learners_that_err_as_much_as_they_may_stay_under_the_bound(edge):
    """Each round errs on rows of weight ½ − γ, chosen at random; the majority is still good."""
    random, n = np.random.default_rng(0), 4000
    beta, weight, wrong = theory.boosting_factor(edge), np.ones(n), np.zeros(n)
    for rounds in range(1, 60):
        order = random.permutation(n)
        missed = np.zeros(n, dtype=bool)
        missed[order] = np.cumsum(weight[order]) <= (0.5 - edge) * weight.sum()
        weight = np.where(missed, weight, beta * weight)
        wrong += missed
        assert np.mean(2 * wrong >= rounds) <= theory.boosting_error_bound(edge, rounds)


def test_rows_outnumber_the_size_of_the_whole_classifier():
    rows = theory.boosting_sample_size(8, 0.2, 0.05, 0.01)
    rounds = theory.boosting_rounds(0.2, 0.5 / rows)
    assert rows >= (rounds * math.log(8) + math.log(100)) / 0.05
    assert theory.pac_failure(8.0**rounds, 0.05, rows) <= 0.01
    fewer = math.floor(0.99 * rows)
    rounds_of_fewer = theory.boosting_rounds(0.2, 0.5 / fewer)
    assert fewer < (rounds_of_fewer * math.log(8) + math.log(100)) / 0.05
    # No error is left: less than one row of all.
    assert theory.boosting_error_bound(0.2, rounds) * rows < 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.boosting_rounds(0.5, 0.1), r"edge=0.5 must lie strictly between 0 and ½"),
        (lambda: theory.boosting_factor(0.0), r"edge=0.0 must be a number > 0"),
        (lambda: theory.boosting_error_bound(0.1, -1), r"rounds=-1 must be a whole number"),
        (lambda: theory.boosting_rounds(0.1, 1.0), r"error=1.0"),
        (lambda: theory.boosting_sample_size(0, 0.1, 0.1, 0.1), r"class_size=0"),
    ],
)
def test_refusals_name_function_value_and_rule(call, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        call()
