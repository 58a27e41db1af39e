"""Bayesian model averaging: posterior weights of models, and the mixture of what they foresee."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression as TheirLinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import thetahat as th
from thetahat.mathematics.distributions.gaussian.mixture import mixture_quantile

RANDOM = np.random.default_rng(0)
N = 60
X = RANDOM.uniform(-2, 2, (N, 1))
Y = X[:, 0] ** 2 - 0.5 * X[:, 0] + 0.4 * RANDOM.standard_normal(N)
LABELS = np.where(Y + 0.5 * RANDOM.standard_normal(N) > 1, "high", "low")


def polynomial(degree, learner):
    return make_pipeline(th.MonomialExpansion(degree, include_bias=False), learner)


def polynomials(learner, degrees=(1, 2, 3)):
    return [(f"degree {d}", polynomial(d, clone(learner))) for d in degrees]


def marginal_log_density(degree, noise, variance):
    """log ∫ N(y; Xβ + b, σ²) N(β; 0, s) dβ db with b flat: y is normal, b's direction taken out."""
    columns = np.column_stack([X[:, 0] ** power for power in range(1, degree + 1)])
    covariance = noise**2 * np.eye(N) + variance * columns @ columns.T
    inverse = np.linalg.inv(covariance)
    ones = np.ones(N)
    precision = ones @ inverse @ ones
    level = ones @ inverse @ Y / precision
    rest = Y - level
    return 0.5 * (
        -(N * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1])
        - rest @ inverse @ rest
        + np.log(2 * np.pi / precision)
    )


# P(f|D).


def test_posterior_from_exact_evidence():
    """The integral over all parameters by hand, for three polynomials."""
    learner = th.BayesianLinearRegression(prior_covariance=2.0, noise=0.4)
    model = th.BayesianModelAveraging(polynomials(learner)).fit(X, Y)
    by_hand = np.array([marginal_log_density(degree, 0.4, 2.0) for degree in (1, 2, 3)])
    np.testing.assert_allclose(model.log_evidences_, by_hand, rtol=1e-8)
    posterior = np.exp(by_hand - by_hand.max())
    np.testing.assert_allclose(model.posterior_, posterior / posterior.sum(), rtol=1e-6)
    assert model.approximation_ == "exact"
    assert model.posterior_.argmax() == 1
    np.testing.assert_allclose(model.log_evidence_, np.log(np.mean(np.exp(by_hand))), rtol=1e-9)


def test_prior_of_models_multiplies():
    learner = th.BayesianLinearRegression(noise=0.4)
    even = th.BayesianModelAveraging(polynomials(learner)).fit(X, Y).posterior_
    odd = th.BayesianModelAveraging(polynomials(learner), prior=[1, 1, 8]).fit(X, Y).posterior_
    np.testing.assert_allclose(odd, even * [1, 1, 8] / (even @ [1, 1, 8]), rtol=1e-9)


def test_ridge_and_conjugate_regression_have_one_scale():
    """At the same precisions the two evidences agree, so their models may be compared."""
    ridge = th.BayesianRidge(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0).fit(X, Y)
    same = th.BayesianLinearRegression(prior_covariance=1 / ridge.lambda_, noise=ridge.alpha_**-0.5)
    model = th.BayesianModelAveraging([("ridge", clone(ridge)), ("conjugate", same)]).fit(X, Y)
    np.testing.assert_allclose(model.posterior_, 0.5, atol=1e-5)
    assert model.approximation_ == "exact at fitted hyperparameters"


def test_posterior_from_bic():
    """Fits by maximum likelihood: P(D|f) ≈ exp(−BIC/2)."""
    model = th.BayesianModelAveraging(polynomials(th.LinearRegression())).fit(X, Y)
    assert model.approximation_ == "bic"
    squares = []
    for degree in (1, 2, 3):
        columns = np.column_stack([X[:, 0] ** power for power in range(degree + 1)])
        squares.append(np.sum((Y - columns @ np.linalg.lstsq(columns, Y, rcond=None)[0]) ** 2))
    parameters = np.array([2, 3, 4])
    log_likelihood = -N / 2 * (np.log(2 * np.pi * np.array(squares) / N) + 1)
    np.testing.assert_allclose(
        model.log_evidences_, log_likelihood - parameters * np.log(N) / 2, rtol=1e-9
    )
    assert model.posterior_.argmax() == 1


def test_posterior_from_cross_validation():
    """For models that know nothing of the kind: the density of rows they did not see."""
    members = [("line", TheirLinearRegression()), ("near", KNeighborsRegressor(5))]
    folds = KFold(5, shuffle=True, random_state=0)
    model = th.BayesianModelAveraging(members, cv=folds).fit(X, Y)
    assert model.approximation_ == "cv"
    expected = []
    for _, member in members:
        errors = np.empty(N)
        for train, test in folds.split(X):
            errors[test] = Y[test] - clone(member).fit(X[train], Y[train]).predict(X[test])
        sigma = np.sqrt(np.mean(errors**2))
        expected.append(stats.norm.logpdf(errors, scale=sigma).sum())
    np.testing.assert_allclose(model.log_evidences_, expected, rtol=1e-9)
    assert model.posterior_[1] > 0.99
    assert all(noise > 0 for noise in model.noise_)


