"""The numbers of six puzzles, and what happens at their limits."""

import numpy as np
import pytest

import thetahat as th


@pytest.fixture(scope="module")
def puzzles(example):
    return example("bayes_puzzles")


def test_commute(puzzles):
    assert puzzles.commute.mean == pytest.approx(630 / 17)
    assert puzzles.commute.sigma**2 == pytest.approx(100 / 17)
    assert "37.058824 minutes on average, ± 2.425356." in puzzles.printed


def test_commute_without_trips_and_with_very_many(puzzles):
    none = th.distributions.posterior(puzzles.prior, [], noise=5)
    assert (none.mean, none.sigma) == (30, 10)
    many = th.distributions.posterior(puzzles.prior, [37.5] * 10**5, noise=5)
    assert many.mean == pytest.approx(37.5, abs=1e-3)
    assert many.sigma**2 == pytest.approx(25 / 10**5, rel=1e-3)


def test_sun(puzzles):
    assert puzzles.believed == "exploded"
    assert puzzles.exploded(1e-8) == pytest.approx(9.998e-5, rel=1e-4)
    assert puzzles.exploded(1e-4) == pytest.approx(0.5, abs=1e-12)
    assert puzzles.exploded(0.5) == pytest.approx(0.9999, abs=1e-12)
    for beta in np.geomspace(1e-7, 0.3, 9):
        assert (puzzles.exploded(beta) > 0.5) == (beta > puzzles.ALPHA)


def test_engineers_and_alarm(puzzles):
    assert puzzles.engineer == pytest.approx(0.15 / 0.37)
    assert puzzles.false_alarm == pytest.approx(0.018 / 0.115)
    assert "engineer with probability 0.405405." in puzzles.printed
    assert "false with probability 0.156522." in puzzles.printed


def test_coin(puzzles):
    assert puzzles.coin.p == pytest.approx(4 / 5)
    assert puzzles.likelihood(0.1) == pytest.approx(9e-5)
    assert puzzles.likelihood(0.9) == pytest.approx(0.06561)


def test_marbles(puzzles):
    np.testing.assert_allclose(puzzles.failure, 0.1 ** np.arange(11.0))
    assert "After 100 blue marbles: 1e-100." in puzzles.printed
