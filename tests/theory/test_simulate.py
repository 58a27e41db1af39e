"""Simulated bounds: they hold, they are counted as the formulas say, wrong ones are found out."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

import thetahat as th
from thetahat import theory

mpl.use("agg")

COIN = stats.bernoulli(0.5)


@pytest.mark.parametrize(
    ("bound", "at", "n", "law"),
    [
        ("markov", [0.5, 1, 2, 5], 1, stats.expon()),
        ("markov", [1, 1.5, 3], 20, stats.pareto(2.5)),
        ("chebyshev", [0.5, 1, 1.5, 3], 1, stats.expon()),
        ("chebyshev", [1, 2, 4], 100, COIN),
        ("chebyshev", [1, 2, 4], 10, stats.norm(5.0, 3.0)),
        ("hoeffding", [0.03, 0.1, 0.2], 100, COIN),
        ("hoeffding", [0.1, 0.3], 20, None),
        ("hoeffding", [0.1, 0.3], 20, stats.beta(0.2, 0.8)),
        ("union", [0.001, 0.03, 0.2], 5, None),
        ("union", [0.1, 0.3], 50, stats.poisson(3.0)),
    ],
)
def test_the_bounds_hold_where_they_are_simulated(bound, at, n, law):
    found = theory.simulate(bound, at, n=n, distribution=law, repetitions=4000, random_state=0)
    assert found.holds
    assert str(found).endswith("the bound holds")
    assert found.at == tuple(at)
    assert all(0 <= f.low <= f.estimate <= f.high <= 1 for f in found.frequencies)


def test_what_is_counted_has_the_probability_it_should_have():
    """Exact tails of coins, waiting times and independent events lie in the intervals."""
    flips = stats.binom(20, 0.5)
    options = {"repetitions": 20_000, "random_state": 1}
    hoeffding = theory.simulate("hoeffding", [0.1, 0.2], n=20, distribution=COIN, **options)
    for found, most in zip(hoeffding.frequencies, (2, 4), strict=True):
        # A deviation of just δ, 2 or 4 flips of 20, is not above δ, however means are rounded.
        assert 2 * flips.cdf(10 - most - 1) in found
    chebyshev = theory.simulate("chebyshev", [2.0], n=16, distribution=COIN, **options)
    assert 2 * stats.binom(16, 0.5).cdf(3) in chebyshev.frequencies[0]
    markov = theory.simulate("markov", [1.0, 3.0], distribution=stats.expon(), **options)
    assert np.exp(-1) in markov.frequencies[0]
    assert np.exp(-3) in markov.frequencies[1]
    union = theory.simulate("union", [0.03], n=5, **options)
    assert 1 - 0.97**5 in union.frequencies[0]
    np.testing.assert_allclose(union.bounds, 0.15)


def test_bounds_that_are_reached_are_reached():
    """0 or k times the mean meets Markov; far off to either side, or not at all, meets 1/t²."""
    markov = theory.simulate(
        "markov", [5.0], distribution=stats.bernoulli(0.2), repetitions=20_000, random_state=0
    )
    assert markov.bounds[0] == 0.2
    assert markov.bounds[0] in markov.frequencies[0]
    apart = stats.rv_discrete(values=([-1, 0, 1], [0.125, 0.75, 0.125]))
    below, just = theory.simulate(
        "chebyshev", [1.999, 2.0], distribution=apart, repetitions=20_000, random_state=0
    ).frequencies
    assert 0.25 in below
    assert just.estimate == 0.0  # exactly 2σ is not more than 2σ


def test_a_bound_that_is_none_is_found_out(monkeypatch):
    from importlib import import_module

    module = import_module("thetahat.theory.simulate")
    monkeypatch.setattr(module, "hoeffding", lambda n, deviation: np.exp(-n * deviation))
    found = theory.simulate("hoeffding", [0.02], n=400, distribution=COIN, random_state=0)
    assert not found.holds
    assert str(found).endswith("the bound is exceeded")


def test_the_same_seed_gives_the_same_and_many_values_come_in_parts(monkeypatch):
    from importlib import import_module

    first = theory.simulate("hoeffding", [0.1], n=30, repetitions=1000, random_state=3)
    again = theory.simulate("hoeffding", [0.1], n=30, repetitions=1000, random_state=3)
    assert first.frequencies == again.frequencies
    monkeypatch.setattr(import_module("thetahat.theory.simulate"), "VALUES_AT_ONCE", 700)
    parts = theory.simulate("hoeffding", [0.1], n=30, repetitions=1000, random_state=3)
    assert parts.frequencies == first.frequencies


def test_a_simulation_draws_itself():
    import matplotlib.pyplot as plt

    found = theory.simulate("chebyshev", [1.0, 2.0, 9.0], n=10, repetitions=500, random_state=0)
    axes = found.plot()
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), found.bounds)
    assert np.isnan(axes.get_lines()[1].get_ydata()[2])  # it never happened
    assert axes.get_yscale() == "log"
    assert found.plot(axes) is axes
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.simulate("hoefding", [0.1]), "Did you mean 'hoeffding'"),
        (lambda: theory.simulate("markov", []), "at least one argument"),
        (lambda: theory.simulate("markov", [-1.0]), "at=-1.0 must be a number > 0"),
        (lambda: theory.simulate("union", [1.5]), "at=1.5 must be a number strictly between"),
        (lambda: theory.simulate("markov", [2], n=0), "n=0"),
        (lambda: theory.simulate("markov", [2], repetitions=0), "repetitions=0"),
        (lambda: theory.simulate("markov", [2], level=1.0), "level=1.0"),
        (lambda: theory.simulate("markov", [2], distribution=3), "frozen distribution"),
        (
            lambda: theory.simulate("markov", [2], distribution=stats.norm()),
            "between -inf and inf, but markov",
        ),
        (
            lambda: theory.simulate("hoeffding", [0.1], distribution=stats.expon()),
            "between 0 and inf, but hoeffding",
        ),
        (
            lambda: theory.simulate("chebyshev", [2], distribution=stats.t(2)),
            "standard deviation of distribution is inf",
        ),
    ],
)
def test_refusals_name_function_value_and_rule(call, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        call()
