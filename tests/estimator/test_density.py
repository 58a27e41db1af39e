"""The interface of density models: scores, novelty, thresholds."""

import numpy as np
import pytest
from sklearn.utils import get_tags

import thetahat as th
from thetahat.estimator.density import DensityModel


class Exponential(DensityModel):
    """p(x) = e⁻ˣ for x ≥ 0: the least a density model is."""

    def fit(self, X, y=None, sample_weight=None):
        self.n_features_in_ = 1
        return self

    def log_density(self, X):
        x = np.asarray(X, dtype=float)[:, 0]
        return np.where(x < 0, -np.inf, -x)

    def sample(self, n_samples=1, random_state=None):
        return np.random.default_rng(random_state).exponential(size=(n_samples, 1))


X = np.array([[3.0], [1.0], [0.5], [2.0]])
MODEL = Exponential().fit(X)


def test_the_names_of_scikit_learn_mean_the_same():
    assert get_tags(MODEL).estimator_type == "density_estimator"
    np.testing.assert_array_equal(MODEL.score_samples(X), MODEL.log_density(X))


def test_the_score_is_the_mean_log_likelihood():
    assert MODEL.score(X) == -X.mean()
    assert MODEL.score(X, sample_weight=[1, 0, 0, 3]) == -(3.0 + 3 * 2.0) / 4
    assert MODEL.score([[-1.0], [1.0]]) == -np.inf
    assert MODEL.score([[-1.0], [1.0]], sample_weight=[0, 1]) == -1.0


def test_novelty_is_minus_the_log_density():
    np.testing.assert_array_equal(MODEL.novelty(X), X[:, 0])
    assert MODEL.novelty([[-1.0]]) == np.inf


def test_the_threshold_leaves_the_share_beyond_it():
    rows = np.arange(100.0)[:, None]
    for share in (0.0, 0.01, 0.05, 0.5):
        limit = MODEL.novelty_threshold(rows, share)
        assert np.mean(MODEL.novelty(rows) > limit) == pytest.approx(share)
    weight = np.where(rows[:, 0] == 99, 5, 1)
    weighted = MODEL.novelty_threshold(rows, 0.05, sample_weight=weight)
    repeated = MODEL.novelty_threshold(np.repeat(rows, weight, axis=0), 0.05)
    assert weighted == repeated
    with pytest.raises(th.errors.ParameterError, match="share=1"):
        MODEL.novelty_threshold(rows, 1)


def test_new_rows_are_distinguished_from_old_ones():
    random = np.random.default_rng(0)
    usual, held_out = random.standard_normal((2, 1000, 2))
    strange = random.uniform(-8, 8, (200, 2))
    strange = strange[np.linalg.norm(strange, axis=1) > 4.5]
    forest = th.DensityForest(30, random_state=0).fit(usual)
    np.testing.assert_array_equal(forest.novelty(strange), -forest.log_density(strange))
    limit = forest.novelty_threshold(held_out, share=0.02)
    assert np.mean(-forest.log_density(held_out) > limit) == pytest.approx(0.02)
    fresh = random.standard_normal((2000, 2))
    assert np.mean(forest.novelty(fresh) > limit) < 0.05
    assert np.mean(forest.novelty(strange) > limit) > 0.95


SAMPLED = [
    th.GaussianNB(), th.MultinomialNB(), th.BayesClassifier(th.KernelDensity()),
    th.LinearDiscriminantAnalysis(), th.KernelDensity(), th.Histogram(), th.DensityTree(),
    th.PCA(1), th.EmpiricalCovariance(),
]  # fmt: skip


@pytest.mark.parametrize("model", SAMPLED, ids=lambda each: type(each).__name__)
def test_the_number_of_drawn_rows_has_limits(model):
    random = np.random.default_rng(0)
    model.fit(random.poisson(3.0, (40, 2)).astype(float), np.arange(40) % 2)
    name = type(model).__name__
    with pytest.raises(th.errors.MemoryBudgetError, match=f"{name}.sample: drawing 10{{12}} rows"):
        model.sample(10**12)
    with pytest.raises(th.errors.ParameterError, match="from 1 to 9223372036854775807"):
        model.sample(10**30)
    with th.config(memory=10_000):
        model.sample(10)
        with pytest.raises(th.errors.MemoryBudgetError, match="Draw fewer rows"):
            model.sample(1000)