def test_members_own_deviations_are_used_out_of_fold():
    members = [("ridge", th.BayesianRidge()), ("line", TheirLinearRegression())]
    model = th.BayesianModelAveraging(members).fit(X, Y)
    assert model.approximation_ == "cv"
    assert model.noise_[0] is None
    total = 0.0
    for train, test in KFold(5).split(X):
        mean, std = th.BayesianRidge().fit(X[train], Y[train]).predict(X[test], return_std=True)
        total += stats.norm.logpdf(Y[test], mean, std).sum()
    np.testing.assert_allclose(model.log_evidences_[0], total, rtol=1e-9)


def test_evidence_on_request():
    learner = th.BayesianLinearRegression(noise=0.4)
    found = th.BayesianModelAveraging(polynomials(learner), evidence="cv").fit(X, Y)
    assert found.approximation_ == "cv"
    assert found.posterior_.argmax() >= 1
    with pytest.raises(
        th.errors.CapabilityError, match=r"'exact' is not available: 'near', a KNeighbors.*log_evid"
    ):
        th.BayesianModelAveraging([("near", KNeighborsRegressor())], evidence="exact").fit(X, Y)
    with pytest.raises(th.errors.CapabilityError, match=r"'ridge', a Ridge, has no BIC"):
        th.BayesianModelAveraging([("ridge", th.Ridge())], evidence="bic").fit(X, Y)
    flat = th.BayesianLinearRegression(prior_covariance=None, noise=0.4)
    with pytest.raises(th.errors.CapabilityError, match="proper prior"):
        th.BayesianModelAveraging([("flat", flat)], evidence="exact").fit(X, Y)
    assert th.BayesianModelAveraging([("flat", flat)]).fit(X, Y).approximation_ == "cv"


def test_more_rows_settle_on_the_true_model():
    random = np.random.default_rng(3)
    x = random.uniform(-2, 2, (2000, 1))
    y = x[:, 0] ** 2 + 0.4 * random.standard_normal(2000)
    learner = th.BayesianLinearRegression(noise=0.4)
    few, many = (
        th.BayesianModelAveraging(polynomials(learner, (2, 3, 4))).fit(x[:n], y[:n]).posterior_[0]
        for n in (15, 2000)
    )
    assert many > max(few, 0.9)


# P(y|x, D).


def test_mean_and_variance_of_the_mixture():
    learner = th.BayesianLinearRegression(noise=2.0)
    model = th.BayesianModelAveraging(polynomials(learner), prior=[1e6, 1, 1]).fit(X, Y)
    mean, deviation = model.predict(X[:9], return_std=True)
    each = [member.predict(X[:9], return_std=True) for member in model.estimators_]
    means, deviations = np.array(each).transpose(1, 0, 2)
    by_hand = model.posterior_ @ means
    np.testing.assert_allclose(mean, by_hand)
    np.testing.assert_allclose(model.predict(X[:9]), by_hand)
    within = model.posterior_ @ deviations**2
    between = model.posterior_ @ means**2 - by_hand**2
    np.testing.assert_allclose(deviation**2, within + between)
    assert (between > 1e-3).any()
    assert (deviation > np.sqrt(within)).all()


def test_intervals_hold_what_they_promise():
    learner = th.BayesianLinearRegression(noise=0.4)
    model = th.BayesianModelAveraging(polynomials(learner)).fit(X, Y)
    random = np.random.default_rng(9)
    new = random.uniform(-2, 2, (4000, 1))
    y = new[:, 0] ** 2 - 0.5 * new[:, 0] + 0.4 * random.standard_normal(4000)
    low, high = model.predict_interval(new, level=0.9)
    assert abs(np.mean((low <= y) & (y <= high)) - 0.9) < 0.04


def test_quantiles_of_a_mixture():
    weights, means = np.array([0.3, 0.0, 0.7]), np.array([[0.0, 5.0], [9.0, 9.0], [4.0, 5.0]])
    deviations = np.array([[1.0, 2.0], [1.0, 1.0], [0.5, 2.0]])
    for level in (0.025, 0.3, 0.9):
        q = mixture_quantile(level, weights, means, deviations)
        np.testing.assert_allclose(weights @ stats.norm.cdf((q - means) / deviations), level)
    np.testing.assert_allclose(q[1], stats.norm.ppf(0.9, 5, 2))


def test_noise_of_models_that_do_not_say():
    model = th.BayesianModelAveraging(polynomials(th.LinearRegression())).fit(X, Y)
    _, deviation = model.predict(X, return_std=True)
    assert 0.3 < deviation.mean() < 0.55
    bag = th.BaggingRegressor(th.LinearRegression(), random_state=0)
    model = th.BayesianModelAveraging([("bag", bag)]).fit(X, Y)
    assert model.noise_[0] > 0.3  # the spread of a bag's members is no noise


# Labels.


