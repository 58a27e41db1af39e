"""Losses of the residual z − y, against worked numbers, integrals and statsmodels."""

import numpy as np
import pytest
import statsmodels.robust.norms as statsmodels_norms
from scipy.integrate import quad

import thetahat as th
from tests.mathematics.losses.loss_cases import losses
from thetahat.mathematics.losses.base import Reweightable


def test_tube_worked_numbers():
    """[|r| − ε]₊ and half its square for ε = 0.5: zero inside the tube and on its border."""
    y, z = np.zeros(4), np.array([-2.0, -0.5, 0.3, 1.0])
    tube, squared = (
        loss(epsilon=0.5)
        for loss in (th.losses.EpsilonInsensitive, th.losses.SquaredEpsilonInsensitive)
    )
    np.testing.assert_allclose(tube.value(y, z), [1.5, 0.0, 0.0, 0.5])
    np.testing.assert_allclose(squared.value(y, z), [1.125, 0.0, 0.0, 0.125])
    np.testing.assert_allclose(tube.gradient(y, z)[[0, 2, 3]], [-1.0, 0.0, 1.0])
    np.testing.assert_allclose(squared.gradient(y, z), [-1.5, 0.0, 0.0, 0.5])


def test_residual_worked_numbers():
    def at(loss, r):
        return loss.value(np.zeros(1), np.array([r])).item()

    assert at(th.losses.Huber(delta=1.0), 0.5) == 0.125
    assert at(th.losses.Huber(delta=1.0), 2.0) == 1.5
    assert at(th.losses.Forsyth(scale=1.0), 1.0) == 0.5
    assert at(th.losses.Cauchy(scale=1.0), 1.0) == pytest.approx(0.346574, abs=5e-7)
    assert at(th.losses.Tukey(scale=3.0), 3.0) == at(th.losses.Tukey(scale=3.0), 50.0) == 1.5
    assert 2 * at(th.losses.Squared(), 3.0) == 9.0


@losses(Reweightable, where=lambda loss: loss.get_params() and loss == type(loss)())
def test_default_scales_keep_95_percent_of_the_efficiency(loss):
    """(E ψ′)²/E ψ² under N(0, 1): the variance of the mean over that of the M-estimate."""

    def expectation(formula):
        def integrand(r):
            at = np.array([r])
            return formula(np.zeros(1), at).item() * np.exp(-r * r / 2) / np.sqrt(2 * np.pi)

        edge = next(iter(loss.get_params().values()))
        return quad(integrand, -12, 12, points=[-edge, edge], limit=200)[0]

    curvature = expectation(loss.curvature)
    pull = expectation(lambda y, z: loss.gradient(y, z) ** 2)
    assert curvature**2 / pull == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize(
    ("loss", "peer"),
    [
        (th.losses.Huber(1.2), statsmodels_norms.HuberT(1.2)),
        (th.losses.Tukey(3.5), statsmodels_norms.TukeyBiweight(3.5)),
    ],
)
def test_robust_losses_against_statsmodels(loss, peer):
    r = np.linspace(-6, 6, 999)
    y = np.zeros_like(r)
    # statsmodels' biweight is −(1 − u²)³ in the tube, ours starts at 0: compare differences.
    np.testing.assert_allclose(
        loss.value(y, r) - loss.value(y, y), peer.rho(r) - peer.rho(y), atol=1e-12
    )
    np.testing.assert_allclose(loss.gradient(y, r), peer.psi(r), atol=1e-12)
    np.testing.assert_allclose(loss.irls_weight(y, r), peer.weights(r), atol=1e-12)
