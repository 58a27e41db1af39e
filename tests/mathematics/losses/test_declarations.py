"""What a loss declares it gets: standard errors, separation reports, leaf values, probabilities."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.stats
import statsmodels.api
from scipy.special import gammaln, xlogy

import thetahat as th
from tests.mathematics.losses.loss_cases import draw, losses
from thetahat.mathematics.losses.base import (
    BestShift,
    Curved,
    Subdifferentiable,
    Targets,
    UnboundedLikelihood,
)
from thetahat.mathematics.losses.compiled import compiled
from thetahat.mathematics.losses.families import Family, family_of
from thetahat.mathematics.losses.links import Link, link


@dataclass(frozen=True)
class Silent(Curved):
    """Negative binomial counts with variance μ + μ²/size and μ = e^z; it declares nothing."""

    size: float = 2.0

    name = "silent"
    targets = Targets.NONNEGATIVE
    link = Link.LOG

    def value(self, y, z):
        return (y + self.size) * np.log(self.size + np.exp(z)) - y * z

    def gradient(self, y, z):
        return (y + self.size) * self._share(z) - y

    def curvature(self, y, z):
        return (y + self.size) * self._share(z) * (1 - self._share(z))

    def best_constant(self, y, weight=None):
        return link(Link.LOG, np.asarray(np.average(y, weights=weight)))

    def _share(self, z):
        return 1 / (1 + self.size * np.exp(-z))


@dataclass(frozen=True)
class NegativeBinomial(Silent, UnboundedLikelihood):
    """The same, with all that it can do."""

    name = "negative_binomial"
    steady_curvature = True

    @property
    def family(self):
        r = self.size
        return Family(
            "negative binomial",
            lambda y: gammaln(r) + gammaln(y + 1) - gammaln(y + r) - r * np.log(r),
            lambda y: (y + r) * np.log(r + y) - xlogy(y, y),
        )

    def margins(self, y, z):
        return th.losses.Poisson().margins(y, z)


N = 400
X = np.random.default_rng(0).standard_normal((N, 2))
RATE = np.exp(X @ [0.5, -0.3] + 0.7)
COUNTS = np.random.default_rng(1).negative_binomial(2.0, 2.0 / (2.0 + RATE)).astype(float)


def column(summary, field):
    return np.array([getattr(line, field) for line in summary.coefficients])


def test_a_declared_family_gives_standard_errors_and_intervals():
    model = th.LinearModel(NegativeBinomial(), "none", tol=1e-11).fit(X, COUNTS)
    summary = model.summary()
    family = statsmodels.api.families.NegativeBinomial(alpha=0.5)
    peer = statsmodels.api.GLM(COUNTS, statsmodels.api.add_constant(X), family=family)
    fit = peer.fit(tol=1e-13)
    np.testing.assert_allclose(column(summary, "estimate"), fit.params, rtol=1e-6)
    information = -peer.hessian(fit.params, observed=True)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(column(summary, "standard_error"), errors, rtol=1e-6)
    assert summary.family == "negative binomial"
    assert summary.deviance == pytest.approx(fit.deviance)
    mean = model.predict(X)
    chances = scipy.stats.nbinom.logpmf(COUNTS, 2.0, 2.0 / (2.0 + mean))
    assert summary.log_likelihood == pytest.approx(chances.sum())
    low, high = model.predict_interval(X)
    assert np.all((low < mean) & (mean < high))


def test_a_loss_without_a_family_has_no_standard_errors():
    model = th.LinearModel(Silent(), "none").fit(X, COUNTS)
    with pytest.raises(th.errors.CapabilityError, match="Silent is not the likelihood"):
        model.summary()


def test_a_declared_likelihood_reports_separation():
    group = (X[:, 0] > 0.5).astype(float)
    rows, y = np.column_stack([group, X[:, 1]]), np.where(group > 0, 0.0, COUNTS)
    with pytest.warns(th.errors.SeparationWarning, match="rows with y = 0 are separated"):
        th.LinearModel(NegativeBinomial(), "none", tol=1e-8).fit(rows, y)
    with pytest.warns(th.errors.SeparationWarning, match="all targets are 0"):
        th.LinearModel(NegativeBinomial(), "none", tol=1e-8).fit(rows, 0 * y)
    th.LinearModel(Silent(), "none", tol=1e-8).fit(rows, y)  # a warning would be an error


@losses(UnboundedLikelihood)
def test_a_likelihood_falls_where_its_margins_grow(loss):
    y, z = draw(loss, 200)
    margins = loss.margins(y, z)
    assert margins.shape[0] == len(y)
    growing = margins.min(axis=1) > 0
    assert growing.any()
    before, after = loss.value(y, z)[growing], loss.value(y, 3 * z)[growing]
    assert np.all(after < before)
    far = loss.value(y, 500 * z)[growing & (margins.min(axis=1) > 0.1)]
    np.testing.assert_allclose(far, 0.0, atol=1e-12)


def one_split(loss, y):
    """Predictions of one stump with η = 1."""
    model = th.HistGradientBoostingRegressor(
        loss=loss, max_iter=1, max_depth=1, learning_rate=1.0, min_samples_leaf=5
    )
    return model.fit(X, y).predict(X)


def test_a_declared_steady_curvature_gives_newton_leaves():
    loss = NegativeBinomial()
    predicted, start = one_split(loss, COUNTS), loss.best_constant(COUNTS)
    assert len(np.unique(predicted)) == 2
    for value in np.unique(predicted):
        y = COUNTS[predicted == value]
        step = -loss.gradient(y, start).sum() / loss.curvature(y, start).sum()
        assert np.log(value) == pytest.approx(start + step)


def test_other_leaves_are_searched():
    predicted = one_split(Silent(), COUNTS)
    assert len(np.unique(predicted)) == 2
    for value in np.unique(predicted):
        assert value == pytest.approx(COUNTS[predicted == value].mean())


@dataclass(frozen=True)
class Middle(Subdifferentiable):
    """|z − y| once more, which says that medians are its leaf values."""

    name = "middle"

    def value(self, y, z):
        return np.abs(z - y)

    def gradient(self, y, z):
        return np.sign(z - y)

    def best_constant(self, y, weight=None):
        return th.losses.Absolute().best_constant(y, weight)

    @property
    def best_shift(self):
        return BestShift("quantile", 0.5)


def test_a_declared_best_shift_gives_leaf_values():
    y = X[:, 0] + np.random.default_rng(2).standard_t(2, N)
    predicted = one_split(Middle(), y)
    np.testing.assert_array_equal(predicted, one_split(th.losses.Absolute(), y))
    for value in np.unique(predicted):
        assert np.mean(y[predicted == value] < value) == pytest.approx(0.5, abs=0.02)


@dataclass(frozen=True)
class Growth(Curved):
    """e^{−yz}, written again."""

    name = "growth"
    targets = Targets.SIGNS
    link = Link.SIGN
    steady_curvature = True
    half_logit = True

    def value(self, y, z):
        return np.exp(-y * z)

    def gradient(self, y, z):
        return -y * np.exp(-y * z)

    def curvature(self, y, z):
        return np.exp(-y * z)

    def best_constant(self, y, weight=None):
        return th.losses.Exponential().best_constant(y, weight)


def test_a_declared_half_logit_gives_probabilities():
    labels = np.where(X[:, 0] + np.random.default_rng(3).standard_normal(N) > 0, "yes", "no")
    models = [
        th.GradientBoostingClassifier(loss=loss, n_estimators=5, random_state=0).fit(X, labels)
        for loss in (Growth(), "exponential")
    ]
    own, known = (model.predict_proba(X) for model in models)
    np.testing.assert_allclose(own, known, rtol=1e-10)
    z = models[0].decision_function(X)
    np.testing.assert_allclose(own[:, 1], th.losses.sigmoid(2 * z))


def test_formulas_of_a_derived_class_are_its_own():
    """A class that changes the formulas of another must not be taken for it."""

    @dataclass(frozen=True)
    class Twice(th.losses.Poisson):
        name = "twice"

        def value(self, y, z):
            return 2 * super().value(y, z)

    assert compiled(th.losses.Poisson()) is not None
    assert compiled(Twice()) is None
    assert family_of(th.losses.Poisson()).name == "Poisson"
    assert family_of(Twice()) is None


def test_losses_of_several_forms_name_each_other():
    logistic, signs = th.losses.Logistic(), th.losses.SignLogistic()
    assert logistic.with_signs() == signs
    assert signs.with_signs() == signs
    assert logistic.multiclass() == signs.multiclass() == th.losses.SoftmaxCrossEntropy()
    assert th.losses.Exponential().multiclass() is None
