"""Information at a θ: derivatives of the likelihood, and sums that merge."""

import numpy as np
import pytest

from thetahat.data.source import Block
from thetahat.mathematics.losses import Logistic, Poisson, SoftmaxCrossEntropy, Squared
from thetahat.mathematics.losses.families import family_of
from thetahat.objective.likelihood.information import information
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((24, 3))
CASES = {
    "logistic": (Logistic(), RANDOM.integers(0, 2, 24).astype(float), 0),
    "poisson": (Poisson(), RANDOM.poisson(2.0, 24).astype(float), 0),
    "squared": (Squared(), RANDOM.standard_normal(24), 0),
    "softmax": (SoftmaxCrossEntropy(), RANDOM.integers(0, 3, 24).astype(float), 3),
}
WEIGHT = RANDOM.integers(0, 3, 24).astype(float)
FIELDS = (
    "weight", "n_rows", "loss", "gradient", "hessian", "targets", "squares", "constant", "saturated"
)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_merging_halves_is_the_whole(name):
    random = np.random.default_rng(1)
    loss, y, k = CASES[name]
    predictor = LinearPredictor(3, k)
    theta = random.standard_normal(predictor.n_parameters)

    def of(rows):
        block = Block(X=X[rows], y=y[rows], weight=WEIGHT[rows])
        return information(block, predictor, loss, family_of(loss), theta)

    whole, parts = of(slice(None)), of(slice(0, 7)).merge(of(slice(7, None)))
    for field in FIELDS:
        np.testing.assert_allclose(getattr(parts, field), getattr(whole, field), rtol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "poisson", "squared"])
def test_saturated_is_the_least_loss_of_each_row(name):
    loss, y, _ = CASES[name]
    family = family_of(loss)
    z = np.linspace(-30, 30, 40_001)
    least = loss.value(y[:, None], z).min(axis=1)
    np.testing.assert_allclose(family.saturated(y), least, atol=1e-5)


def test_constants_complete_the_likelihoods():
    from scipy.stats import bernoulli, poisson

    y, z = np.arange(6.0), np.linspace(-1, 2, 6)
    found = -Poisson().value(y, z) - family_of(Poisson()).constant(y)
    np.testing.assert_allclose(found, poisson.logpmf(y, np.exp(z)))
    found = -Logistic().value(y % 2, z) - family_of(Logistic()).constant(y)
    np.testing.assert_allclose(found, bernoulli.logpmf(y % 2, 1 / (1 + np.exp(-z))))


def test_value_and_gradient_at_once():
    y, z = np.arange(6.0), np.array([-800.0, -1.0, 0.0, 2.0, 300.0, 400.0])
    value, slope = Poisson().value_and_gradient(y, z)
    np.testing.assert_array_equal(value, Poisson().value(y, z))
    np.testing.assert_array_equal(slope, Poisson().gradient(y, z))