def test_classes_from_cross_validation():
    members = [("near", KNeighborsClassifier(3)), ("logistic", th.LogisticRegression())]
    model = th.BayesianModelAveragingClassifier(members).fit(X, LABELS)
    assert model.approximation_ == "cv"
    shares = [member.predict_proba(X) for member in model.estimators_]
    expected = sum(p * share for p, share in zip(model.posterior_, shares, strict=True))
    np.testing.assert_allclose(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), model.classes_[expected.argmax(axis=1)])


def test_classes_from_bic():
    learner = th.LogisticRegression(C=np.inf)
    model = th.BayesianModelAveragingClassifier(polynomials(learner)).fit(X, LABELS)
    assert model.approximation_ == "bic"
    bics = [member[-1].summary().bic for member in model.estimators_]
    np.testing.assert_allclose(model.log_evidences_, -np.array(bics) / 2)
    assert model.posterior_.argmax() == 1
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_label_called_impossible_costs_much_and_not_all():
    members = [("near", KNeighborsClassifier(1)), ("strict", th.LogisticRegression(C=1e-6))]
    model = th.BayesianModelAveragingClassifier(members).fit(X, LABELS)
    assert np.isfinite(model.log_evidences_).all()
    assert model.posterior_[1] > 0.99


# Relations, members of any kind, bad input.


@pytest.mark.parametrize("learner", [th.LinearRegression(), th.BayesianLinearRegression()], ids=str)
def test_weights_are_repetitions(learner):
    random = np.random.default_rng(1)
    weight = random.integers(1, 3, N)
    rows = np.repeat(np.arange(N), weight)
    members = [
        ("line", clone(learner)),
        ("through 0", clone(learner).set_params(fit_intercept=False)),
    ]
    weighted = th.BayesianModelAveraging(members).fit(X, Y, sample_weight=weight)
    repeated = th.BayesianModelAveraging(members).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.log_evidences_, repeated.log_evidences_, rtol=1e-8)


def test_averages_of_averages():
    learner = th.BayesianLinearRegression(noise=0.4)
    line, *curves = polynomials(learner)
    nested = th.BayesianModelAveraging(
        [line, ("curves", th.BayesianModelAveraging(curves))], prior=[1, 2]
    ).fit(X, Y)
    flat = th.BayesianModelAveraging(polynomials(learner)).fit(X, Y)
    np.testing.assert_allclose(nested.log_evidence_, flat.log_evidence_, rtol=1e-9)
    np.testing.assert_allclose(nested.predict(X), flat.predict(X), rtol=1e-9)


class Constant(RegressorMixin, BaseEstimator):
    """A user's model that knows its evidence: y ~ N(0, 1), nothing to fit."""

    def fit(self, X, y):
        self.log_evidence_ = float(stats.norm.logpdf(y).sum())
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X, return_std=False):
        mean = np.zeros(len(X))
        return (mean, np.ones(len(X))) if return_std else mean


def test_a_users_model_may_bring_its_evidence():
    members = [("nothing", Constant()), ("line", th.BayesianLinearRegression(noise=0.4))]
    model = th.BayesianModelAveraging(members).fit(X, Y)
    assert model.approximation_ == "exact"
    np.testing.assert_allclose(model.log_evidences_[0], stats.norm.logpdf(Y).sum())


def test_dropped_models_and_nested_parameters():
    learner = th.BayesianLinearRegression(noise=0.4)
    model = th.BayesianModelAveraging(polynomials(learner), prior=[1, 2, 3])
    model.set_params(**{"degree 1": "drop"}).fit(X, Y)
    assert len(model.posterior_) == len(model.estimators_) == 2
    np.testing.assert_allclose(model.posterior_.sum(), 1.0)
    pair = th.BayesianModelAveraging([("a", th.Ridge()), ("b", th.Ridge())]).set_params(a__alpha=9)
    assert pair.fit(X, Y).named_estimators_.a.alpha == 9


def test_bad_input():
    members = [("a", th.LinearRegression()), ("b", th.Ridge())]
    with pytest.raises(th.errors.ParameterError, match="prior has 3 entries for 2 estimators"):
        th.BayesianModelAveraging(members, prior=[1, 1, 1]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match=r"prior\[1\]=0, that of 'b'"):
        th.BayesianModelAveraging(members, prior=[1, 0]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="evidence='aic' must be one of"):
        th.BayesianModelAveraging(members, evidence="aic").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="non-empty list"):
        th.BayesianModelAveraging([]).fit(X, Y)
    with pytest.raises(th.errors.DataError, match="n_samples=4"):
        th.BayesianModelAveraging(members).fit(X[:4], Y[:4])
    with pytest.raises(
        th.errors.CapabilityError, match=r"'r', a RidgeClassifier, has no predict_proba"
    ):
        th.BayesianModelAveragingClassifier([("r", th.RidgeClassifier())]).fit(X, LABELS)
    with pytest.raises(th.errors.ParameterError, match="level=95"):
        th.BayesianModelAveraging(members).fit(X, Y).predict_interval(X, level=95)
    with pytest.raises(th.errors.DataError, match=r"Input y contains NaN.*row 3"):
        th.BayesianModelAveraging(members).fit(X, np.where(np.arange(N) == 3, np.nan, Y))
