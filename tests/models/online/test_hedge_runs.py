"""Hedge run after run: every report is of its own rounds, and promises what it can."""

import matplotlib as mpl
import numpy as np
import pytest

import thetahat as th
from thetahat import online

mpl.use("agg")


def worst_losses(hedge, rounds, experts):
    """Whoever is trusted most loses; nothing keeps the regret higher."""
    for number in range(rounds):
        losses = np.zeros(experts)
        losses[0 if number == 0 else hedge.weights_.argmax()] = 1.0
        yield losses


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("beta", [None, 0.3, 0.99])
def test_every_run_keeps_its_own_bound(seed, beta):
    random = np.random.default_rng(seed)
    losses = random.random((200, 5)) ** random.uniform(0.2, 3.0, 5)
    hedge = online.Hedge(beta=beta, rounds=int(random.integers(1, 400)))
    cut = int(random.integers(1, 200))
    first, second = hedge.run(losses[:cut]), hedge.run(losses[cut:])
    assert first.bounds_hold
    assert second.bounds_hold
    np.testing.assert_allclose(second.expert_losses, losses[cut:].sum(axis=0))
    np.testing.assert_allclose(first.total + second.total, hedge.total_loss_)
    best = np.cumsum(losses[cut:], axis=0).min(axis=1)
    np.testing.assert_allclose(second.regret, np.cumsum(second.losses) - best, atol=1e-9)
    assert second.tuned_bound is None


def test_the_bound_of_a_first_run_is_the_one_with_ln_n():
    losses = np.random.default_rng(0).random((50, 4))
    run = online.Hedge(beta=0.5).run(losses)
    best = losses.sum(axis=0).min()
    assert run.bound == pytest.approx((best * np.log(2) + np.log(4)) / 0.5)
    assert run.regret_bounds[-1] == pytest.approx(run.bound - best)


def test_beyond_its_rounds_the_tuned_bound_is_not_promised():
    hedge = online.Hedge(rounds=4)
    run = hedge.run(worst_losses(hedge, 3000, 4))
    tuned = run.expert_losses.min() + np.sqrt(2 * 4 * np.log(4)) + np.log(4)
    assert run.total > tuned  # it would be wrong
    assert run.tuned_bound is None
    assert hedge.tuned_bound is None
    assert run.bounds_hold
    in_time = online.Hedge(rounds=3000)
    assert in_time.run(worst_losses(in_time, 3000, 4)).tuned_bound is not None


@pytest.mark.parametrize(("beta", "lines"), [(0.5, 2), (None, 3)])
def test_the_picture_shows_the_bounds_that_hold(beta, lines):
    import matplotlib.pyplot as plt

    hedge = online.Hedge(beta=beta, rounds=300)
    run = hedge.run(worst_losses(hedge, 300, 4))
    drawn = run.plot().get_lines()
    assert len(drawn) == lines
    np.testing.assert_allclose(drawn[1].get_ydata(), run.regret_bounds)
    assert (run.regret <= drawn[1].get_ydata() + 1e-9).all()
    if beta is None:
        level = np.sqrt(2 * 300 * np.log(4)) + np.log(4)
        np.testing.assert_allclose(drawn[2].get_ydata(), level)
    plt.close("all")


@pytest.mark.parametrize("options", [{"rounds": 2.5}, {"rounds": "a"}, {"beta": "a"}])
def test_refusals(options):
    ((name, value),) = options.items()
    with pytest.raises(th.errors.ParameterError, match=f"{name}={value!r}"):
        online.Hedge(**options)
