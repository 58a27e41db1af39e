"""GammaRegressor and TweedieRegressor: optima of their objectives, scikit-learn's, refusals."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.metrics import mean_tweedie_deviance

import thetahat as th
from thetahat.mathematics.losses.base import Deviance

POWERS = (1.0, 1.2, 1.5, 1.9, 2.0)


def data(power, n=300):
    random = np.random.default_rng(3)
    X = np.array([0.0, 1.0, 0.0, -1.0]) + random.standard_normal((n, 4))
    y = np.exp(X @ [0.5, -0.3, 0.2, 0.1] + 0.4) * random.gamma(2.0, 0.5, n)
    if power < 2:
        y[random.random(n) < 0.3] = 0.0
    return X, y, random.integers(0, 4, n).astype(float)


def regressor(power, **options):
    return th.TweedieRegressor(**{"power": power, "tol": 1e-9, "max_iter": 1000, **options})


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_slope_of_the_objective_vanishes(power, alpha):
    X, y, weight = data(power)
    model = regressor(power, alpha=alpha).fit(X, y, weight)
    mean = model.predict(X)
    slope = weight * (mean - y) * mean ** (1 - power) / weight.sum()
    np.testing.assert_allclose(X.T @ slope + alpha * model.coef_, 0.0, atol=1e-7)
    assert abs(slope.sum()) < 1e-7


@pytest.mark.parametrize("power", [0.0, *POWERS])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_equals_scikit_learn(power, alpha):
    X, y, weight = data(power)
    options = dict(power=power, alpha=alpha, solver="newton-cholesky")
    theirs = sklearn.linear_model.TweedieRegressor(**options, tol=1e-10).fit(X, y, weight)
    ours = regressor(**options).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight))


@pytest.mark.parametrize(("power", "link"), [(0, "log"), (3, "log"), (4.5, "auto"), (-1, "log")])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_deviances_that_are_not_convex_equal_scikit_learn(power, link, alpha):
    X, y, weight = data(2.0)
    y = 1.0 + y**0.3
    options = dict(power=power, link=link, alpha=alpha, tol=1e-7, max_iter=1000)
    ours = th.TweedieRegressor(**options).fit(X, y, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their line search stops early
        theirs = sklearn.linear_model.TweedieRegressor(**options).fit(X, y, weight)
    assert ours.solution_.outcome is th.results.Outcome.LOCAL
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.score(X, y, weight) == pytest.approx(theirs.score(X, y, weight), abs=1e-6)
    mean = ours.predict(X)
    slope = weight * (mean - y) * mean ** (1.0 - power) / weight.sum()
    np.testing.assert_allclose(X.T @ slope + alpha * ours.coef_, 0.0, atol=1e-6)


@pytest.mark.parametrize("power", [-1, 0, 3])
@pytest.mark.parametrize("unit", [1e3, 1e-3])
def test_deviances_that_are_not_convex_with_columns_of_any_unit(power, unit):
    X, y, _ = data(2.0)
    options = dict(power=power, link="log", alpha=0.0, max_iter=1000, tol=1e-7)
    expected = th.TweedieRegressor(**options).fit(X, y)
    found = th.TweedieRegressor(**options).fit(X * unit, y)
    assert found.score(X * unit, y) == pytest.approx(expected.score(X, y), abs=1e-4)
    loss = found._loss()
    z = np.array([-1e4, -500.0, 500.0, 1e4])
    for target in (0.1, 1.0, 10.0):  # no value is below the best one
        assert np.all(loss.value(target, z) >= loss.saturated(target))


def test_gamma_regression_of_a_small_relative_spread():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 3))
    y = 1000.0 * (1.0 + 1e-4 * X[:, 0] + 3e-5 * random.standard_normal(300))
    assert th.GammaRegressor(alpha=0.0).fit(X, y).score(X, y) > 0.9


def test_the_ends_are_the_models_of_their_own():
    X, y, weight = data(2.0)
    gamma = th.GammaRegressor(alpha=0.1, tol=1e-9).fit(X, y, weight)
    assert np.array_equal(gamma.coef_, regressor(2, alpha=0.1).fit(X, y, weight).coef_)
    poisson = th.PoissonRegressor(alpha=0.1, tol=1e-9).fit(X, y, weight)
    ours = regressor(1.0, alpha=0.1).fit(X, y, weight)
    np.testing.assert_allclose(poisson.coef_, ours.coef_, rtol=1e-9)
    ridge = th.Ridge(alpha=0.1 * weight.sum()).fit(X, y, weight)
    np.testing.assert_allclose(regressor(0, alpha=0.1).fit(X, y, weight).coef_, ridge.coef_)


def test_amounts_in_other_units_have_the_same_coefficients():
    X, y, _ = data(2.0)
    plain = th.GammaRegressor(alpha=0.0).fit(X, y)
    cents = th.GammaRegressor(alpha=0.0).fit(X, y * 1e8)
    np.testing.assert_allclose(cents.coef_, plain.coef_, atol=1e-8)
    assert cents.intercept_ - plain.intercept_ == pytest.approx(np.log(1e8))


@pytest.mark.parametrize("power", [1.0, 1.5, 1.9])
@pytest.mark.parametrize("size", [1e-80, 1e-16, 1e30, 1e80])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_targets_of_any_size_are_fitted_in_proportion(power, size, alpha):
    X, y, _ = data(power)
    expected = th.TweedieRegressor(power=power, alpha=alpha, tol=1e-8).fit(X, y)
    unit = size ** (2 - power)  # the deviance is proportional to it
    model = th.TweedieRegressor(power=power, alpha=alpha * unit).fit(X, y * size)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    assert model.intercept_ - np.log(size) == pytest.approx(expected.intercept_, abs=1e-5)


@pytest.mark.parametrize("size", [1e-80, 1e-30, 1e30])
def test_many_sparse_columns_and_targets_of_any_size(size):
    random = np.random.default_rng(4)
    X = scipy.sparse.random_array((300, 160), density=0.1, rng=random).tocsr()
    y = random.poisson(np.exp(X[:, [0]].toarray()[:, 0])).astype(float)
    expected = th.PoissonRegressor(alpha=0.01, tol=1e-8).fit(X, y)
    model = th.PoissonRegressor(alpha=0.01 * size).fit(X, y * size)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)


def test_sparse_rows_and_files(tmp_path):
    X, y, _ = data(1.5)
    expected = regressor(1.5, alpha=0.1).fit(X, y)
    sparse = regressor(1.5, alpha=0.1).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, expected.coef_, rtol=1e-6)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    source = th.scan(tmp_path / "rows.npy", target=4)
    model = regressor(1.5, alpha=0.1).fit(source)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)
    assert model.score(source) == pytest.approx(expected.score(X, y))


@pytest.mark.parametrize(
    ("loss", "power"),
    [(th.losses.Poisson(), 1), (th.losses.Tweedie(1.3), 1.3), (th.losses.Gamma(), 2)],
    ids=repr,
)
def test_the_loss_is_half_the_deviance_beyond_its_best(loss, power):
    assert isinstance(loss, Deviance)
    random = np.random.default_rng(0)
    y, z = random.gamma(1.0, size=50), random.normal(size=50)
    if power < 2:
        y[:10] = 0.0
    found = 2 * np.mean(loss.value(y, z) - loss.saturated(y))
    assert found == pytest.approx(mean_tweedie_deviance(y, np.exp(z), power=power))


def test_boosting_and_networks_take_the_loss():
    X, y, _ = data(2.0)
    null = mean_tweedie_deviance(y, np.full(len(y), y.mean()), power=2)
    for model in (
        th.HistGradientBoostingRegressor(loss="gamma", max_iter=30),
        th.GradientBoostingRegressor(loss="gamma", n_estimators=30),
        th.MLPRegressor("gamma", (8,), solver="lbfgs", tol=1e-2, random_state=0),
    ):
        with np.errstate(all="raise"):
            predicted = np.asarray(model.fit(X, y).predict(X))
        assert predicted.min() > 0
        assert mean_tweedie_deviance(y, predicted, power=2) < 0.8 * null


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(power=0.5), "power=0.5 must be a number from -100 to 0, or a number from 1 to 100"),
        (dict(power=np.inf), "power=inf must be a number from -100 to 0"),
        (dict(power=1.5, link="identity"), "with link='identity' is not available"),
        (dict(link="probit"), "link='probit' must be one of"),
    ],
)
def test_powers_and_links_that_do_not_exist(options, message):
    X, y, _ = data(2.0)
    with pytest.raises(th.errors.ParameterError, match=message):
        th.TweedieRegressor(**options).fit(X, y)


def test_targets_must_suit_the_distribution():
    X, y, _ = data(1.5)
    with pytest.raises(th.errors.DataError, match=r"the mean of y is -.* all means are positive"):
        regressor(0, link="log").fit(X, -y)
    with pytest.raises(th.errors.DataError, match=r"not positive .*Gamma loss needs numbers > 0"):
        th.GammaRegressor().fit(X, y)
    with pytest.raises(th.errors.DataError, match=r"1 of 300 targets is negative \(first at row 5"):
        regressor(1.5).fit(X, np.where(np.arange(300) == 5, -1.0, y))
    with pytest.raises(th.errors.CapabilityError, match="not for the loss Gamma"):
        th.GammaRegressor(alpha=0.0).fit(X, y + 1).summary()


def test_a_warm_start_of_other_columns_begins_afresh():
    X, y, _ = data(2.0)
    model = th.GammaRegressor(warm_start=True).fit(X, y).fit(X[:, :2], y)
    np.testing.assert_allclose(model.coef_, th.GammaRegressor().fit(X[:, :2], y).coef_, atol=1e-4)
